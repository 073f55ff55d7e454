package events

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

const (
	// beatInterval is how often the hub looks for streams that have something to do.
	beatInterval = 100 * time.Millisecond
	// maxStreams is how many streams one visitor has at a time. Browsers have six
	// connections to a host of HTTP/1.1, and need some for its pages.
	maxStreams = 4
)

// Room is a room of the gate, as the streams of its visitors know it. Two values of
// one room are equal (==).
type Room interface {
	Numbers() *estimate.Numbers
	Settings() queue.Settings
	Turns() room.Turns

	// StoreTime is the moment of now by the store's clock.
	StoreTime(now time.Time) queue.Instant

	// SoldOut says whether the room is closed because nothing is left.
	SoldOut() bool

	// DueIn is how long after now the next check-in of a waiting ticket counts.
	DueIn(now time.Time, t queue.Ticket) time.Duration

	// Visit decides about a visitor at now. It rejects everyone where the room is
	// gone, and admits everyone where it is suspended.
	Visit(ctx context.Context, now time.Time, q room.Request) room.Decision

	// Place is the JSON object of a queued visitor's own numbers at now. It says whether the
	// visitor is too far from the head of the line for a stream.
	Place(now time.Time, d *room.Decision) (place json.RawMessage, far bool)

	// Leave stops counting a waiting visitor who has gone.
	Leave(now time.Time, t queue.Ticket)
}

// Listener is a visitor who opens a stream.
type Listener struct {
	Room Room
	Now  time.Time // of the request that opens the stream

	// Request is what the stream's check-ins ask; its Ticket is the visitor's at Now.
	Request room.Request

	// Decision is what the room has decided about the request that opens the stream.
	Decision room.Decision
}

// Hub has the open event streams of a gate. It is made by NewHub.
type Hub struct {
	Config
	crew     crew
	draining atomic.Bool

	mu        sync.Mutex
	audiences map[Room]*audience // of the rooms that have a stream
}

// Config is what a Hub works with.
type Config struct {
	Clock  func() time.Time
	Uint64 func() uint64 // draws when streams end, and when their pages come again

	// Turn is called for each goroutine before it acts for streams, which then calls what it returns:
	// so a test in virtual time has those that begin at one moment act one after the other.
	Turn func() (take func())

	// Survive recovers from a panic. Goroutines of the hub's own defer it: what the hub does after
	// it has answered a request.
	Survive func(doing string)

	Detach Detach
}

// NewHub returns a hub.
func NewHub(c Config) *Hub {
	return &Hub{Config: c, crew: crew{turn: c.Turn}, audiences: map[Room]*audience{}}
}

// upTo draws a number below n.
func (h *Hub) upTo(n uint64) uint64 { return h.Uint64() % n }

// Run has the streams do what is due until ctx ends.
func (h *Hub) Run(ctx context.Context) {
	ticker := time.NewTicker(beatInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			h.beat(h.Clock())
		}
	}
}

// Drain ends all streams, those that are opened later too. Their pages open others
// elsewhere.
func (h *Hub) Drain() {
	h.draining.Store(true)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.audiences {
		for _, s := range a.streams {
			s.wakeUp()
		}
	}
}

// Serve answers a request with the events of the listener that find returns. The answer is
// detached if it can be; if not, Serve returns when the stream has ended or its page has gone.
// Where find returns false, it has answered the request itself.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, find func() (l Listener, found bool)) {
	var s *stream
	aside(func() {
		if l, found := find(); found {
			s = h.open(w, r, &l)
		}
	})
	if s == nil || h.Detach(w, r, func(to Line) { h.attend(s, to) }) {
		return
	}
	h.attend(s, newAttached(w, r))
}

// attend has a stream begin, and waits for its end.
func (h *Hub) attend(s *stream, to Line) {
	defer h.Survive("event stream")
	s.line = to
	h.crew.add(s)
	take := h.Turn()
	to.Wait()
	take()
	s.stop()
	h.close(s)
}

// Refuse answers a request for events with 204, at which a browser's EventSource gives
// up: the visitor does not wait, or has as many streams as one visitor may.
func Refuse(w http.ResponseWriter) {
	w.Header()["Cache-Control"] = noStore
	w.WriteHeader(http.StatusNoContent)
}

// open begins a stream. It refuses the request and returns nil if its visitor has too
// many.
func (h *Hub) open(w http.ResponseWriter, r *http.Request, l *Listener) *stream {
	s := newStream(h, l)
	if !h.add(s, l.Room, l.Now) {
		Refuse(w)
		return nil
	}
	opened := false
	defer func() { // also after a panic
		if !opened {
			h.remove(s, l.Now)
		}
	}()
	s.unsent = s.opening(l.Now, &l.Decision)
	sendHeader(w, r)
	opened = true
	return s
}

// close takes a stream out that has ended. If its page was closed, and it was the last
// stream of its visitor, the goodbye counts that the page has said just before.
func (h *Hub) close(s *stream) {
	now := h.Clock()
	if h.remove(s, now) && s.gone {
		s.audience.room.Leave(now, s.request.Ticket)
	}
}

// add adds a stream, unless its visitor has too many.
func (h *Hub) add(s *stream, of Room, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.audiences[of]
	if a == nil {
		a = newAudience(of, now)
		h.audiences[of] = a
	}
	return a.add(s)
}

// remove takes a stream out, and says whether it was the last of its visitor and a
// goodbye was said for them just now.
func (h *Hub) remove(s *stream, now time.Time) (gone bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := s.audience
	last := a.remove(s)
	if len(a.streams) == 0 {
		delete(h.audiences, a.room)
	}
	return last && !s.goodbyeAt.IsZero() && now.Sub(s.goodbyeAt) <= queue.LineReturn
}

// Goodbye takes a page's goodbye, and says whether its visitor has streams here. The
// goodbye counts then once all of these have ended: the page's own may end a moment
// later.
func (h *Hub) Goodbye(of Room, id queue.ID, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	streams := h.streamsOf(of, id)
	for _, s := range streams {
		s.goodbyeAt = now
	}
	return len(streams) > 0
}

// Return has a visitor who has a stream here check in, because a page has said goodbye
// for them.
func (h *Hub) Return(of Room, id queue.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if streams := h.streamsOf(of, id); len(streams) > 0 {
		streams[0].returned.Store(true)
		streams[0].wakeUp()
	}
}

// Enter has a visitor who has streams here check in, because they were let in at another gate: their
// page may have come here before this gate knew of it.
func (h *Hub) Enter(of Room, id queue.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.streamsOf(of, id) {
		s.takeTurn()
	}
}

// streamsOf returns the streams of a visitor. The caller holds mu.
func (h *Hub) streamsOf(of Room, id queue.ID) []*stream {
	if a := h.audiences[of]; a != nil {
		return a.byID[id]
	}
	return nil
}

// wakeOthers has the other streams of the visitor of s check in.
func (h *Hub) wakeOthers(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, other := range s.audience.byID[s.id] {
		if other != s {
			other.takeTurn()
		}
	}
}

// postponeTurns has no turn of the visitor of s announced before then.
func (h *Hub) postponeTurns(s *stream, then time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.audience.postponeTurns(s.id, then)
}

// Count returns how many streams of a room are open.
func (h *Hub) Count(of Room) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.audiences[of]; a != nil {
		return len(a.streams)
	}
	return 0
}

// beat wakes the streams that have something to do at now. A panic in one room keeps
// the others from nothing.
func (h *Hub) beat(now time.Time) {
	h.crew.relieve()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.audiences {
		func() {
			defer h.Survive("beat")
			a.beat(now)
		}()
	}
}

// aside runs f on a goroutine of its own, and waits for it. The stack that a
// goroutine has needed once it keeps for long, and those of streams are many.
func aside(f func()) {
	var failure any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { failure = recover() }()
		f()
	}()
	<-done
	if failure != nil {
		panic(failure)
	}
}
