package world

import (
	"fmt"
	"sync"
	"time"
)

// severalTabs is somebody who opens the site again in other tabs of the same browser while they
// wait: pages with streams, and pages that ask again.
func (v *visitor) severalTabs() {
	for v.cookie == "" { // tabs that are opened at once would have a ticket each
		if v.fedUp() {
			v.giveUp()
			return
		}
		v.ask(request{accept: asHTML})
		v.waitMore(v.around(2 * time.Second))
	}
	more := 1 + v.random.IntN(3)
	v.tabs += more
	var others sync.WaitGroup
	for i := range more {
		t := v.tab(i + 2)
		others.Go(func() {
			t.waitMore(t.upTo(20 * time.Second))
			if t.random.IntN(2) == 0 {
				t.page()
			} else {
				t.streamer()
			}
		})
	}
	v.streamer()
	others.Wait()
}

// tab is another tab of the visitor's browser.
func (v *visitor) tab(number int) *visitor {
	t := *v
	t.random = source(v.world.plan.Seed, fmt.Sprint("person ", v.Number, " tab ", number))
	return &t
}

// closes closes a tab. With the last one the visitor leaves, and the page may say goodbye.
func (v *visitor) closes(goodbye bool, why string) {
	v.tabs--
	if v.tabs > 0 || v.over() {
		return
	}
	if goodbye {
		v.note(Event{What: Goodbye})
		v.ask(request{method: "POST", path: "/.fairdoor/leave"})
	}
	v.note(Event{What: Left, Text: why})
}
