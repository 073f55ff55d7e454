package world

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// race is an admission in random of somebody who has waited, and who might have had it as well.
type race struct {
	winner *track
	others []*track
}

// races are those of a history in which slots are raced for, and nothing has gone wrong. Slots that
// come free in a rhythm are left out: who comes just then has better odds, as is documented.
func races(h *History) (list []race) {
	s := &h.Plan.Settings
	if s.Method != queue.Random || s.DisableSessionRenewal || h.Plan.Sale != (Sale{}) {
		return nil
	}
	all := tracks(h)
	for _, w := range all {
		if !w.isIn || !h.mayWin(w, w.in.latest) || !h.quiet(w.came, w.in.latest) {
			continue
		}
		r := race{winner: w}
		for _, a := range all {
			if a != w && h.mayWin(a, w.in.latest) {
				r.others = append(r.others, a)
			}
		}
		list = append(list, r)
	}
	return list
}

// mayWin says whether somebody surely takes part at a moment: they have asked, as they were told to
// or more often, for long enough that when they came does not matter for when they ask.
func (h *History) mayWin(t *track, at time.Duration) bool {
	k := kinds.find(h.Plan.People[t.who].Kind)
	if t.broken || len(t.told) == 0 || !k.polite && !h.asksOften(t) || t.told[0].at+3*h.longestInterval()/2 > at {
		return false
	}
	return t.isIn && t.in.latest >= at || t.told[len(t.told)-1].at >= at
}

// asksOften says whether somebody asks at least twice as often as they are told to.
func (h *History) asksOften(t *track) bool {
	n := len(t.told) - 1
	return kinds.find(h.Plan.People[t.who].Kind).hasty && n >= 3 && (t.told[n].at-t.told[0].at)/time.Duration(n) < h.Plan.Settings.RefreshInterval/2
}

// earlierChances adds, for each race of those who ask when they are told to, how many of those who
// might have won had come after the winner, as a share, less a half.
func earlierChances(h *History, add func(beyond, variance float64)) {
	for _, r := range races(h) {
		if h.asksOften(r.winner) {
			continue
		}
		n, later := 0, 0
		for _, a := range r.others {
			if !h.asksOften(a) {
				n++
				later += oneIf(a.told[0].at > r.winner.told[0].at)
			}
		}
		if n > 0 {
			add(float64(later)/float64(n)-.5, float64(n+2)/float64(12*n))
		}
	}
}

// laterChances does the same with those who had come before the winner.
func laterChances(h *History, add func(beyond, variance float64)) {
	earlierChances(h, func(beyond, variance float64) { add(-beyond, variance) })
}

// oftenOdds are those of who asks more often at most, at each gate.
const oftenOdds = 1.2

// oftenChances adds, for each race, whether one wins who asks more often, less the chance of it that
// their odds allow.
func oftenChances(h *History, add func(beyond, variance float64)) {
	odds := oftenOdds * float64(h.Plan.Gates)
	for _, r := range races(h) {
		often, all := oneIf(h.asksOften(r.winner)), 1+len(r.others)
		for _, a := range r.others {
			often += oneIf(h.asksOften(a))
		}
		if often > 0 && often < all {
			chance := odds * float64(often) / (odds*float64(often) + float64(all-often))
			add(float64(oneIf(h.asksOften(r.winner)))-chance, chance*(1-chance))
		}
	}
}

// oftenSooner is by how much sooner who asks more often is let in at most, on the average: in the
// time in which as many are let in as they overtake.
const oftenSooner = 3 * time.Second

// oftenGains adds by how many more polite people than that those of a history went past who ask
// more often, less those who went past them.
func oftenGains(h *History, add func(beyond, variance float64)) {
	s := &h.Plan.Settings
	if s.Method != queue.FIFO && s.Method != queue.Line || h.Plan.Sale != (Sale{}) {
		return
	}
	all, beyond, n := tracks(h), 0, 0
	_, admitted := read(h)
	for _, b := range all {
		if !b.isIn || b.broken || !h.asksOften(b) || !h.quiet(b.came, b.in.latest) {
			continue
		}
		gains := 0
		for _, a := range all {
			switch {
			case a.broken || len(a.told) == 0 || !kinds.find(h.Plan.People[a.who].Kind).polite:
			case a.told[0].at < b.told[0].at:
				gains += oneIf(a.waiting(b.in.latest) || a.isIn && a.in.latest > b.in.latest)
			default:
				gains -= oneIf(a.isIn && a.in.latest < b.in.latest)
			}
		}
		beyond, n = beyond+gains-mostWithin(admitted, b.in.latest, oftenSooner), n+1
	}
	if n > 0 {
		add(float64(beyond), 0)
	}
}
