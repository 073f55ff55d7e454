// Package shed drops requests of people who are not in, in a flood, so that those who are in need
// not wait behind them; see package flood.
package shed

import (
	"context"
	"net/http"
	"slices"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/flood"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// Feature drops requests to a gate.
type Feature struct{ gate feature.Gate }

// NewFeature returns what drops requests to a gate.
func NewFeature(g feature.Gate) *Feature { return &Feature{g} }

// Part implements [feature.Feature]: no room has a say.
func (*Feature) Part(context.Context, *feature.Setup) (feature.Part, error) { return nil, nil }

// Visit implements [feature.Witness]. Over the connections of a trusted proxy come many visitors:
// none of them is dropped.
func (f *Feature) Visit(r *http.Request, v *feature.Visit, d *room.Decision) {
	c := flood.Of(r.Context())
	switch d.Outcome {
	case room.Admitted, room.OnHold, room.Kept:
		c.Keep()
		return
	default:
	}
	if v.Setup.Trust.TrustsPeer(r) || !c.Sheds(kindOf(v, d)) {
		return
	}
	v.Room.Count(metrics.Shed)
	v.Forget(d)
	c.Shed(r)
}

// Aside implements [feature.Witness]: it drops a request that is no visit as Visit does, unless its
// sender is in somewhere.
func (f *Feature) Aside(r *http.Request) {
	c := flood.Of(r.Context())
	switch {
	case f.gate.Trust().TrustsPeer(r):
	case c.Presses() && slices.ContainsFunc(f.gate.Requesters(r), isIn):
		c.Keep()
	case c.Sheds(flood.Aside):
		c.Shed(r)
	}
}

// isIn says whether a visitor is in, as far as this gate knows.
func isIn(v *feature.Visit) bool { return v.Room.Queue.IsIn(v.Now, v.Ticket) }

// Withheld implements [feature.Witness].
func (f *Feature) Withheld(r *http.Request, by feature.Counted) {
	c := flood.Of(r.Context())
	if f.gate.Trust().TrustsPeer(r) || !c.Sheds(flood.Aside) {
		return
	}
	by.Count(metrics.Shed)
	c.Shed(r)
}

// Exempt implements [feature.Witness]: what passes a room by is not dropped.
func (*Feature) Exempt(*http.Request, feature.Counted) {}

// Renewal implements [feature.Witness]: it drops the question of visitors, who have checked in by
// it, unless one of them is in.
func (f *Feature) Renewal(r *http.Request, visitors []*feature.Visit, decisions []room.Decision) {
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
	if f.gate.Trust().TrustsPeer(r) || !c.Sheds(kind) {
		return
	}
	for i := range visitors {
		visitors[i].Room.Count(metrics.Shed)
		visitors[i].Forget(&decisions[i])
	}
	c.Shed(r)
}

// kindOf says how willingly the request of a visitor who has to wait is dropped.
func kindOf(v *feature.Visit, d *room.Decision) flood.Kind {
	switch {
	case v.Endless != nil:
		return flood.Again
	case d.Early || d.Outcome != room.Queued || d.Ticket.State != queue.Waiting || v.IsNew(d):
		return flood.Early
	}
	return flood.Due
}
