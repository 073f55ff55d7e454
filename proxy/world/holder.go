package world

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/cookie"
)

// forged is what is noted of a pass that nobody has made.
const forged = "forged"

// passCookie is the name of the cookie of who has used a pass.
var passCookie = cookie.Name(".pass." + roomName)

// holder is an app of somebody who has the link of a pass, uses it before anything else, and has
// the cookie of it on other devices, too. Some have a forged link. Without passes it is an app like
// others.
func (v *visitor) holder() {
	pass := 1
	if n := len(v.world.plan.Passes); n > 0 {
		pass += v.random.IntN(n)
	}
	link := v.world.links.of(pass)
	if link == "" || !v.use(pass, link) || v.random.IntN(3) > 0 {
		v.app()
		return
	}
	var both sync.WaitGroup
	over := make(chan struct{})
	both.Go(func() { v.elsewhere(over) })
	v.app()
	close(over)
	both.Wait()
}

// use uses a pass, and says whether it was taken.
func (v *visitor) use(pass int, link string) bool {
	text := ""
	_, token, _ := strings.Cut(link, "?t=")
	if v.random.IntN(5) == 0 {
		other := []byte(token)
		other[v.random.IntN(len(other)-1)] ^= 1
		token, text = string(other), forged
	}
	path, _, _ := strings.Cut(link, "?")
	form := url.Values{"token": {token}, "form": {fmt.Sprint("form ", v.Number)}}
	for range 4 {
		sent := v.world.history.now()
		a := v.ask(request{method: http.MethodPost, path: path, accept: asHTML, form: form.Encode(), whole: true})
		switch {
		case !a.lost && a.status == http.StatusSeeOther:
			v.keepPass(a.header)
			v.passed = pass
			v.world.history.add(Event{What: Used, Who: nobody, Of: v.number + 1, Pass: pass, Gate: a.gate, Sent: sent, Text: text})
			return true
		case !a.lost && a.status == http.StatusGone:
			v.world.history.add(Event{What: Useless, Who: nobody, Of: v.number + 1, Pass: pass, Gate: a.gate, Sent: sent, Text: text})
			return false
		}
		v.wait(v.around(4 * time.Second))
	}
	return false
}

// keepPass keeps the cookie of a pass.
func (j *jar) keepPass(h http.Header) {
	for _, line := range h["Set-Cookie"] {
		if now, _, _ := strings.Cut(line, ";"); strings.HasPrefix(now, passCookie+"=") {
			j.pass = now
		}
	}
}

// elsewhere asks from another device that has the cookie of the pass alone, until over is closed.
func (v *visitor) elsewhere(over <-chan struct{}) {
	device := v.copy("")
	device.copied, device.pass = "the cookie of a pass", v.pass
	for {
		device.wait(device.around(10 * time.Second))
		select {
		case <-over:
			return
		default:
		}
		if device.over() {
			return
		}
		device.ask(request{accept: asJSON})
	}
}
