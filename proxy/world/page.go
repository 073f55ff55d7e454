package world

import "time"

// page is the built-in page in a browser whose network lets no stream through: it asks again by
// itself, and loads the site once it is let in.
func (v *visitor) page() {
	for first := true; !v.fedUp(); first = false {
		q := request{accept: asJSON, returning: true}
		if first {
			q = request{accept: asHTML}
		}
		a := v.ask(q)
		switch {
		case a.in():
			if v.enter(first) {
				return
			}
		case a.waits():
			v.waitMore(a.retry() + v.upTo(50*time.Millisecond))
		default:
			v.waitMore(v.around(v.world.plan.Settings.RefreshInterval))
		}
	}
	v.giveUp()
}

// enter loads the site, unless the answer that let the visitor in was already shown, and looks at
// pages. It says whether the visit is over.
func (v *visitor) enter(shown bool) bool {
	if !shown && v.ask(request{accept: asHTML}).waits() {
		return false
	}
	return v.browse(asHTML)
}
