package world

import (
	"fmt"
	"time"
)

// grinder takes entry after entry of a shuffled prequeue, each of which is left for the next, and
// shows them all after the start. Without a prequeue it is an app like others.
func (v *visitor) grinder() {
	sale := &v.world.plan.Sale
	if !sale.Shuffle || v.joined > sale.Start {
		v.app()
		return
	}
	var taken []*visitor
	for v.world.history.now() < sale.Start {
		c := v.copy("")
		c.copied = fmt.Sprint("entry ", len(taken)+1)
		c.ask(request{accept: asJSON})
		taken = append(taken, c)
		v.wait(v.around(v.world.plan.Settings.RefreshInterval))
	}
	v.wait(rumour)
	for range 3 {
		for _, c := range taken {
			if v.over() {
				return
			}
			c.ask(request{accept: asJSON})
			v.wait(v.upTo(time.Second))
		}
		v.wait(v.around(v.world.plan.Settings.RefreshInterval))
	}
}
