package world

import (
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
)

// spell is a time in which somebody had a place, by the ticket.
type spell struct {
	who         int
	id          queue.ID
	place       time.Duration   // by when it goes in order; in an exact line the number
	from, until time.Duration   // in which it may have counted
	sure, last  time.Duration   // in which it surely did: from the first of the answers that came in time to the last
	due         time.Duration   // until when it surely counts after that
	surely      bool            // such answers tell it
	late        []time.Duration // when somebody asked later than that
	before      bool            // it may go before others, whatever the place
}

// spells are what an observer of everything knows of who waited, by the answers.
type spells struct {
	h    *History
	all  []*spell
	now  map[queue.ID]*spell
	left time.Duration // for how long a place counts that was left in silence
}

// spellsOf are those of a history.
func spellsOf(h *History) []*spell {
	s := spells{h: h, now: map[queue.ID]*spell{}, left: h.longestInterval()}
	if h.Plan.Settings.Method == queue.Line {
		s.left += h.Plan.Settings.LineDropout
	}
	goodbye, stopped, said := map[int]bool{}, time.Duration(0), map[int]*Event{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.What == Absent && said[e.Of-1] != nil {
			s.isAway(e, said[e.Of-1])
		}
		if e.Who == nobody {
			stopped = s.stands(e, stopped)
			continue
		}
		switch e.What {
		case Waits:
			goodbye[e.Who], said[e.Who] = false, e
			s.waits(e, !kinds.find(h.Plan.People[e.Who].Kind).strange)
		case Copied:
			if e.Outcome == Waits {
				s.waits(e, false)
			}
		case Served, Enters:
			s.enters(e)
		case Goodbye:
			goodbye[e.Who] = true
			s.saysGoodbye(e)
		case Lost:
			goodbye[e.Who] = false
		case Left:
			s.leaves(e, goodbye[e.Who])
		default:
		}
	}
	return s.all
}

// stands takes in that the only gate does not run for a while: those who waited count as if they
// had just asked when it starts. It returns since when it does not.
func (s *spells) stands(e *Event, stopped time.Duration) time.Duration {
	switch {
	case s.h.Plan.Gates > 1:
	case e.What == Died, e.What == Stopped:
		return e.At
	case e.What == Started && stopped > 0:
		for _, p := range s.all {
			if p.until > stopped {
				p.until = max(p.until, e.At+s.left)
			}
		}
	}
	return stopped
}

// placeOf is the place that a ticket tells; 0 for none.
func (h *History) placeOf(t *Ticket) time.Duration {
	switch {
	case t.State != queue.Waiting:
		return 0
	case h.Plan.Settings.Method == queue.Line:
		return time.Duration(t.Number)
	}
	return t.Placed
}

// waits takes in that somebody is told to wait. One who comes back counts until they leave, others
// until they could have come back.
func (s *spells) waits(e *Event, comesBack bool) {
	place := s.h.placeOf(&e.Ticket)
	if place == 0 {
		return
	}
	p := s.now[e.Ticket.ID]
	if p != nil && p.place != place {
		p.until, p = e.At+movesIn, nil
	}
	if p == nil {
		p = &spell{who: e.Who, id: e.Ticket.ID, place: place, from: e.At, sure: e.At, surely: comesBack, before: s.h.goesBefore(e)}
		s.all, s.now[p.id] = append(s.all, p), p
	}
	if p.until = e.At + s.left; comesBack {
		p.until = s.h.Ends + s.left
	}
	if e.At > p.due && p.due > 0 {
		p.sure, p.late = e.At, append(p.late, e.At)
	}
	p.last, p.surely = e.At, p.surely && comesBack
	if p.due = e.At + time.Duration(e.Room.Retry)*time.Second + dueSpare; e.Room.Retry == 0 { // a stream, which goes on
		p.due = e.At + s.h.Plan.Settings.RefreshInterval + dueSpare
	}
}

// isAway takes in that a gate checks in for somebody from now on: if they left with a place that
// they do not know, it gets to know it.
func (s *spells) isAway(e, said *Event) {
	if id := said.Ticket.ID; s.now[id] == nil {
		s.now[id] = &spell{who: e.Of - 1, id: id, from: e.At, until: s.h.Ends + s.left, before: true}
		s.all = append(s.all, s.now[id])
	}
}

const (
	movesIn  = 3 * time.Second        // in which every gate counts a place no more that was left with a goodbye, or is another
	dueSpare = 500 * time.Millisecond // how much later than told somebody may ask and is counted all the time, at least
)

// enters takes in that somebody is let in.
func (s *spells) enters(e *Event) {
	if p := s.now[e.Ticket.ID]; p != nil && e.Sent >= p.from {
		p.until = e.At + movesIn
		delete(s.now, p.id)
	}
}

// cameLate is how many asked later than told just before a moment, whom Redis counts where they
// were for a while yet.
func cameLate(all []*spell, at time.Duration) (n int) {
	for _, p := range all {
		if slices.ContainsFunc(p.late, func(l time.Duration) bool { return l > at-redisstore.Slack-time.Second && l <= at }) {
			n++
		}
	}
	return n
}

// saysGoodbye takes in that somebody counts no more until they are heard of again.
func (s *spells) saysGoodbye(e *Event) {
	for _, p := range s.now {
		if p.who == e.Who {
			p.due = e.At
		}
	}
}

// leaves takes in that somebody has left.
func (s *spells) leaves(e *Event, goodbye bool) {
	for id, p := range s.now {
		if p.who != e.Who || !p.surely {
			continue
		}
		// Who has moved from gate to gate is counted until they could have come back, and so is who has a
		// pass: they may wait with another device.
		if p.until = e.At + s.left; goodbye && s.h.Plan.Gates == 1 && !s.h.goesBefore(e) {
			p.until = e.At + movesIn
		}
		delete(s.now, id)
	}
}

// ahead is how many surely were ahead of a place at a moment, and how many may have been: of those
// whose place is so much earlier, or no more than so much later. It is told from what was known a
// little before.
func ahead(all []*spell, of queue.ID, place, at, grain time.Duration) (least, most int) {
	for _, p := range all {
		if p.id == of {
			continue
		}
		if (p.place < place+grain || p.place == place || p.before) && p.from <= at+toldLate && p.until >= at-toldLate {
			most++
		}
		if p.surely && p.place < place-grain && p.sure <= at-toldLate && p.last >= at+toldLate {
			least++
		}
	}
	return least, most
}

// toldLate is how old what a gate tells may be.
const toldLate = 2 * time.Second

// checkTold finds answers that tell fewer people ahead than surely are, or more than can be.
func checkTold(h *History, breach func(time.Duration, string, ...any)) {
	method := h.Plan.Settings.Method
	if method != queue.FIFO && method != queue.Line || h.Plan.Sale != (Sale{}) {
		return
	}
	all, lost, changes := spellsOf(h), h.only(loses), h.gateChanges()
	_, admitted := read(h)
	for i := range h.Events {
		e := &h.Events[i]
		place := h.placeOf(&e.Ticket)
		if e.What != Waits || !e.Room.UsersAheadKnown || h.goesBefore(e) || place == 0 || !h.remembers(e.At) {
			continue
		}
		grain, near := h.toldWithin(all, admitted, e.At, place)
		least, most := ahead(all, e.Ticket.ID, place, e.At, grain)
		if most += near + h.lostNear(lost, e.At) + h.countedTwice(changes, e.At) + h.notLookedUp(all, place, e.At); e.Room.UsersAhead > most {
			breach(e.At, "%s is told that %d are ahead, and at most %d can be", h.Plan.People[e.Who].Name, e.Room.UsersAhead, most)
			return
		}
		if least -= near; e.Room.UsersAhead < least {
			breach(e.At, "%s is told that %d are ahead, and at least %d are", h.Plan.People[e.Who].Name, e.Room.UsersAhead, least)
			return
		}
	}
}

// toldWithin is how exact a place is that is told: by how much the places of two people differ at
// least who are told in their order, and how many people more or less may be told. In fifo those of
// a bucket are told places as if as many of them had gone on before each as after; several gates
// tell places to within ten seconds of admissions.
func (h *History) toldWithin(all []*spell, admitted []admission, at, place time.Duration) (grain time.Duration, near int) {
	if h.Plan.Settings.Method == queue.Line {
		return 0, 0
	}
	for _, p := range all {
		if p.from <= at && min(p.until, p.last+movesIn) <= at+movesIn+toldLate && p.place > place-bucketLasts && p.place < place+bucketLasts {
			near++
		}
	}
	if h.Plan.Gates == 1 {
		return time.Millisecond, near + 1 // what is told is rounded
	}
	if place > at-hasJustCome {
		near += newAt(all, at)
	}
	return fifoGrain, near + mostWithin(admitted, at, 10*time.Second) + 2
}

// hasJustCome is how long ago somebody came at most who is told a place by how fast people came to
// the other gates just before.
const hasJustCome = 4 * time.Second

// newAt is how many came a little before a moment: as many more may be told.
func newAt(all []*spell, at time.Duration) (n int) {
	for _, p := range all {
		if p.from > at-2*hasJustCome && p.from <= at {
			n++
		}
	}
	return n
}

// bucketLasts is how long a bucket is at most, in a crowd as small as these.
const bucketLasts = time.Minute

// lostNear is how many requests of all that were lost had no answer about a moment, by which
// somebody may have a place of which nobody knows.
func (h *History) lostNear(all []*Event, at time.Duration) (n int) {
	from := at - h.longestInterval()
	for _, e := range all {
		n += oneIf(e.At >= from && e.Sent <= at)
	}
	return n
}

// loses says whether a gate's answer does not come.
func loses(e *Event) bool { return e.What == Lost && e.Gate != 0 }

// notLookedUp is how many may still be counted ahead of a place who have left in silence: the list
// may have been lost by which their places are looked up. They count until they are at the head.
func (h *History) notLookedUp(all []*spell, place, at time.Duration) (n int) {
	for _, f := range h.Plan.Faults {
		if f.Kind != keyLost || f.At > at || h.Plan.Settings.Method != queue.Line {
			continue
		}
		for _, p := range all {
			n += oneIf(p.place < place && p.from <= f.At && p.until > f.At && p.until < at-toldLate)
		}
	}
	return n
}
