package proxy

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
)

// heartbeat is how long a stream is silent at most: proxies in between cut off
// what is silent for longer, often after 30 or 60 s.
const heartbeat = 15 * time.Second

// stream is a visitor's open event stream. It checks in for them: their cookie
// cannot follow, so that it ends well before the place in the cookie would.
type stream struct {
	gate     *Gate
	room     *room
	audience *audience
	out      http.ResponseWriter
	control  *http.ResponseController
	id       queue.ID
	arrived  queue.Instant

	wake     chan struct{} // something is to be done: of the fields below, or of the audience's
	called   atomic.Bool   // their turn has come
	returned atomic.Bool   // another page of theirs has said goodbye for them
	next     atomic.Int64  // when something is to be done, by the gate's clock, in nanoseconds since 1970

	// Guarded by the gate's streams.
	at      int       // in the audience
	rest    time.Time // they are not called before
	goodbye time.Time // the last that was said here

	// The stream's own.
	setup   *roomSetup // the latest that it has gone by
	request queueroom.Request
	due     time.Time // the next check-in
	ends    time.Time
	silent  time.Time // until when it may be
	numbers *frame    // the last that were sent
	begun   []byte    // not sent yet
	over    bool
}

func newStream(g *Gate, w http.ResponseWriter, v visitor, q queueroom.Request) *stream {
	lasts := v.room.queue.Settings().QueueTicketTTL / 2
	return &stream{
		gate: g, room: v.room, setup: v.setup, out: w, control: http.NewResponseController(w), request: q,
		id: q.Ticket.ID, arrived: q.Ticket.ArrivedAt, wake: make(chan struct{}, 1),
		ends: v.now.Add(lasts - rand.N(lasts/4)),
	}
}

// begin tells the decision about the visitor's request. Whoever comes again after
// the stream's end does so at a moment of their own.
func (s *stream) begin(now time.Time, d *queueroom.Decision) {
	s.begun = fmt.Appendf(nil, "retry: %d\n\n", 500+rand.N(2000))
	s.begun, s.over = s.tell(s.begun, now, d)
}

// run tells what happens until the stream ends or its visitor has gone.
func (s *stream) run(ctx context.Context) {
	for s.step(ctx) {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
	}
}

// step does what is to be done now, and says whether the stream goes on.
func (s *stream) step(ctx context.Context) bool {
	now := s.gate.o.Clock()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	b := (*buf)[:0]
	b = append(b, s.begun...)
	s.begun = nil
	s.request.Called, s.request.Returned = s.called.Swap(false), s.returned.Swap(false)
	if !s.over && (s.request.Called || s.request.Returned || !now.Before(s.due)) {
		aside(func() { b, s.over = s.tell(b, now, s.checkIn(ctx, now)) })
	}
	if numbers := s.audience.numbers.Load(); !s.over && numbers != s.numbers {
		s.numbers = numbers
		b = append(b, numbers.text...)
	}
	if len(b) == 0 && !now.Before(s.silent) {
		b = append(b, ":\n\n"...)
	}
	*buf = b
	if len(b) > 0 {
		if _, err := s.out.Write(b); err != nil || s.control.Flush() != nil {
			return false
		}
		s.silent = now.Add(heartbeat)
	}
	s.next.Store(min(s.due.UnixNano(), s.ends.UnixNano(), s.silent.UnixNano()))
	return !s.over && now.Before(s.ends) && !s.gate.draining.Load()
}

// checkIn has the visitor asked for by the stream: at the time that their ticket
// says, when their turn has come, or when they were taken for gone.
func (s *stream) checkIn(ctx context.Context, now time.Time) *queueroom.Decision {
	switch {
	case s.room.removed.Load():
		return &queueroom.Decision{Outcome: queueroom.Rejected}
	case s.room.queue.Suspended():
		return &queueroom.Decision{Outcome: queueroom.Admitted}
	}
	s.setup = s.room.setup.Load()
	d := s.room.queue.Visit(ctx, now, s.request)
	s.room.countDecision(d)
	return &d
}

// tell appends what a decision means to the visitor, and says whether that is the
// stream's end.
func (s *stream) tell(b []byte, now time.Time, d *queueroom.Decision) (told []byte, over bool) {
	switch {
	case d.Outcome == queueroom.Admitted:
		s.gate.streams.call(s.room, s.id) // their other streams
		return append(b, "event: admitted\ndata: {}\n\n"...), true
	case d.Outcome != queueroom.Queued:
		return append(b, "event: closed\ndata: {}\n\n"...), true
	case d.Ticket.ID != s.id:
		return b, true // whoever they are now, their next request is to be told
	}
	s.request.Ticket = d.Ticket
	s.due = now.Add(s.room.queue.DueIn(now, d.Ticket))
	if s.request.Called && s.room.settings().Method.OrdersBuckets() {
		s.gate.streams.rest(s.room, s.id, s.due)
	}
	return s.place(b, d), false
}

// place appends the visitor's own numbers: those that JSON has for them.
func (s *stream) place(b []byte, d *queueroom.Decision) []byte {
	return append(append(append(b, "event: place\ndata: "...), s.setup.waitingJSON(s.room.queue.Numbers(), d)...), "\n\n"...)
}
