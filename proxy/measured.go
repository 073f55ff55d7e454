package proxy

import (
	"net/http"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
	queueroom "github.com/fairdoor-gate/fairdoor/queue/room"
)

// measured is the writer of an answer whose header is waited for: the room measures how long the origin takes. It is pooled.
type measured struct {
	http.ResponseWriter
	queue *queueroom.Room // nil once the header was there
	trip  pressure.Trip
	began time.Time
	clock func() time.Time
}

var measuredWriters = sync.Pool{New: func() any { return new(measured) }}

// largeBody is how large the body of a request is, in bytes, from which on the time for it is its sender's.
const largeBody = 64 << 10

// measure returns the writer of an answer to a visitor, as one that measures if the room does. The time of connections that last, and of
// requests with large bodies, says nothing of the origin.
func (g *Gate) measure(w http.ResponseWriter, r *http.Request, v *visitor, ticket queue.ID) (writer http.ResponseWriter, m *measured) {
	room := v.room.queue
	if !room.Measures() || connects(r) || r.ContentLength < 0 || r.ContentLength >= largeBody {
		return w, nil
	}
	m = measuredWriters.Get().(*measured)
	*m = measured{ResponseWriter: w, queue: room, trip: room.ToOrigin(v.measuredAs(ticket), r.URL.Path), began: g.o.Clock(), clock: g.o.Clock}
	return m, m
}

// measuredAs is whose vote on the origin a request is. A visitor who has brought no ticket, and is not named, may throw the new one away:
// they share a vote with all such visitors of their network, and of the IPv6 /48 that it is in.
func (v *visitor) measuredAs(ticket queue.ID) queue.ID {
	if v.ticket.State != queue.None || v.subject != (queue.ID{}) {
		return ticket
	}
	if site := siteOf(v.network); site.IsValid() {
		return site.Addr().As16()
	}
	if v.network.IsValid() {
		return v.network.Addr().As16()
	}
	return queue.ID{}
}

// end ends the measuring, if nobody has answered until now: the visitor has left. A nil measured measures nothing.
func (m *measured) end() {
	if m == nil {
		return
	}
	m.note(pressure.Left)
	*m = measured{}
	measuredWriters.Put(m)
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
