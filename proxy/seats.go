package proxy

import (
	"context"
	"math"
	"net/http"
	"strings"
	"sync"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// seats are the connections that keep their visitors in a room whose occupancy is by
// connection. When a session ends before its connection, the connection is cut.
type seats struct {
	mu   sync.Mutex
	cuts map[queue.ID]map[*hold]context.CancelFunc
}

// connects says whether a request asks for a connection that lasts: a websocket, or a
// stream of events.
func connects(r *http.Request) bool {
	return r.Header["Upgrade"] != nil || strings.Contains(strings.ToLower(headerValue(r.Header["Accept"])), "text/event-stream")
}

// seated returns the request with a context that is cancelled when its connection is cut.
func (h *hold) seated(s *seats, r *http.Request) *http.Request {
	ctx, cut := context.WithCancel(r.Context())
	s.mu.Lock()
	if s.cuts == nil {
		s.cuts = map[queue.ID]map[*hold]context.CancelFunc{}
	}
	if s.cuts[h.ticket.ID] == nil {
		s.cuts[h.ticket.ID] = map[*hold]context.CancelFunc{}
	}
	s.cuts[h.ticket.ID][h] = cut
	s.mu.Unlock()
	h.mu.Lock()
	h.seat = s
	h.mu.Unlock()
	return r.WithContext(ctx)
}

// lasts says whether an answer is a connection that lasts. The origin may have refused
// to make one.
func lasts(resp *http.Response) bool {
	return resp.StatusCode == http.StatusSwitchingProtocols ||
		resp.StatusCode == http.StatusOK && strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), "text/event-stream")
}

// keepSeat keeps the visitor in the room until the hold is ended, and for the room's
// grace beyond. If their slot has been given to somebody else, the connection is cut.
func (h *hold) keepSeat(ctx context.Context) {
	h.mu.Lock()
	h.long = true
	h.mu.Unlock()
	// The goroutine that calls this ends the hold, too: nothing else of h changes before.
	if !h.queue.Connect(ctx, h.gate.o.Clock(), h.ticket) {
		h.seat.cutCopies(&h.ticket)
	}
}

// leave takes out a hold whose answer has ended.
func (s *seats) leave(id queue.ID, h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cuts[id][h]()
	delete(s.cuts[id], h)
	if len(s.cuts[id]) == 0 {
		delete(s.cuts, id)
	}
}

// cut ends all connections of a visitor.
func (s *seats) cut(id queue.ID) { s.cutCopies(&queue.Ticket{ID: id, Moved: math.MaxUint8}) }

// cutCopies ends the connections that a visitor has by a ticket, or by copies of it that have moved less often: on other devices
// those by a ticket that has moved on go on.
func (s *seats) cutCopies(t *queue.Ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h, cut := range s.cuts[t.ID] {
		if h.ticket.Moved <= t.Moved {
			cut()
		}
	}
}
