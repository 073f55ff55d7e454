package world

import "time"

// impatient is an app that goes by no Retry-After: it asks at a rate of its own, mostly sooner than
// it is told.
func (v *visitor) impatient() {
	every := time.Duration(500+v.random.IntN(8000)) * time.Millisecond
	for !v.fedUp() {
		if v.ask(request{accept: asJSON}).in() {
			if v.browse(asJSON) {
				return
			}
			continue
		}
		v.waitMore(v.around(every))
	}
	v.giveUp()
}
