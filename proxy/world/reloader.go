package world

import "time"

// reloader is somebody who loads the page again and again, sooner than they were told.
func (v *visitor) reloader() {
	for !v.fedUp() {
		if v.ask(request{accept: asHTML}).in() {
			if v.browse(asHTML) {
				return
			}
			continue
		}
		v.waitMore(v.around(v.world.plan.Settings.RefreshInterval/3 + time.Second))
	}
	v.giveUp()
}
