package world

import (
	"fmt"
	"net/http"
)

// crawler is a program that looks at many pages and keeps no cookies. Half of them say in each request what they are, others ask by HEAD.
func (v *visitor) crawler() {
	v.agent = "a crawler's own browser"
	if v.random.IntN(2) == 0 {
		v.agent = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	}
	for !v.fedUp() {
		v.cookie = ""
		q := request{accept: asHTML, path: fmt.Sprint("/article/", v.random.IntN(1000))}
		if v.random.IntN(2) == 0 {
			q.method = http.MethodHead
		}
		v.ask(q)
		v.waitMore(v.around(v.world.plan.Settings.RefreshInterval / 2))
	}
}
