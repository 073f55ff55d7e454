package proxy

import (
	"sync"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
)

// hold keeps a session active while an answer is under way. Most answers end
// long before it has anything to do, so that holds are used again.
type hold struct {
	mu     sync.Mutex // not held through calls to the store
	timer  *time.Timer
	gate   *Gate
	queue  *queueroom.Room // nil once the answer has ended
	ticket queue.Ticket
	seat   *seats // that the answer may keep for its visitor; nil for none
	long   bool   // the answer keeps the session: it has been touched
}

var holds = sync.Pool{New: func() any { return new(hold) }}

// hold touches the visitor's session as often as the queue wants it until the hold
// is ended; that counts too, if it comes so late.
func (g *Gate) hold(v visitor, t queue.Ticket) *hold {
	h := holds.Get().(*hold)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gate, h.queue, h.ticket = g, v.room.queue, t
	wait := h.queue.TouchIn(v.now, t)
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
	defer h.gate.survive("touch")
	h.long = true
	if lasts := h.queue.Touch(h.gate.o.Clock(), h.ticket); !lasts && h.seat != nil {
		h.seat.cut(h.ticket.ID)
	}
	h.timer.Reset(h.queue.TouchEvery())
}

// end ends the hold. One whose timer has fired is not used again: the touch may be
// still to come, and would be another answer's.
func (h *hold) end() {
	h.mu.Lock()
	idle := h.timer.Stop()
	if h.long {
		h.queue.Touch(h.gate.o.Clock(), h.ticket)
	}
	if h.seat != nil {
		h.seat.leave(h.ticket.ID, h)
	}
	h.gate, h.queue, h.seat, h.long = nil, nil, nil, false
	h.mu.Unlock()
	if idle {
		holds.Put(h)
	}
}
