package room

import "github.com/fairdoor-gate/fairdoor/queue"

// drawn is a waiting ticket with the place that the draw of a shuffled prequeue gives its
// visitor, if they have joined in it. Who has a place from before keeps it. A visitor who joined
// at a node that did not know yet of the prequeue gets theirs with a check-in.
func (v visit) drawn(t queue.Ticket) queue.Ticket {
	e := &v.rules.Event
	if t.CameAt != 0 || !e.Draws(t.ArrivedAt, v.at) {
		return t
	}
	if moment := v.draw(*e, t.ID); moment != 0 {
		t.CameAt, t.ArrivedAt = t.ArrivedAt, moment
	}
	return t
}

// comesBack is a waiting ticket that was brought back. A place that was drawn in a prequeue that
// was cancelled goes by the arrival again, and a place is drawn if that is due. The first time, it
// is noted: whoever asks for many places and takes up none leaves no trace.
func (v visit) comesBack(t queue.Ticket) queue.Ticket {
	if v.missedStart(&t) {
		t.ArrivedAt, t.CameAt, v.outOfDraw = v.at, 0, true
		return v.putAhead(t)
	}
	if v.rules.configuration.Places.Undraws(t.CameAt) {
		t.ArrivedAt, t.CameAt = t.CameAt, 0
	}
	first := t.CameAt == 0 || t.CameAt == t.LastCheckIn
	if t = v.drawn(t); first && t.CameAt != 0 {
		v.onDrawn(t)
	}
	return v.putAhead(t)
}

// missedStart reports whether a visitor who came in a shuffled prequeue is out of the draw, because
// they had missed a check-in when it ended: else somebody could have place after place drawn, and
// go on with the best. A user of the site has one place in any case. A node that did not run for
// long enough before the start does not know who was present.
func (v visit) missedStart(t *queue.Ticket) bool {
	start := v.rules.configuration.DrawEnded(t.Came(), v.at)
	present := v.rules.configuration.PresentFrom(start)
	return t.LastCheckIn < present && t.CountedUntil < start && !v.isSubject() && v.presence.made <= present &&
		!v.presence.hasPlaceOf(v.at, t)
}

// startsSoon reports whether the event of a shuffled prequeue starts so soon that who checks in now
// is in the draw, wherever they are answered next: each of them gets a ticket that tells of it,
// though their check-in may not be due.
func (s situation) startsSoon() bool {
	from, _ := s.rules.Renewal()
	return from != 0 && s.at >= from
}
