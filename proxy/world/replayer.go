package world

import "time"

// replayer is an app that also shows earlier tickets again, from elsewhere, also after its visit,
// and forged ones.
func (v *visitor) replayer() {
	for !v.fedUp() {
		a := v.ask(request{accept: asJSON})
		if v.random.IntN(3) == 0 {
			v.replay()
		}
		switch {
		case a.in():
			if v.browse(asJSON) {
				v.replayLater()
				return
			}
		case a.waits():
			v.waitMore(a.retry())
		default:
			v.waitMore(v.around(4 * time.Second))
		}
	}
	v.giveUp()
}

// replayLater shows tickets again of which none is good for anything any more.
func (v *visitor) replayLater() {
	for range 6 {
		v.wait(v.around(v.world.plan.Settings.SessionDuration))
		if v.over() {
			return
		}
		v.replay()
	}
}

// replay shows a ticket again that the visitor has had, or one that is made of it.
func (v *visitor) replay() {
	if len(v.all) == 0 {
		return
	}
	ticket := v.all[v.random.IntN(1+v.random.IntN(len(v.all)))] // an early one, as a rule
	switch v.random.IntN(6) {
	case 0:
		ticket = ticket[:1+v.random.IntN(len(ticket)-1)]
	case 1:
		forged := []byte(ticket)
		forged[v.random.IntN(len(forged))] ^= 1
		ticket = string(forged)
	}
	c := v.copy(ticket)
	if c.random.IntN(4) == 0 {
		c.peep()
	} else {
		c.ask(request{accept: asJSON})
	}
}
