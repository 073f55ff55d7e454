package world

import "time"

// traveller is somebody with the built-in page whose network comes and goes: for some seconds or
// minutes nothing passes, and answers that are under way are lost.
func (v *visitor) traveller() {
	for !v.fedUp() {
		if v.random.IntN(5) == 0 {
			v.offlineUntil = v.world.history.now() + v.upTo([]time.Duration{time.Second, 15 * time.Second, 80 * time.Second}[v.random.IntN(3)])
		}
		a := v.ask(request{accept: asJSON, returning: v.cookie != ""})
		switch {
		case a.in():
			if v.browse(asJSON) {
				return
			}
		case a.waits():
			v.waitMore(a.retry())
		default:
			v.waitMore(v.around(2 * time.Second))
		}
	}
	v.giveUp()
}
