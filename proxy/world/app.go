package world

import "time"

// app is an app that asks again after Retry-After.
func (v *visitor) app() {
	for !v.fedUp() {
		a := v.ask(request{accept: asJSON})
		switch {
		case a.in():
			if v.browse(asJSON) {
				return
			}
		case a.waits():
			v.waitMore(a.retry())
		default: // an error, or none that answers
			v.waitMore(v.around(4 * time.Second))
		}
	}
	v.giveUp()
}
