package proxy

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// hold keeps a session active while the origin answers a request. Most answers end long
// before their hold has to do anything, so that holds are pooled.
type hold struct {
	mu     sync.Mutex // not held through calls to the store
	timer  *time.Timer
	gate   *Gate
	queue  *room.Room // nil once the answer has ended
	ticket queue.Ticket
	seat   *feature.Seat // the answer's connection, in case it has to be cut; nil for none
	long   bool          // its end touches the session, too
}

var holds = sync.Pool{New: func() any { return new(hold) }}

// newHold returns a hold for an answer to the visitor. Until the hold is ended it touches
// their session as often as the queue asks for it. If it has done so, or the answer is a
// connection that lasts, its end touches the session once more.
func newHold(g *Gate, v *feature.Visit, t queue.Ticket) *hold {
	h := holds.Get().(*hold)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gate, h.queue, h.ticket = g, v.Room.Queue, t
	wait := h.queue.TouchIn(v.Now, t)
	if h.timer == nil {
		h.timer = time.AfterFunc(wait, h.touch)
	} else {
		h.timer.Reset(wait)
	}
	return h
}

func (h *hold) touch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.queue == nil {
		return
	}
	defer services{h.gate}.Survive("touch")
	h.long = true
	if lasts := h.queue.Touch(h.gate.o.Clock(), h.ticket); !lasts && h.seat != nil {
		h.seat.CutCopies()
	}
	h.timer.Reset(h.queue.TouchEvery())
}

// end ends the hold. A hold whose timer has fired is not pooled: its touch may be still
// to come, and would touch the session of another answer.
func (h *hold) end() {
	h.mu.Lock()
	idle := h.timer.Stop()
	if h.long {
		h.queue.Touch(h.gate.o.Clock(), h.ticket)
	}
	if h.seat != nil {
		h.seat.Leave()
	}
	h.gate, h.queue, h.seat, h.long = nil, nil, nil, false
	h.mu.Unlock()
	if idle {
		holds.Put(h)
	}
}

// seated returns the request with a context that is cancelled when its connection is cut.
func (h *hold) seated(of *feature.Seats, r *http.Request) *http.Request {
	ctx, cut := context.WithCancel(r.Context())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seat = of.Take(h.ticket, cut)
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
		h.seat.CutCopies()
	}
}
