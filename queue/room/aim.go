package room

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// leastInterval is how soon a visitor whose slot is about to open comes back.
const leastInterval = time.Second

// bucketOf is where a visitor who arrived then is counted from now on.
func (s situation) bucketOf(arrived queue.Instant) queue.Instant {
	return s.rules.BucketOf(arrived, s.by.view.Load().synced.Boundaries)
}

// aim is within how long a visitor in line is to come back, so that they come when a slot
// opens for them; 0 for no such time. Where there is an exact line, the store's answer
// tells. Who is counted in a bucket far from the head comes rarely, after about another time: not who
// may be put ahead, and not while places are unknown or are drawn for an event.
func (s situation) aim(bucket queue.Instant) (within, rarely time.Duration) {
	if !s.rules.Method.OrdersBuckets() {
		return s.comesSoon(), 0
	}
	view := s.by.view.Load()
	if s.Ahead == queue.NotAhead && !view.synced.Incomplete() && !s.rules.Event.Prequeueing {
		rarely = s.rules.FarInterval(view.outlook.Ahead(bucket))
	}
	return s.aimAt(view.outlook.Ahead(s.Ticket.ArrivedAt)), rarely
}

// backWithin is within how long a visitor is to come back whose claim was refused, and who has
// that place in an exact line or none; 0 for no such time. One whom the store did not answer
// comes back soon: the store may not have heard of them, or may have let them in.
func (s situation) backWithin(p *pending, place queue.Place) time.Duration {
	switch {
	case p.unheard:
		return max(min(s.rules.RefreshInterval/4, s.rules.SessionLasts(0)/2).Truncate(time.Millisecond), leastInterval)
	case p.claim.Newcomer():
		return s.newcomersAim(place)
	case place.Number != 0:
		return s.aimAt(float64(place.Ahead))
	}
	return 0
}

// newcomersAim is aim of a newcomer, who has that place in an exact line or none.
func (s situation) newcomersAim(place queue.Place) time.Duration {
	if s.Ahead != queue.NotAhead && place.Number == 0 {
		return max(s.comesSoon(), s.aimAt(0))
	}
	return s.aimAt(float64(s.aheadOfNewcomer(place)))
}

// aimAt is aim of a visitor with so many people ahead. A page in the background cannot
// come sooner than browsers allow.
func (s situation) aimAt(ahead float64) time.Duration {
	if !s.rules.Method.KeepsOrder() || s.Ask.isHidden() || s.by.stopped() {
		return 0
	}
	view := s.by.view.Load()
	opens, known := view.outlook.OpensAt(s.at, ahead)
	if !known || view.Open == 0 && view.NextOpen == 0 {
		return 0
	}
	if view.Open == 0 { // somebody has taken what was open when the forecast was made
		opens = max(opens, view.NextOpen)
	}
	return max(queue.WholeSeconds(opens.Sub(s.at)), leastInterval)
}

// aheadOfNewcomer is how many people are ahead of a newcomer, who has that place in an
// exact line or none.
func (s situation) aheadOfNewcomer(place queue.Place) int {
	if place.Number != 0 {
		return place.Ahead
	}
	return s.by.view.Load().synced.Present
}
