// Package measure measures for a room how its site does: how long it takes to answer those who are
// in, and how often it fails.
package measure

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/networks"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// measured is the writer of an answer whose header is waited for: the room measures how long the
// origin takes. It is pooled.
type measured struct {
	http.ResponseWriter
	queue *room.Room // nil once the header was there
	trip  pressure.Trip
	began time.Time
	clock func() time.Time
}

var writers = sync.Pool{New: func() any { return new(measured) }}

// largeBody is how large the body of a request is, in bytes, from which on the time for it is its
// sender's.
const largeBody = 64 << 10

// Feature measures the sites of a gate's rooms.
type Feature struct{ gate feature.Gate }

// NewFeature returns what measures the sites of a gate's rooms.
func NewFeature(g feature.Gate) *Feature { return &Feature{g} }

// Part implements [feature.Feature]. Whether a room measures is a setting, which may change while
// it runs.
func (f *Feature) Part(context.Context, *feature.Setup) (feature.Part, error) { return f, nil }

// Writer implements [feature.Watcher]: it returns the writer of an answer to a visitor, as one that
// measures if the room does. The time of connections that last, and of requests with large bodies,
// says nothing of the site.
func (f *Feature) Writer(w http.ResponseWriter, r *http.Request, v *feature.Visit, ticket queue.ID) (http.ResponseWriter, feature.Ender) {
	room := v.Room.Queue
	if !room.Measures() || feature.Connects(r) || r.ContentLength < 0 || r.ContentLength >= largeBody {
		return w, nil
	}
	m := writers.Get().(*measured)
	*m = measured{ResponseWriter: w, queue: room, trip: room.ToOrigin(voteOf(v, ticket), r.URL.Path), began: f.gate.Now(), clock: f.gate.Now}
	return m, m
}

// voteOf is whose vote on the site a request is. A visitor who has brought no ticket, and is not
// named, may throw the new one away: they share a vote with all such visitors of their network, and
// of the IPv6 /48 that it is in.
func voteOf(v *feature.Visit, ticket queue.ID) queue.ID {
	if v.Ticket.State != queue.None || v.Subject != (queue.ID{}) {
		return ticket
	}
	if site := networks.SiteOf(v.Network); site.IsValid() {
		return site.Addr().As16()
	}
	if v.Network.IsValid() {
		return v.Network.Addr().As16()
	}
	return queue.ID{}
}

// End implements [feature.Ender]: it ends the measuring, if nobody has answered until now: the
// visitor has left.
func (m *measured) End() {
	m.note(pressure.Left)
	*m = measured{}
	writers.Put(m)
}

func (m *measured) note(what pressure.Outcome) {
	if m.queue != nil {
		m.queue.FromOrigin(m.trip, m.clock().Sub(m.began), what)
		m.queue = nil
	}
}

// WriteHeader notes that the header is there, of an answer that is more than provisional.
func (m *measured) WriteHeader(status int) {
	switch {
	case status >= http.StatusInternalServerError:
		m.note(pressure.Failed)
	case status >= http.StatusOK:
		m.note(pressure.Answered)
	}
	m.ResponseWriter.WriteHeader(status)
}

// Write notes that the header is there.
func (m *measured) Write(p []byte) (int, error) {
	m.note(pressure.Answered)
	return m.ResponseWriter.Write(p)
}

// Unwrap has http.ResponseController find the writer's other methods.
func (m *measured) Unwrap() http.ResponseWriter { return m.ResponseWriter }
