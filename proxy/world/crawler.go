package world

import (
	"fmt"
	"net/http"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// crawler is a program that looks at many pages and keeps no cookies. Half of them say in each
// request what they are, others ask by HEAD.
func (v *visitor) crawler() {
	v.agent = "a crawler's own browser"
	isDeclared := v.random.IntN(2) == 0
	if isDeclared {
		v.agent = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	}
	for !v.fedUp() {
		v.cookie = ""
		q := request{accept: asHTML, path: fmt.Sprint("/article/", v.random.IntN(1000))}
		if v.random.IntN(2) == 0 {
			q.method = http.MethodHead
		}
		a := v.ask(q)
		if set, ticket := ticketIn(a.header); set && (isDeclared || q.method != "") && v.world.history.ticketOf(ticket).State == queue.Waiting {
			v.note(Event{What: Placed, Gate: a.gate})
		}
		v.waitMore(v.around(v.world.plan.Settings.RefreshInterval / 2))
	}
}

// checkCrawlers finds places in line that went to requests at which no person looks.
func checkCrawlers(h *History, breach func(time.Duration, string, ...any)) {
	for i := range h.Events {
		if e := &h.Events[i]; e.What == Placed {
			breach(e.At, "gate %d gives a place in line to %s, a crawler", e.Gate, h.Plan.People[e.Who].Name)
			return
		}
	}
}
