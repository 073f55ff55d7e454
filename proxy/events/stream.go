package events

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/room"
)

// heartbeatInterval is how long a stream is silent at most: proxies in between cut off
// what is silent for longer, often after 30 or 60 s.
const heartbeatInterval = 15 * time.Second

// Header values that all streams share; net/http does not change them.
var (
	noStore     = []string{"no-store"}
	noSniff     = []string{"nosniff"}
	eventStream = []string{"text/event-stream"}
	unbuffered  = []string{"no"}
)

// stream is a visitor's open event stream. It checks in for them: their cookie
// cannot follow, so that it ends well before the place in the cookie would.
type stream struct {
	hub      *Hub
	audience *audience
	out      http.ResponseWriter
	control  *http.ResponseController
	id       queue.ID
	arrived  queue.Instant

	wake     chan struct{} // something is to be done: by the fields below, or by the audience's latest
	turn     atomic.Bool   // the visitor's turn has come
	returned atomic.Bool   // another page of theirs has said goodbye for them
	dueAt    atomic.Int64  // when something is due of the stream, by the gate's clock, in nanoseconds since 1970

	// Guarded by the hub's lock.
	index      int       // in the audience's streams
	nextTurnAt time.Time // no turn is announced before
	goodbyeAt  time.Time // when a page of the visitor's said goodbye last

	// The stream's own.
	request     room.Request
	checkInAt   time.Time // when the next check-in is due
	endsAt      time.Time
	heartbeatAt time.Time // when something is to be sent again at the latest
	numbers     *frame    // the last that were sent
	unsent      []byte    // what its opening has to tell
	ended       bool
}

func newStream(h *Hub, w http.ResponseWriter, l *Listener) *stream {
	lasts := l.Room.Settings().QueueTicketTTL / 2
	t := &l.Request.Ticket
	s := &stream{
		hub: h, out: w, control: http.NewResponseController(w), request: l.Request,
		id: t.ID, arrived: t.ArrivedAt, wake: make(chan struct{}, 1),
		endsAt: l.Now.Add(lasts - rand.N(lasts/4)),
	}
	s.dueAt.Store(math.MaxInt64)
	return s
}

// open sends the header, and prepares what the stream tells first: the decision about
// the request that opens it. A browser that comes again after the stream's end does so
// at a moment of its own.
func (s *stream) open(now time.Time, d *room.Decision) {
	h := s.out.Header()
	h["Cache-Control"], h["Content-Type"], h["X-Content-Type-Options"] = noStore, eventStream, noSniff
	h["X-Accel-Buffering"] = unbuffered
	s.out.WriteHeader(http.StatusOK)
	s.unsent = s.appendDecision(fmt.Appendf(nil, "retry: %d\n\n", 500+rand.N(2000)), now, d)
}

// run sends events until the stream ends or its visitor has gone.
func (s *stream) run(ctx context.Context) {
	for s.step(ctx) {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
	}
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// step does what is to be done now, and says whether the stream goes on.
func (s *stream) step(ctx context.Context) bool {
	now := s.hub.clock()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = s.appendEvents(ctx, (*buf)[:0], now)
	if len(*buf) > 0 {
		if _, err := s.out.Write(*buf); err != nil || s.control.Flush() != nil {
			return false
		}
		s.heartbeatAt = now.Add(heartbeatInterval)
	}
	s.dueAt.Store(min(s.checkInAt.UnixNano(), s.endsAt.UnixNano(), s.heartbeatAt.UnixNano()))
	return !s.ended && now.Before(s.endsAt) && !s.hub.draining.Load()
}

// appendEvents appends what the stream has to send at now.
func (s *stream) appendEvents(ctx context.Context, b []byte, now time.Time) []byte {
	b = append(b, s.unsent...)
	s.unsent = nil
	if due := s.checkInDue(now); due && !s.ended {
		b = s.checkIn(ctx, b, now)
	}
	if numbers := s.audience.latest.Load(); !s.ended && numbers != s.numbers {
		s.numbers = numbers
		b = append(b, numbers.text...)
	}
	if len(b) == 0 && !now.Before(s.heartbeatAt) {
		b = append(b, ":\n\n"...)
	}
	return b
}

// checkInDue says whether the visitor is to check in: at the time that their ticket
// says, when their turn has come, or when they were taken for gone.
func (s *stream) checkInDue(now time.Time) bool {
	s.request.Called, s.request.Returned = s.turn.Swap(false), s.returned.Swap(false)
	return s.request.Called || s.request.Returned || !now.Before(s.checkInAt)
}

// checkIn makes the visitor's check-in, and appends what is decided. A visit may need a
// deep stack.
func (s *stream) checkIn(ctx context.Context, b []byte, now time.Time) []byte {
	aside(func() {
		d := s.audience.room.Visit(ctx, now, s.request)
		b = s.appendDecision(b, now, &d)
	})
	return b
}

// appendDecision appends the event of a decision about the visitor, and ends the
// stream with it unless they wait.
func (s *stream) appendDecision(b []byte, now time.Time, d *room.Decision) []byte {
	switch {
	case d.Outcome == room.Admitted:
		s.ended = true
		s.hub.wakeOthers(s)
		return append(b, "event: admitted\ndata: {}\n\n"...)
	case d.Outcome != room.Queued:
		s.ended = true
		return append(b, "event: closed\ndata: {}\n\n"...)
	case d.Ticket.ID != s.id: // another ticket is theirs, and comes with the answer to their next request
		s.ended = true
		return b
	}
	s.takeTicket(now, d.Ticket)
	return append(append(append(b, "event: place\ndata: "...), s.audience.room.Place(now, d)...), "\n\n"...)
}

// takeTicket goes on with the ticket t. In fifo a check-in at the visitor's turn counts
// once before the next that is due, so that their turn is not announced until then.
func (s *stream) takeTicket(now time.Time, t queue.Ticket) {
	of := s.audience.room
	s.request.Ticket = t
	s.checkInAt = now.Add(of.DueIn(now, t))
	if s.request.Called && of.Settings().Method.OrdersBuckets() {
		s.hub.postponeTurns(s, s.checkInAt)
	}
}

// takeDue says whether something is due of the stream at now; once, until the stream
// says when the next is.
func (s *stream) takeDue(now time.Time) bool {
	if now.UnixNano() < s.dueAt.Load() {
		return false
	}
	s.dueAt.Store(math.MaxInt64)
	return true
}

// asking says whether a turn was announced just now, so that the visitor may still be
// asking for one of the slots.
func (s *stream) asking(now time.Time) bool {
	return now.Before(s.nextTurnAt) && !s.nextTurnAt.After(now.Add(turnInterval))
}

// takeTurn has the stream check in because its visitor's turn has come.
func (s *stream) takeTurn() {
	s.turn.Store(true)
	s.wakeUp()
}

// wakeUp never waits: a stream that is writing looks again when it has.
func (s *stream) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
