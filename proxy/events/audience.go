package events

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

const (
	// numbersInterval is the least time between two events of a room's numbers.
	numbersInterval = time.Second
	// turnInterval is the least time between two announcements of a visitor's turn.
	turnInterval = time.Second
)

// audience are the streams of one room. The hub's lock guards it, but for latest.
type audience struct {
	room    Room
	streams []*stream
	byID    map[queue.ID][]*stream

	latest    atomic.Pointer[frame] // the event of the room's numbers
	renewedAt time.Time             // when all were told last
	told      numbersJSON           // what latest tells
	toldAt    queue.Instant         // the time of these numbers
	changes   int                   // how often told has changed
	seen      *estimate.Numbers     // the last numbers that renew has looked at
}

func newAudience(of Room, now time.Time) *audience {
	a := &audience{room: of, byID: map[queue.ID][]*stream{}}
	a.renew(now, of.Numbers())
	return a
}

// add adds a stream, unless its visitor has too many.
func (a *audience) add(s *stream) bool {
	own := a.byID[s.id]
	if len(own) >= maxStreams {
		return false
	}
	a.refresh(a.room.Numbers())
	s.audience, s.index = a, len(a.streams)
	if len(own) > 0 {
		s.nextTurnAt = own[0].nextTurnAt
	}
	a.streams, a.byID[s.id] = append(a.streams, s), append(own, s)
	return true
}

// remove takes a stream out, and says whether it was the last of its visitor.
func (a *audience) remove(s *stream) (last bool) {
	end := len(a.streams) - 1
	moved := a.streams[end]
	a.streams[s.index], moved.index = moved, s.index
	a.streams[end] = nil
	a.streams = a.streams[:end]
	a.byID[s.id] = slices.DeleteFunc(a.byID[s.id], func(o *stream) bool { return o == s })
	if len(a.byID[s.id]) > 0 {
		return false
	}
	delete(a.byID, s.id)
	return true
}

// beat wakes the streams that have something to do at now.
func (a *audience) beat(now time.Time) {
	renewed := a.renew(now, a.room.Numbers())
	if a.room.SoldOut() {
		a.close()
		return
	}
	a.announceTurns(now, a.room.Turns())
	for _, s := range a.streams {
		if due := s.takeDue(now); due || renewed {
			s.wakeUp()
		}
	}
}

// close has everyone check in, who are all told that the room is closed.
func (a *audience) close() {
	for _, s := range a.streams {
		s.takeTurn()
	}
}

// renew makes the event of the room's numbers if they have changed, once a
// numbersInterval at most, and says whether it has.
func (a *audience) renew(now time.Time, n *estimate.Numbers) bool {
	if n == a.seen || now.Sub(a.renewedAt) < numbersInterval {
		return false
	}
	a.seen = n
	if n.Incomplete && n.Settings.Method.HasExactLine() {
		return false // each would work out a place without those who are missing
	}
	told := numbersOf(n)
	if a.latest.Load() != nil && told.tellsLike(&a.told) {
		return false
	}
	a.renewedAt = now
	a.changes++
	a.tell(told, n.At)
	return true
}

// refresh gives latest the time of the newest numbers where they tell nothing new: a stream that
// begins tells a place of now before.
func (a *audience) refresh(n *estimate.Numbers) {
	if n.At.Sub(a.toldAt) < numbersInterval {
		return
	}
	if told := numbersOf(n); told.tellsLike(&a.told) {
		a.tell(told, n.At)
	}
}

// tell makes latest.
func (a *audience) tell(told numbersJSON, at queue.Instant) {
	a.told, a.toldAt = told, at
	a.latest.Store(told.frame(at, a.changes))
}

// announceTurns has those check in whose turn has come.
func (a *audience) announceTurns(now time.Time, turns room.Turns) {
	if turns.None() {
		return
	}
	for _, id := range turns.IDs {
		if own := a.byID[id]; len(own) > 0 {
			a.announceTurn(now, own[0])
		}
	}
	a.announceSlots(now, turns)
}

// announceSlots announces the turns of fifo: of each bucket the first to have arrived
// have theirs, as many as slots are kept for it.
func (a *audience) announceSlots(now time.Time, turns room.Turns) {
	announced := map[queue.Instant]int{} // by bucket
	for _, s := range a.withSlots(turns) {
		bucket, slots := turns.Slots(queue.Instant(s.arrived.Load()))
		if announced[bucket] < slots && (s.asking(now) || a.announceTurn(now, s)) {
			announced[bucket]++
		}
	}
}

// withSlots returns a stream of each visitor in whose bucket slots are kept, in the
// order of their arrival.
func (a *audience) withSlots(turns room.Turns) []*stream {
	var found []*stream
	for _, s := range a.streams {
		if _, slots := turns.Slots(queue.Instant(s.arrived.Load())); slots > 0 && a.byID[s.id][0] == s {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(s, o *stream) int { return cmp.Compare(s.arrived.Load(), o.arrived.Load()) })
	return found
}

// announceTurn has the visitor of a stream check in, unless it is too soon for that,
// and says whether it has.
func (a *audience) announceTurn(now time.Time, s *stream) bool {
	if now.Before(s.nextTurnAt) {
		return false
	}
	a.postponeTurns(s.id, now.Add(turnInterval))
	s.takeTurn()
	return true
}

// postponeTurns has no turn of a visitor announced before then.
func (a *audience) postponeTurns(id queue.ID, then time.Time) {
	for _, s := range a.byID[id] {
		if s.nextTurnAt.Before(then) {
			s.nextTurnAt = then
		}
	}
}
