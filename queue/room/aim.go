package room

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// leastInterval is how soon a visitor whose slot is about to open comes back.
const leastInterval = time.Second

// bucketOf is where a visitor who arrived then is counted from now on.
func (v visit) bucketOf(arrived queue.Instant) queue.Instant {
	return v.rules.BucketOf(arrived, v.conditions.view.Load().synced.Boundaries)
}

// aim is within how long a visitor in line is to come back, so that they come when a slot
// opens for them; 0 for no such time. Where there is an exact line, the store's answer
// tells.
func (v visit) aim() time.Duration {
	if !v.rules.Method.OrdersBuckets() {
		return v.comesSoon()
	}
	return v.aimAt(v.conditions.view.Load().outlook.Ahead(v.Ticket.ArrivedAt))
}

// backWithin is within how long a visitor is to come back whose claim was refused, and who has
// that place in an exact line or none; 0 for no such time. One whom the store did not answer
// comes back soon: the store may not have heard of them, or may have let them in.
func (v visit) backWithin(p *pending, place queue.Place) time.Duration {
	switch {
	case p.unheard:
		return max(min(v.rules.RefreshInterval/4, v.rules.SessionLasts(0)/2).Truncate(time.Millisecond), leastInterval)
	case p.claim.Newcomer():
		return v.newcomersAim(place)
	case place.Number != 0:
		return v.aimAt(float64(place.Ahead))
	}
	return 0
}

// newcomersAim is aim of a newcomer, who has that place in an exact line or none.
func (v visit) newcomersAim(place queue.Place) time.Duration {
	if v.Ahead != queue.NotAhead && place.Number == 0 {
		return max(v.comesSoon(), v.aimAt(0))
	}
	return v.aimAt(float64(v.aheadOfNewcomer(place)))
}

// aimAt is aim of a visitor with so many people ahead. A page in the background cannot
// come sooner than browsers allow.
func (v visit) aimAt(ahead float64) time.Duration {
	if !v.rules.Method.KeepsOrder() || v.Ask.isHidden() || v.conditions.stopped() {
		return 0
	}
	view := v.conditions.view.Load()
	opens, known := view.outlook.OpensAt(v.at, ahead)
	if !known || view.Open == 0 && view.NextOpen == 0 {
		return 0
	}
	if view.Open == 0 { // somebody has taken what was open when the forecast was made
		opens = max(opens, view.NextOpen)
	}
	return max(queue.WholeSeconds(opens.Sub(v.at)), leastInterval)
}

// aheadOfNewcomer is how many people are ahead of a newcomer, who has that place in an
// exact line or none.
func (v visit) aheadOfNewcomer(place queue.Place) int {
	if place.Number != 0 {
		return place.Ahead
	}
	return v.conditions.view.Load().synced.Present
}
