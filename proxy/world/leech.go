package world

import "time"

// partHeader is the header by which browsers say what part of a page they ask for.
const partHeader = "Sec-Fetch-Dest"

// leech is a program that asks for pages as if they were pictures in pages, and keeps no cookies.
func (v *visitor) leech() {
	for !v.fedUp() {
		v.cookie = ""
		v.ask(request{accept: asHTML, part: "image", whole: true})
		v.waitMore(v.around(v.world.plan.Settings.RefreshInterval))
	}
}

// checkParts finds requests for parts of pages that reach the site without a ticket, though people
// have waited for a while.
func checkParts(h *History, breach func(time.Duration, string, ...any)) {
	var all []*spell
	for i := range h.Events {
		e := &h.Events[i]
		if e.What != Part || !h.quiet(e.Sent, e.At) {
			continue
		}
		if all == nil {
			all = spellsOf(h)
		}
		for _, p := range all {
			if p.surely && p.sure <= e.Sent-rumour && p.last >= e.At {
				breach(e.At, "gate %d passes on a part of a page to %s, and %s waits", e.Gate, h.Plan.People[e.Who].Name, h.Plan.People[p.who].Name)
				return
			}
		}
	}
}
