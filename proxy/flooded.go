package proxy

import (
	"net/http"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/flood"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/queue"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// spare drops the request of a visitor who has to wait, if there are so many of them that those who are in would wait too; see package
// flood. Over the connections of a trusted proxy come many visitors: none of them is dropped.
func spare(r *http.Request, v *feature.Visit, d *queueroom.Decision) {
	c := flood.Of(r.Context())
	switch d.Outcome {
	case queueroom.Admitted, queueroom.OnHold, queueroom.Kept:
		c.Keep()
		return
	default:
	}
	if v.Setup.Trust.TrustsPeer(r) || !c.Sheds(kindOf(v, d)) {
		return
	}
	v.Room.Count(metrics.Shed)
	forget(v, d)
	c.Shed(r)
}

// forget takes back the place of a visitor who never gets to know of it.
func forget(v *feature.Visit, d *queueroom.Decision) {
	if d.Ticket.State == queue.Waiting && isNew(v, d) {
		v.Room.Queue.Withdraw(v.Now, d.Ticket)
	}
}

// forgetUnanswered takes back the place of a newcomer who has gone before the answer went out, as when a stream of HTTP/2 is reset at once.
func forgetUnanswered(w http.ResponseWriter, r *http.Request, v *feature.Visit, d *queueroom.Decision) {
	if d.Ticket.State != queue.Waiting || !isNew(v, d) {
		return
	}
	gone := r.Context().Err() != nil
	if !gone && r.ProtoMajor == 2 {
		gone = http.NewResponseController(w).Flush() != nil // it tells whether the stream was there until the answer was written
	}
	if gone {
		forget(v, d)
	}
}

// spareAside drops a request that is no visit, as spare does, unless its sender is in somewhere.
func (s *setup) spareAside(r *http.Request, now time.Time) {
	c := flood.Of(r.Context())
	switch {
	case s.trust.TrustsPeer(r):
	case c.Presses() && s.isInSomewhere(r, now):
		c.Keep()
	case c.Sheds(flood.Aside):
		c.Shed(r)
	}
}

// spareWithheld drops a request that takes neither a place nor a slot, and that the origin does not get, as spare does.
func spareWithheld(r *http.Request, trust origin.Trust, by counted) {
	c := flood.Of(r.Context())
	if trust.TrustsPeer(r) || !c.Sheds(flood.Aside) {
		return
	}
	by.Count(metrics.Shed)
	c.Shed(r)
}

// spareRenewal drops the question of visitors, who have checked in by it, as spare does, unless one of them is in.
func spareRenewal(r *http.Request, trust origin.Trust, visitors []*feature.Visit, decisions []queueroom.Decision) {
	c, kind := flood.Of(r.Context()), flood.Aside
	for i := range visitors {
		v, d := visitors[i], &decisions[i]
		switch {
		case d.Ticket.State == queue.Accepted:
			c.Keep()
			return
		case d.Ticket.State == queue.Waiting && !v.Room.Queue.Suspended():
			kind = max(kind, kindOf(v, d))
		}
	}
	if trust.TrustsPeer(r) || !c.Sheds(kind) {
		return
	}
	for i := range visitors {
		visitors[i].Room.Count(metrics.Shed)
		forget(visitors[i], &decisions[i])
	}
	c.Shed(r)
}

// isInSomewhere says whether the sender of a request that is no visit is in a room, as far as this gate knows.
func (s *setup) isInSomewhere(r *http.Request, now time.Time) bool {
	isIn := func(v *feature.Visit) bool { return v.Room.Queue.IsIn(v.Now, v.Ticket) }
	asked, _ := s.visitorsAsked(r, now)
	from, _ := s.visitorsOfPage(r, now) // cookies that cannot be read hold no ticket that counts
	return slices.ContainsFunc(asked, isIn) || slices.ContainsFunc(from, isIn)
}

// isNew reports whether a visitor, who is no user of the site, has got a place that they did not have before.
func isNew(v *feature.Visit, d *queueroom.Decision) bool {
	return v.Subject == (queue.ID{}) && d.Ticket.ID != v.Ticket.ID
}

// kindOf says how willingly the request of a visitor who has to wait is dropped.
func kindOf(v *feature.Visit, d *queueroom.Decision) flood.Kind {
	switch {
	case v.Endless:
		return flood.Again
	case d.Early || d.Outcome != queueroom.Queued || d.Ticket.State != queue.Waiting || isNew(v, d):
		return flood.Early
	}
	return flood.Due
}
