package world

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// movePath is where the gate moves places.
const movePath = "/.fairdoor/move?room=" + roomName

// mover is somebody who sells their place: it moves to the device of who buys it, and the seller
// tries to use it all the same.
func (v *visitor) mover() {
	for !v.fedUp() {
		a := v.ask(request{accept: asJSON})
		switch {
		case a.in():
			if v.browse(asJSON) {
				return
			}
		case a.waits() && v.random.IntN(3) == 0:
			if b := v.sell(); b != nil {
				v.handOver(b)
				return
			}
			v.waitMore(v.upTo(time.Second))
		case a.waits():
			v.waitMore(a.retry())
		default:
			v.waitMore(v.around(4 * time.Second))
		}
	}
	v.giveUp()
}

// sell moves the place to another device, and returns who has it there; nil if it does not move.
func (v *visitor) sell() *visitor {
	offer := v.ask(request{path: movePath, accept: asHTML, whole: true})
	_, after, _ := bytes.Cut(offer.body, []byte("&amp;t="))
	token, _, ok := bytes.Cut(after, []byte(`"`))
	if offer.status != http.StatusOK || !ok {
		return nil
	}
	v.wait(v.upTo(20 * time.Second))
	b := *v
	b.random = source(v.world.plan.Seed, fmt.Sprint("person ", v.Number, " other device"))
	b.jar, b.home = &jar{tabs: 1}, b.random.IntN(len(v.world.machines))
	form := url.Values{"token": {string(token)}}
	if a := b.ask(request{method: http.MethodPost, path: movePath, accept: asHTML, form: form.Encode()}); a.status != http.StatusSeeOther {
		return nil
	}
	v.note(Event{What: Moved, Ticket: v.world.history.ticketOf(b.cookie)})
	return &b
}

// handOver has the buyer go on, while the seller tries to use the ticket that they had.
func (v *visitor) handOver(buyer *visitor) {
	var both sync.WaitGroup
	both.Go(buyer.streamer)
	for range 10 {
		v.waitMore(v.around(10 * time.Second))
		if v.over() {
			break
		}
		c := v.copy(v.cookie)
		if c.random.IntN(4) == 0 {
			c.peep()
		} else {
			c.ask(request{accept: []string{asHTML, asJSON}[c.random.IntN(2)]})
		}
	}
	both.Wait()
}

// peep opens a stream for a moment.
func (v *visitor) peep() {
	if s := v.open(); s != nil {
		v.wait(v.upTo(3 * time.Second))
		s.end()
	}
}
