package estimate

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

const (
	// scoreInterval is the time that a Score sums up.
	scoreInterval = 15 * time.Minute
	// scoreKept is for how long what was told, and what came of it, is kept.
	scoreKept = 24 * time.Hour
	// toldStep is how finely it is noted what newcomers were told.
	toldStep = 50 * time.Millisecond
	// toldFor is for how long newcomers are told a wait by the same numbers, as far as it is noted:
	// while the store is away they are told none.
	toldFor = 5 * time.Second
)

// Score says what came of the waits that visitors were told as they arrived, of those whom
// this node let in during a quarter of an hour.
type Score struct {
	From     queue.Instant
	Visitors int // who were told a wait, and had waited
	InTime   int // of those, who were in by the time that they were told; in random by P50

	// In random, how many were in by P25 and by P75; else 0.
	By25, By75 int

	Near int // of the visitors, whose wait was within NearShare of what they were told; in random from P25 to P75

	// The sums of the waits that they were told, and of those that they had, in whole
	// minutes as they are told.
	ToldMinutes, WaitedMinutes int
}

// NearShare is how far a wait may be from what its visitor was told, as a share of the wait,
// to count as near to it.
const NearShare = .2

// Add adds what came of other waits.
func (s *Score) Add(more Score) {
	s.Visitors, s.InTime = s.Visitors+more.Visitors, s.InTime+more.InTime
	s.By25, s.By75 = s.By25+more.By25, s.By75+more.By75
	s.Near += more.Near
	s.ToldMinutes, s.WaitedMinutes = s.ToldMinutes+more.ToldMinutes, s.WaitedMinutes+more.WaitedMinutes
}

// scores keep a node's own score. What newcomers are told is noted by time of arrival, and
// is about the same at all nodes: so nothing has to travel with a visitor.
type scores struct {
	mu    sync.Mutex
	last  *Numbers   // that newcomers are told by since its moment; nil before the first
	told  []toldWait // to newcomers before, in order of time
	list  []Score    // by quarter of an hour, in order
	total Score

	waited   waits.Counter // of all who were let in from the line
	wereTold waits.Counter // of those who were told a wait, what it was
}

// toldWait is what newcomers were told from one moment to another.
type toldWait struct {
	from, until queue.Instant
	wait        Wait
}

// note takes in what newcomers are told from now on.
func (s *scores) note(n *Numbers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil {
		for from := max(s.last.At, n.At.Add(-toldFor)); from < n.At; from = from.Add(toldStep) {
			s.add(toldWait{from, min(from.Add(toldStep), n.At), s.last.told(from.Add(toldStep/2), n)})
		}
	}
	s.last = n
}

// add takes in what newcomers were told next.
func (s *scores) add(t toldWait) {
	last := len(s.told) - 1
	switch {
	case !t.wait.Known:
	case last >= 0 && s.told[last].until == t.from && s.told[last].wait == t.wait:
		s.told[last].until = t.until
	default:
		past := t.from.Add(-scoreKept)
		s.told = append(slices.DeleteFunc(s.told, func(old toldWait) bool { return old.until < past }), t)
	}
}

// told is what a newcomer of a moment was told by numbers until others replaced these. Who joins an
// exact line is told by their own place: so the next numbers tell how many came meanwhile.
func (n *Numbers) told(arrived queue.Instant, next *Numbers) Wait {
	w := n.Wait(arrived)
	if w.Known && n.Settings.Method.HasExactLine() {
		share := float64(arrived-n.At) / float64(next.At-n.At)
		w = n.timetable().inOrder(float64(n.Waiting) + share*float64(next.Waiting-n.Waiting))
	}
	return w
}

// judge takes in that a visitor was let in who had waited for so long.
func (s *scores) judge(at queue.Instant, waited time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waited.Add(waited)
	told := s.toldAt(at.Add(-waited))
	if !told.Known {
		return
	}
	s.wereTold.Add(time.Duration(told.Minutes) * time.Minute)
	one := told.score(waited)
	s.total.Add(one)
	s.current(at).Add(one)
}

// score is that of a visitor who was told the wait, and has waited for so long.
func (w Wait) score(waited time.Duration) Score {
	oneIf := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	by := func(minutes int) int { return oneIf(waited <= time.Duration(minutes)*time.Minute) }
	whole := wholeMinutes(waited.Minutes())
	near := math.Abs(float64(w.Minutes-whole)) <= NearShare*float64(whole)
	if w.P25 > 0 {
		near = whole >= w.P25 && whole <= w.P75
	}
	return Score{Visitors: 1, InTime: by(w.Minutes), By25: by(w.P25), By75: by(w.P75), Near: oneIf(near), ToldMinutes: w.Minutes, WaitedMinutes: whole}
}

// toldAt is what a newcomer of that moment was told.
func (s *scores) toldAt(arrived queue.Instant) Wait {
	if s.last != nil && arrived >= s.last.At {
		return s.last.Wait(arrived)
	}
	i, found := slices.BinarySearchFunc(s.told, arrived, func(t toldWait, at queue.Instant) int { return cmp.Compare(t.from, at) })
	if !found {
		i--
	}
	if i < 0 || arrived >= s.told[i].until {
		return Wait{}
	}
	return s.told[i].wait
}

// current is the score of the quarter of an hour at a moment.
func (s *scores) current(at queue.Instant) *Score {
	from := at.Floor(scoreInterval)
	if last := len(s.list) - 1; last < 0 || s.list[last].From < from {
		past := at.Add(-scoreKept)
		s.list = slices.DeleteFunc(s.list, func(old Score) bool { return old.From < past })
		s.list = append(s.list, Score{From: from})
	}
	return &s.list[len(s.list)-1]
}

// get returns the quarters of an hour of the last day in which somebody was let in, and
// the sum since the room was made.
func (s *scores) get() (quarters []Score, total Score) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list), s.total
}

// waits returns how long those had waited who were let in from the line, and what those of
// them were told who were told a wait.
func (s *scores) waits() (waited, told waits.Counter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waited, s.wereTold
}
