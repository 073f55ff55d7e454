package proxy

import (
	"net/http"

	"github.com/anteroom-gate/anteroom/proxy/flood"
	"github.com/anteroom-gate/anteroom/proxy/metrics"
	"github.com/anteroom-gate/anteroom/proxy/origin"
	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
)

// spare drops the request of a visitor who has to wait, and its connection, if there are so many of them that those who are in would
// wait too; see package flood. Over the connections of a trusted proxy come many visitors: none of them is dropped.
func (g *Gate) spare(r *http.Request, trust origin.Trust, v *visitor, d *queueroom.Decision) {
	c := flood.Of(r.Context())
	switch d.Outcome {
	case queueroom.Admitted, queueroom.OnHold, queueroom.Kept:
		c.Keep()
		return
	case queueroom.Moved:
		return
	}
	if trust.TrustsPeer(r) || !c.Shed(kindOf(v, d)) {
		return
	}
	v.room.Count(metrics.Shed)
	if d.Ticket.State == queue.Waiting && isNew(v, d) {
		v.room.queue.Leave(v.now, d.Ticket) // nobody gets to know of this place
	}
	panic(http.ErrAbortHandler)
}

// isNew reports whether a visitor, who is no user of the site, has got a place that they did not have before.
func isNew(v *visitor, d *queueroom.Decision) bool {
	return v.subject == (queue.ID{}) && d.Ticket.ID != v.ticket.ID
}

// kindOf says how willingly the request of a visitor who has to wait is dropped.
func kindOf(v *visitor, d *queueroom.Decision) flood.Kind {
	switch {
	case v.flagged:
		return flood.Again
	case d.Early || d.Outcome != queueroom.Queued || isNew(v, d):
		return flood.Early
	}
	return flood.Due
}
