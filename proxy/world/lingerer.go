package world

import "time"

// lingerer is an app whose user looks at each page for about as long as a session lasts.
func (v *visitor) lingerer() {
	for !v.fedUp() {
		a := v.ask(request{accept: asJSON})
		switch {
		case a.in():
			v.wait(v.world.plan.Settings.SessionDuration - time.Second + v.upTo(1500*time.Millisecond))
		case a.waits():
			v.waitMore(a.retry())
		default:
			v.waitMore(v.around(4 * time.Second))
		}
	}
	v.giveUp()
}
