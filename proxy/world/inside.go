package world

import (
	"cmp"
	"slices"
	"time"
)

// onTheWay is how long an answer is under way at most.
const onTheWay = 100 * time.Millisecond

// hasJustGoneOn says whether a gate that stood still has just gone on. It has not heard from the
// store since, which knows of sessions that other gates have renewed and a cookie does not tell of
// yet.
func (h *History) hasJustGoneOn(gate int, at time.Duration) bool {
	return slices.ContainsFunc(h.Plan.Faults, func(f Fault) bool {
		return f.Kind == "gate stands still" && f.Gate == gate && h.Plan.Redis && at >= f.At+f.Lasts && at < f.At+f.Lasts+time.Second
	})
}

// checkStays finds those who were told to wait while their session lasted, though they had the
// cookie of it.
func checkStays(h *History, breach func(time.Duration, string, ...any)) {
	s := h.Plan.Settings
	type holder struct {
		until  time.Duration // their session surely lasts until then
		waited bool
		knows  time.Duration // until when the session lasts by the cookie that they have
		served time.Duration // when they got that cookie
		told   time.Duration // when they were told to wait last
		known  bool
		began  time.Duration // their session began then or later
		over   time.Duration // and is surely over then
		asked  time.Duration // when they sent the first request of which nobody knows whether it let them in; 0 for none
	}
	people, belated := make([]holder, len(h.Plan.People)), h.belated()
	for i := range h.Events {
		e := &h.Events[i]
		if e.What == Died { // what the gate alone knew is lost: a cookie does not tell of each renewal
			for i := range people {
				if people[i].served > e.At-2*time.Second {
					people[i].knows = 0
				}
			}
		}
		if e.keepsSlot() {
			people[e.Of-1].asked = cmp.Or(people[e.Of-1].asked, h.keptFrom(e))
		}
		if e.Who == nobody {
			continue
		}
		v := &people[e.Who]
		switch e.What {
		case Seen:
			lasts := h.lasts(s.SessionDuration)
			if !v.waited && (!v.known || e.At > v.until) && s.ConfirmWithin > 0 {
				lasts = min(lasts, h.lasts(s.ConfirmWithin))
			}
			if !v.waited && (!v.known || e.Sent > v.over) {
				v.began = cmp.Or(v.asked, e.Sent)
			}
			v.until, v.waited, v.known = max(v.until, h.endsAfter(e.Sent+lasts, v.began)), false, true
			v.over, v.asked = e.At+s.SessionDuration+slack, 0
		case Lost, Shut:
			v.asked, v.over = cmp.Or(v.asked, e.Sent), max(v.over, e.At+s.SessionDuration+slack)
		case Watched:
			v.over = e.At + s.SessionDuration + slack
		case Served:
			if v.knows, v.served = v.until, e.At; e.At-v.told < onTheWay { // the older ticket may come later, to another tab
				v.knows = 0
			}
		case Enters:
			if v.told = e.At; e.At-v.served < onTheWay { // the stream may have been opened with an older ticket, which comes later
				v.knows = 0
			}
		case Waits:
			v.told = e.At
			if e.Sent < v.served || h.hasJustGoneOn(e.Gate, e.At) { // in the first case another tab of theirs asked before, and has the older ticket
				v.knows = 0
				continue
			}
			if e.At < v.knows && h.keepsTime(v.served, e.At) {
				breach(e.At, "%s is told by gate %d to wait, but their session lasts until %s", h.Plan.People[e.Who].Name, e.Gate, moment(v.knows))
				v.knows = 0
			}
			if !belated[i] {
				v.waited, v.began = true, e.Sent
			}
		default:
		}
	}
}
