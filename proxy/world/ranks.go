package world

import "time"

// checkRanks finds guests who are told a better rank than they can have: others who surely wait
// have brought more people, or as many and signed up before.
func checkRanks(h *History, breach func(time.Duration, string, ...any)) {
	l := h.Plan.Waitlist
	if l == nil {
		return
	}
	told := make([][]*Event, len(l.Guests))
	for i := range h.Events {
		if e := &h.Events[i]; e.What == Standing {
			told[e.Guest-1] = append(told[e.Guest-1], e)
		}
	}
	for n, mine := range told {
		for _, e := range mine {
			if e.Rank == 0 || !h.quiet(e.Sent, e.At) {
				continue
			}
			ahead := 0
			for m, others := range told {
				ahead += oneIf(m != n && isAhead(others, e, l.Guests[n].Joins))
			}
			if e.Rank <= ahead {
				breach(e.At, "%s is told rank %d, and at least %d are ahead", l.Guests[n].Name, e.Rank, ahead)
				return
			}
		}
	}
}

// isAhead says whether somebody who was told their rank several times is surely ahead of somebody
// who is told theirs, and signed up at a moment or later.
func isAhead(told []*Event, of *Event, signedUp time.Duration) bool {
	for i := 1; i < len(told); i++ {
		before, after := told[i-1], told[i]
		if before.At < of.Sent && after.Sent > of.At && before.Rank > 0 && after.Rank > 0 {
			n := min(before.Referees, after.Referees)
			return n > of.Referees || n == of.Referees && before.Referees == after.Referees && told[0].At < signedUp
		}
	}
	return false
}
