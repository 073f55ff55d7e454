package proxy

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
)

const (
	// beatInterval is how often it is looked whether streams have something to do.
	beatInterval = 100 * time.Millisecond
	// maxStreams is how many streams one visitor has at a time. Browsers have six
	// connections to a host of HTTP/1.1, and need some for its pages.
	maxStreams = 4
	// callAgain is how soon somebody is called again whose turn goes on.
	callAgain = time.Second
)

// streams are a gate's open event streams. Nothing is written while mu is held:
// a stream that has something to do is woken, and does it.
type streams struct {
	mu    sync.Mutex
	rooms map[*room]*audience // those with a stream
}

// audience are the streams of one room.
type audience struct {
	streams []*stream
	byID    map[queue.ID][]*stream

	numbers atomic.Pointer[frame]
	made    *queueroom.Numbers // what they were made from
	text    []byte             // without their time
	sent    time.Time
}

// add adds a stream, unless its visitor has too many.
func (g *streams) add(s *stream, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.rooms[s.room]
	if a == nil {
		a = &audience{byID: map[queue.ID][]*stream{}}
		a.renew(now, s.room.queue.Numbers())
		if g.rooms == nil {
			g.rooms = map[*room]*audience{}
		}
		g.rooms[s.room] = a
	}
	own := a.byID[s.id]
	if len(own) >= maxStreams {
		return false
	}
	s.audience, s.at = a, len(a.streams)
	if len(own) > 0 {
		s.rest = own[0].rest
	}
	s.next.Store(math.MaxInt64)
	a.streams, a.byID[s.id] = append(a.streams, s), append(own, s)
	return true
}

// remove takes a stream out, and says whether it was the last of its visitor and a
// goodbye was said for them just now.
func (g *streams) remove(s *stream, now time.Time) (gone bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := s.audience
	last := a.streams[len(a.streams)-1]
	a.streams[s.at], last.at = last, s.at
	a.streams[len(a.streams)-1] = nil
	a.streams = a.streams[:len(a.streams)-1]
	a.byID[s.id] = slices.DeleteFunc(a.byID[s.id], func(o *stream) bool { return o == s })
	if len(a.byID[s.id]) == 0 {
		delete(a.byID, s.id)
		gone = !s.goodbye.IsZero() && now.Sub(s.goodbye) <= queue.LineReturn
	}
	if len(a.streams) == 0 {
		delete(g.rooms, s.room)
	}
	return gone
}

// goodbye says whether a visitor has streams here as a page of theirs says goodbye.
// It counts then only if all of these end: the page's own may do so a moment later.
func (g *streams) goodbye(r *room, id queue.ID, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.rooms[r]
	if a == nil {
		return false
	}
	for _, s := range a.byID[id] {
		s.goodbye = now
	}
	return len(a.byID[id]) > 0
}

// stay has a visitor with a stream here check in, because somebody said goodbye for
// them.
func (g *streams) stay(r *room, id queue.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.rooms[r]; a != nil && len(a.byID[id]) > 0 {
		s := a.byID[id][0]
		s.returned.Store(true)
		s.wakeUp()
	}
}

// open counts the streams of a room.
func (g *streams) open(r *room) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.rooms[r]; a != nil {
		return len(a.streams)
	}
	return 0
}

// wakeAll has all streams look whether they go on.
func (g *streams) wakeAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.rooms {
		for _, s := range a.streams {
			s.wakeUp()
		}
	}
}

// wakeUp never waits: a stream that is writing looks again when it has.
func (s *stream) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// call has the streams of a visitor check in.
func (g *streams) call(r *room, id queue.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.rooms[r]; a != nil {
		for _, s := range a.byID[id] {
			s.called.Store(true)
			s.wakeUp()
		}
	}
}

// rest has a visitor not called until then.
func (g *streams) rest(r *room, id queue.ID, until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rooms[r].rest(id, until)
}

func (a *audience) rest(id queue.ID, until time.Time) {
	for _, s := range a.byID[id] {
		if s.rest.Before(until) {
			s.rest = until
		}
	}
}

// beat wakes the streams that have something to do at now. A room in which that
// panics, which survive ends, keeps none of the others from it.
func (g *streams) beat(now time.Time, survive func(doing string)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for r, a := range g.rooms {
		func() {
			defer survive("beat")
			a.beat(now, r)
		}()
	}
}

func (a *audience) beat(now time.Time, r *room) {
	all := a.renew(now, r.queue.Numbers())
	a.callTurns(now, r.queue.Turns())
	for _, s := range a.streams {
		due := now.UnixNano() >= s.next.Load()
		if due {
			// Once; the stream says when again.
			s.next.Store(math.MaxInt64)
		}
		if all || due {
			s.wakeUp()
		}
	}
}

// renew makes the event of the room's numbers if they have changed, once a second
// at most, and says whether it has.
func (a *audience) renew(now time.Time, n *queueroom.Numbers) bool {
	if n == a.made || now.Sub(a.sent) < time.Second {
		return false
	}
	a.made = n
	if n.Incomplete && n.Settings.Method.HasExactLine() {
		return false // each would work out a place without those who are missing
	}
	text := numbersText(n)
	if bytes.Equal(text, a.text) {
		return false
	}
	a.text, a.sent = text, now
	a.numbers.Store(numbersFrame(text, n.At))
	return true
}

// callTurns calls those whose turn has come. In fifo these are of each bucket the
// first to have arrived, as many as slots are kept for it.
func (a *audience) callTurns(now time.Time, turns queueroom.Turns) {
	if turns.None() {
		return
	}
	for _, id := range turns.IDs {
		if own := a.byID[id]; len(own) > 0 {
			a.callOne(now, own[0])
		}
	}
	var present []*stream
	for _, s := range a.streams {
		if _, slots := turns.Slots(s.arrived); slots > 0 && a.byID[s.id][0] == s {
			present = append(present, s)
		}
	}
	slices.SortFunc(present, func(s, o *stream) int { return cmp.Compare(s.arrived, o.arrived) })
	called := map[queue.Instant]int{}
	for _, s := range present {
		bucket, slots := turns.Slots(s.arrived)
		// Whoever was called just now may still be asking for one of the slots.
		asking := now.Before(s.rest) && !s.rest.After(now.Add(callAgain))
		if called[bucket] < slots && (asking || a.callOne(now, s)) {
			called[bucket]++
		}
	}
}

// callOne calls the visitor of a stream, and says whether it has.
func (a *audience) callOne(now time.Time, s *stream) bool {
	if now.Before(s.rest) {
		return false
	}
	a.rest(s.id, now.Add(callAgain))
	s.called.Store(true)
	s.wakeUp()
	return true
}
