package room

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/waits"
)

const (
	// scoreInterval is the time that a Score sums up.
	scoreInterval = 15 * time.Minute
	// scoreKept is for how long what was told, and what came of it, is kept.
	scoreKept = 24 * time.Hour
	// toldInterval is how often it is noted what newcomers are told, at most.
	toldInterval = 5 * time.Second
)

// Score says what came of the waits that visitors were told as they arrived, of those whom
// this node let in during a quarter of an hour.
type Score struct {
	From     queue.Instant
	Visitors int // who were told a wait, and had waited
	InTime   int // of those, who were in by the time that they were told; in random by P50

	// In random, how many were in by P25 and by P75; else 0.
	By25, By75 int

	Near int // of the visitors, whose wait was within NearShare of what they were told

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
	told  []toldWait // to newcomers, in order of time
	list  []Score    // by quarter of an hour, in order
	total Score

	waited   waits.Counter // of all who were let in from the line
	wereTold waits.Counter // of those who were told a wait, what it was
}

// toldWait is what newcomers were told from one moment to another.
type toldWait struct {
	at, until queue.Instant
	wait      Wait
}

// note takes in what newcomers are told from now on.
func (s *scores) note(n *Numbers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait, last := n.LongestWait(), len(s.told)-1
	switch {
	case n.Waiting == 0:
		return
	case last >= 0 && s.told[last].follows(n.At, wait):
		s.told[last].until = n.At
		return
	}
	past := n.At.Add(-scoreKept)
	s.told = slices.DeleteFunc(s.told, func(t toldWait) bool { return t.until < past })
	s.told = append(s.told, toldWait{n.At, n.At, wait})
}

// follows reports whether a wait that is told at a moment need not be noted anew.
func (t *toldWait) follows(at queue.Instant, wait Wait) bool {
	return at.Sub(t.at) < toldInterval || t.wait == wait && at.Sub(t.until) < toldInterval
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
	return Score{Visitors: 1, InTime: by(w.Minutes), By25: by(w.P25), By75: by(w.P75), Near: oneIf(near), ToldMinutes: w.Minutes, WaitedMinutes: whole}
}

// toldAt is what a newcomer of that moment was told.
func (s *scores) toldAt(arrived queue.Instant) Wait {
	i, found := slices.BinarySearchFunc(s.told, arrived, func(t toldWait, at queue.Instant) int { return int(t.at - at) })
	if !found {
		i--
	}
	if i < 0 || arrived.Sub(s.told[i].until) > toldInterval {
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
