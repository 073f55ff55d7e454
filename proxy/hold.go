package proxy

import (
	"sync"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// hold keeps a session active while an answer is under way. Most answers end
// long before it has anything to do, so that holds are used again.
type hold struct {
	mu     sync.Mutex
	timer  *time.Timer
	gate   *Gate
	queue  *queue.Room // nil once the answer has ended
	ticket queue.Ticket
	seat   *seats // that the answer may keep for its visitor; nil for none
	long   bool   // the answer keeps the session: it has been touched
}

var holds = sync.Pool{New: func() any { return new(hold) }}

// hold touches the visitor's session every third of its duration, and well
// before it would end, until the hold is ended; that counts
// too, if it comes so late.
func (g *Gate) hold(v visitor, t queue.Ticket) *hold {
	h := holds.Get().(*hold)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gate, h.queue, h.ticket = g, v.room.line.queue, t
	wait := h.interval()
	if left := t.Expires.Sub(v.now); left > 0 {
		wait = min(wait, left/2)
	}
	if h.timer == nil {
		h.timer = time.AfterFunc(wait, h.touch)
	} else {
		h.timer.Reset(wait)
	}
	return h
}

func (h *hold) interval() time.Duration { return h.queue.SessionLasts() / 3 }

// touch may come late, when the hold is another answer's: that one is touched
// early then, which does no harm.
func (h *hold) touch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.queue == nil {
		return
	}
	h.long = true
	if lasts := h.queue.Touch(queue.At(h.gate.o.Clock()), h.ticket); !lasts && h.seat != nil {
		h.seat.cut(h.ticket.ID)
	}
	h.timer.Reset(h.interval())
}

func (h *hold) end() {
	h.mu.Lock()
	h.timer.Stop()
	if h.long {
		h.queue.Touch(queue.At(h.gate.o.Clock()), h.ticket)
	}
	if h.seat != nil {
		h.seat.leave(h.ticket.ID, h)
	}
	h.gate, h.queue, h.seat, h.long = nil, nil, nil, false
	h.mu.Unlock()
	holds.Put(h)
}
