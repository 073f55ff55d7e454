package record

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

const (
	// longestGap is the longest time between two samples in which a room is taken to have
	// stood as it does then.
	longestGap = 10 * time.Second
	// pendingMost is how many lines wait at most for a disk that takes nothing.
	pendingMost = 20_000
)

// Sample is how a room stands at a moment.
type Sample struct {
	Room string    // its name
	At   time.Time // by the store's clock: all gates write of the same minutes

	// Known says that the store has told of the room; else Standing is not used. Of that
	// the sums over time are left to the record.
	Known    bool
	Standing Standing
	// Items are what people who wait are told that there is to buy, in JSON: under "" what the room, or the
	// family, has, and under their names that of the rooms of a family which are told something else.
	Items map[string]string

	StoreFailing, OriginFailing bool

	Counted Counted
}

// Counted is what the gate has counted of a room since the gate started.
type Counted struct {
	LetIn        uint64
	Alone        bool // the gate is the only one of the room: else it does not know who gave up
	GaveUp       uint64
	Waits, Told  waits.Counter
	Score        Score
	Refused      Refused
	StoreErrors  uint64
	WithoutStore uint64
	OriginErrors uint64
	Origin       Answers
}

// Answers are those of an origin, or of several.
type Answers struct {
	Count, Faults uint64  // Faults are those with a status of 5xx
	Seconds       float64 // that they took, added up
}

// Plus adds what other origins have answered.
func (a Answers) Plus(o Answers) Answers {
	return Answers{a.Count + o.Count, a.Faults + o.Faults, a.Seconds + o.Seconds}
}

// observe takes in a sample. The caller holds mu.
func (r *Record) observe(now time.Time, s *Sample) {
	of := r.rooms[s.Room]
	if of == nil {
		of = &room{at: now}
		r.rooms[s.Room] = of
	}
	if of.at.IsZero() {
		of.at = now
	}
	m := r.minute(s, of)
	passed := min(now.Sub(of.at), longestGap).Seconds()
	if passed > 0 {
		m.Seconds = min(m.Seconds+passed, 60)
		of.at = now
	}
	lasted := time.Duration(passed * float64(time.Second))
	if s.Known {
		m.stand(&s.Standing, passed)
		for _, name := range s.Standing.inForce() {
			m.was(name, s.At.UTC(), lasted)
		}
		m.Room.offer(s)
	}
	m.add(&s.Counted, &of.counted)
	if s.StoreFailing {
		m.StoreFailingSeconds += passed
		m.was(storeAway, s.At.UTC(), lasted)
	}
	if s.OriginFailing {
		m.OriginFailingSeconds += passed
		m.was(originFailing, s.At.UTC(), lasted)
	}
	of.counted, of.written = s.Counted, false
}

// minute returns the minute of a room that a sample belongs to. If it is a new one, the one
// before is over. A clock that goes back stays in the minute. The caller holds mu.
func (r *Record) minute(s *Sample, of *room) *Minute {
	at, last := s.At.UTC().Truncate(time.Minute), len(of.minutes)-1
	if last >= 0 && !at.After(of.minutes[last].At) {
		return &of.minutes[last]
	}
	r.finish(s.Room, of)
	of.minutes = append(of.minutes, Minute{At: at})
	return &of.minutes[last+1]
}

// finish has the last minute of a room be written. The caller holds mu.
func (r *Record) finish(name string, of *room) {
	if last := len(of.minutes) - 1; last >= 0 && !of.written {
		m := of.minutes[last]
		r.write(line{Room: name, Minute: &m})
		of.written = true
	}
}

// stand takes in how the room stands, as it has done for some seconds. The Standing from before
// stays as it is: somebody may be reading it.
func (m *Minute) stand(s *Standing, seconds float64) {
	old, n := Standing{}, *s
	if m.Room != nil {
		old = *m.Room
	}
	m.Room = &n
	n.ActiveMost, n.QueuedMost = max(old.ActiveMost, s.Active), max(old.QueuedMost, s.Queued)
	n.Admitted, n.TellsMinutes = max(old.Admitted, s.Admitted), max(old.TellsMinutes, s.TellsMinutes)
	n.Items = old.Items
	n.Held, n.SoldOut = old.Held || s.Held, old.SoldOut || s.SoldOut
	if s.Event == "" {
		n.Event, n.Prequeue = old.Event, old.Prequeue
	}
	n.QueueingSeconds, n.UsedSeconds, n.IdleSeconds = old.QueueingSeconds, old.UsedSeconds, old.IdleSeconds
	if s.Queued > 0 {
		n.QueueingSeconds += seconds
		n.UsedSeconds += seconds * float64(s.Active)
		n.IdleSeconds += seconds * float64(min(s.Open, s.Queued))
	}
}

// mostOffers bounds what is kept of a minute in which what there is to buy changes all the time.
const mostOffers = 500

// offer takes in what there is to buy, unless that is so already.
func (s *Standing) offer(now *Sample) {
	const none = "[]"
	last := map[string]string{}
	for _, o := range s.Items {
		last[o.Room] = string(o.Items)
	}
	told := maps.Clone(last)
	for room := range told {
		told[room] = none
	}
	maps.Copy(told, now.Items)
	offers := s.Items[:len(s.Items):len(s.Items)] // somebody may be reading it
	for _, room := range slices.Sorted(maps.Keys(told)) {
		if items := cmp.Or(told[room], none); items != cmp.Or(last[room], none) && len(offers) < mostOffers {
			offers = append(offers, Offer{now.At.UTC(), room, json.RawMessage(items)})
		}
	}
	s.Items = offers
}

// add takes in what has been counted since before.
func (o *Own) add(now, before *Counted) {
	o.LetIn += since(now.LetIn, before.LetIn)
	if now.Alone {
		o.GaveUp = sumOf(o.GaveUp, new(since(now.GaveUp, before.GaveUp)))
	}
	o.Waits = o.Waits.Plus(now.Waits.Since(&before.Waits))
	o.Told = o.Told.Plus(now.Told.Since(&before.Told))
	o.Score = o.Score.plus(now.Score.less(before.Score))
	o.Refused = o.Refused.plus(now.Refused.less(before.Refused))
	o.StoreErrors += since(now.StoreErrors, before.StoreErrors)
	o.WithoutStore += since(now.WithoutStore, before.WithoutStore)
	o.OriginErrors += since(now.OriginErrors, before.OriginErrors)
	o.OriginAnswers += since(now.Origin.Count, before.Origin.Count)
	o.OriginFaults += since(now.Origin.Faults, before.Origin.Faults)
	o.OriginSeconds += max(0, now.Origin.Seconds-before.Origin.Seconds)
}

func since(now, before uint64) int {
	if now < before {
		return 0
	}
	return int(now - before)
}

func (s Score) plus(o Score) Score {
	return Score{s.Visitors + o.Visitors, s.InTime + o.InTime, s.Near + o.Near, s.ToldMinutes + o.ToldMinutes, s.WaitedMinutes + o.WaitedMinutes}
}

func (s Score) less(o Score) Score {
	return s.plus(Score{-o.Visitors, -o.InTime, -o.Near, -o.ToldMinutes, -o.WaitedMinutes})
}

func (r Refused) plus(o Refused) Refused {
	return Refused{
		r.Busy + o.Busy, r.Rejected + o.Rejected, r.Withheld + o.Withheld, r.Uninvited + o.Uninvited,
		r.BadTokens + o.BadTokens, r.BadTickets + o.BadTickets, r.Crowded + o.Crowded,
	}
}

func (r Refused) less(o Refused) Refused {
	return r.plus(Refused{-o.Busy, -o.Rejected, -o.Withheld, -o.Uninvited, -o.BadTokens, -o.BadTickets, -o.Crowded})
}

// Cheats returns the tries to get ahead.
func (r Refused) Cheats() int { return r.BadTokens + r.BadTickets + r.Crowded }

// Sum returns all refused requests.
func (r Refused) Sum() int { return r.Busy + r.Rejected + r.Withheld + r.Uninvited + r.Cheats() }

// write has a line be written by the next flush. The caller holds mu.
func (r *Record) write(l line) {
	if r.files == nil {
		return
	}
	r.keep(append(r.pending, l))
}

// keep has lines wait for the next flush. Where the disk takes none for long, the oldest are
// lost. The caller holds mu.
func (r *Record) keep(lines []line) { r.pending = lines[max(0, len(lines)-pendingMost):] }

// flush writes what is ready to be written.
func (r *Record) flush(now time.Time) {
	if r.files == nil {
		return
	}
	r.mu.Lock()
	lines := r.pending
	r.pending = nil
	r.mu.Unlock()
	left := r.files.Append(now, lines)
	r.mu.Lock()
	r.keep(append(left, r.pending...))
	r.mu.Unlock()
}

// forget drops from memory what is older than a day. The caller holds mu.
func (r *Record) forget(now time.Time) {
	r.horizon = now.Add(-kept)
	for _, of := range r.rooms {
		for len(of.minutes) > 1 && of.minutes[0].At.Before(r.horizon) {
			of.minutes = of.minutes[1:]
		}
	}
	for name, changes := range r.changes {
		for len(changes) > 0 && changes[0].At.Before(r.horizon) {
			changes = changes[1:]
		}
		r.changes[name] = changes
	}
}
