package world

import "time"

// sleeper is an app on a phone: now and then it is locked, or without a network, for up to some
// minutes, and then it asks again with its ticket. Sometimes it says goodbye before.
func (v *visitor) sleeper() {
	for !v.fedUp() {
		a := v.ask(request{accept: asJSON})
		switch {
		case a.in():
			if v.browse(asJSON) {
				return
			}
		case v.random.IntN(6) == 0:
			if v.random.IntN(2) == 0 {
				v.note(Event{What: Goodbye})
				for range 1 + v.random.IntN(4) { // browsers tell a page more than once that it goes away
					v.ask(request{method: "POST", path: "/.fairdoor/leave"})
				}
			}
			v.waitMore(time.Second + v.upTo([]time.Duration{2 * time.Second, time.Minute, 4 * time.Minute}[v.random.IntN(3)]))
		case a.waits():
			v.waitMore(a.retry())
		default:
			v.waitMore(v.around(4 * time.Second))
		}
	}
	v.giveUp()
}
