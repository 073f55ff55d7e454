package world

import (
	"sync"
	"time"
)

// frozen is the built-in page in a browser that freezes pages in the background: its stream stays
// open for a while, then it ends, nothing is asked, and when the page is thawed all of its timers
// are over at once.
func (v *visitor) frozen() {
	for !v.fedUp() {
		a := v.ask(request{accept: asJSON, returning: v.cookie != ""})
		switch {
		case a.in():
			if v.browse(asJSON) {
				return
			}
		case a.waits() && v.random.IntN(5) == 0:
			v.freeze()
		case a.waits():
			v.waitMore(a.retry())
		default:
			v.waitMore(v.around(4 * time.Second))
		}
	}
	v.giveUp()
}

// freeze has the page be frozen for up to four minutes, and thawed: then it asks several times at
// once.
func (v *visitor) freeze() {
	if s := v.open(); s != nil {
		v.waitMore(v.upTo(30 * time.Second))
		s.end()
	}
	v.waitMore(v.upTo(4 * time.Minute))
	if v.fedUp() {
		return
	}
	var timers sync.WaitGroup
	for range 3 {
		v.thawed++
		t := v.tab(100 + v.thawed)
		timers.Go(func() {
			t.wait(t.upTo(time.Millisecond))
			t.ask(request{accept: asJSON, returning: true})
		})
	}
	timers.Wait()
}
