package events

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// heartbeatInterval is how long a stream is silent at most: proxies in between cut off
// what is silent for longer, often after 30 or 60 s.
const heartbeatInterval = 15 * time.Second

// stream is a visitor's open event stream. It checks in for them: their cookie
// cannot follow, so that it ends well before the place in the cookie would.
type stream struct {
	hub      *Hub
	audience *audience
	id       queue.ID

	arrived  atomic.Int64 // by what their place goes, which operators and draws change: a queue.Instant
	wakings  atomic.Int32 // since the stream was last at rest: not 0 while it begins, waits for the crew or acts, and when it has ended
	turn     atomic.Bool  // the visitor's turn has come
	returned atomic.Bool  // another page of theirs has said goodbye for them
	dueAt    atomic.Int64 // when something is due of the stream, by the gate's clock, in nanoseconds since 1970

	// Guarded by the hub's lock.
	index      int       // in the audience's streams
	nextTurnAt time.Time // no turn is announced before
	goodbyeAt  time.Time // when a page of the visitor's said goodbye last

	// Of the goroutine that acts for the stream.
	acting      chan struct{} // has a token while somebody acts for the stream, or stops it: a mutex that is held through calls to the store
	line        Line
	request     room.Request
	checkInAt   time.Time // when the next check-in is due
	endsAt      time.Time
	renewal     renewal
	heartbeatAt time.Time // when something is to be sent again at the latest
	numbers     int       // up to which of their changes the numbers were sent
	unsent      []byte    // what its opening has to tell
	ended       bool      // nothing is to be told any more
	far         bool      // they were when a place was told last
	over        bool      // the line is closed
	gone        bool      // by the visitor
}

func newStream(h *Hub, l *Listener) *stream {
	settings := l.Room.Settings()
	lasts := settings.PlaceKept() / 2
	t := &l.Request.Ticket
	s := &stream{
		hub: h, acting: make(chan struct{}, 1), request: l.Request, id: t.ID,
		endsAt:  l.Now.Add(lasts - time.Duration(h.upTo(uint64(lasts/4)))),
		renewal: renewal{opened: l.Room.StoreTime(l.Now)},
	}
	s.arrived.Store(int64(t.ArrivedAt))
	s.wakings.Store(1)
	s.dueAt.Store(math.MaxInt64)
	return s
}

// opening is what the stream tells first: the decision about the request that opens it. A
// browser that comes again after the stream's end does so at a moment of its own. A stream of
// somebody who is far tells no more than that, for them to come again when a check-in is due.
func (s *stream) opening(now time.Time, d *room.Decision) []byte {
	told := s.appendDecision(nil, now, d)
	again := time.Duration(500+s.hub.upTo(2000)) * time.Millisecond
	if s.far && !s.ended {
		s.ended = true
		again += s.checkInAt.Sub(now)
	}
	return append(fmt.Appendf(nil, "retry: %d\n\n", again.Milliseconds()), told...)
}

// act does what the stream has to do, and closes its line if the stream has ended.
func (s *stream) act() {
	defer s.hub.Survive("event stream")
	s.acting <- struct{}{}
	defer func() { <-s.acting }()
	goesOn := false
	defer func() { // also after a panic
		if !goesOn && !s.over {
			s.over = true
			s.line.Close()
		}
	}()
	goesOn = s.catchUp()
}

// catchUp does what is to be done until the stream is at rest, and says whether it goes on.
func (s *stream) catchUp() bool {
	for !s.over {
		wakings := s.wakings.Load()
		if !s.step() {
			return false
		}
		if s.wakings.CompareAndSwap(wakings, 0) {
			return true
		}
	}
	return false
}

// stop ends a stream whose line is closed. Nobody acts for it from then on.
func (s *stream) stop() {
	s.acting <- struct{}{}
	defer func() { <-s.acting }()
	if !s.over {
		s.over, s.gone = true, true
	}
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// step does what is to be done now, and says whether the stream goes on.
func (s *stream) step() bool {
	now := s.hub.Clock()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = s.appendEvents((*buf)[:0], now)
	if len(*buf) > 0 {
		if _, err := s.line.Write(*buf); err != nil {
			s.gone = true
			return false
		}
		s.heartbeatAt = now.Add(heartbeatInterval)
	}
	ends := s.endsBy(now)
	s.dueAt.Store(min(s.checkInAt.UnixNano(), ends.UnixNano(), s.heartbeatAt.UnixNano()))
	return !s.ended && now.Before(ends) && !s.hub.draining.Load()
}

// appendEvents appends what the stream has to send at now.
func (s *stream) appendEvents(b []byte, now time.Time) []byte {
	b = append(b, s.unsent...)
	s.unsent = nil
	if due := s.checkInDue(now); due && !s.ended {
		b = s.checkIn(b, now)
	}
	if numbers := s.audience.latest.Load(); !s.ended && numbers != nil && numbers.change != s.numbers {
		s.numbers = numbers.change
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
	s.request.Ask.Prompt = room.Unprompted
	switch {
	case s.turn.Swap(false):
		s.request.Ask.Prompt = room.Called
		if s.returned.Load() {
			s.wakeUp() // for that, too
		}
	case s.returned.Swap(false):
		s.request.Ask.Prompt = room.Returned
	}
	return s.request.Ask.Prompt != room.Unprompted || !now.Before(s.checkInAt)
}

// checkIn makes the visitor's check-in, and appends what is decided.
func (s *stream) checkIn(b []byte, now time.Time) []byte {
	d := s.audience.room.Visit(context.Background(), now, s.request)
	return s.appendDecision(b, now, &d)
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
	s.ended = d.Ticket.Number != s.request.Ticket.Number // the cookie gets it with the answer to their next request, too
	s.takeTicket(now, d.Ticket)
	var place []byte
	place, s.far = s.audience.room.Place(now, d)
	return append(append(append(b, "event: place\ndata: "...), place...), "\n\n"...)
}

// takeTicket goes on with the ticket t. In fifo a check-in at the visitor's turn counts
// once before the next that is due, so that their turn is not announced until then.
func (s *stream) takeTicket(now time.Time, t queue.Ticket) {
	of := s.audience.room
	s.request.Ticket = t
	s.arrived.Store(int64(t.ArrivedAt))
	s.checkInAt = now.Add(of.DueIn(now, t))
	if s.request.Ask.Prompt == room.Called && of.Settings().Method.OrdersBuckets() {
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

// wakeUp never waits: a stream that acts looks again when it has.
func (s *stream) wakeUp() {
	if s.wakings.Add(1) == 1 {
		s.hub.crew.add(s)
	}
}
