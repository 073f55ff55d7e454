package queue

import (
	"math"
	"time"
)

// leastJitter is the least jitter of refresh intervals where every check-in is a draw.
// Without jitter, slots could open and visitors check in at the same rhythm: then some
// would always be just too late for a slot, and others just in time.
const leastJitter = .15

// Intervals are the refresh intervals to draw from: from least to most, in steps. Visitors
// are told whole seconds. So the intervals are whole seconds, where there are several
// such: else a visitor who keeps to an interval that was rounded up would check in less
// often than one who asks all the time. Where every check-in is a draw, there are always
// several.
func (s *Settings) Intervals() (least, most, step time.Duration) {
	spread := time.Duration(float64(s.RefreshInterval) * s.RefreshJitter).Truncate(time.Millisecond)
	if s.Method.Draws() {
		spread = max(spread, time.Duration(float64(s.RefreshInterval)*leastJitter), time.Second)
	}
	least, most = s.RefreshInterval-spread, s.RefreshInterval+spread
	if first, last := max(WholeSeconds(least), time.Second), most.Truncate(time.Second); first < last {
		return first, last, time.Second
	}
	return least, most, time.Millisecond
}

// farShare is which part of the wait that is ahead may pass until the next check-in. So a line may
// become as many times as fast while its visitors are away, and none of them misses their turn.
const farShare = 10

// FarInterval is the refresh interval of a visitor with so many people ahead, if that is longer than
// [Settings.RefreshInterval]: a farShare-th of the time that the allowance of each minute takes to let
// these in, and never longer than RefreshIntervalMax.
func (s *Settings) FarInterval(ahead float64) time.Duration {
	return min(s.farthest(), time.Duration(ahead*s.apiece()/farShare)*time.Millisecond)
}

// farthest is around what the longest refresh interval of visitors is drawn who are far from the
// head; 0 if they ask as often as others. Their places last for two of these intervals.
//
// Where every check-in is a draw, nobody is far: a slot goes to whoever checks in next, and the odds of
// visitors are alike because their intervals are. In an exact line the store ends each place LineDropout
// after its last check-in, wherever it is. That is as long as three intervals: were they longer, those
// who have left would hold up the line for as much longer, also at its head; and after a loss of the
// store, which admits nobody before all have checked in again, everybody would.
func (s *Settings) farthest() time.Duration {
	longest := time.Duration(float64(min(s.RefreshIntervalMax, s.QueueTicketTTL/2)) / (1 + s.RefreshJitter)).Truncate(time.Second)
	if longest > s.RefreshInterval && s.Method.OrdersBuckets() {
		return longest
	}
	return 0
}

// The first in line have streams of events however long they wait: these are few. Where places are
// exact, streams tell them as the line moves.
const (
	firstWithStreams       = 100
	firstOfLineWithStreams = 1000
)

// Streams reports whether there is a stream of events for a visitor with so many people ahead who is
// told that wait, or 0 for none that is known: for the first in line, and then for those who are let
// in within StreamWithin, by what they are told and by the allowance. Others are far, and ask. So a
// room has no more streams than the allowance lets in within StreamWithin, or firstWithStreams, or in
// an exact line firstOfLineWithStreams. Besides these there are those that were opened before a limit
// was lowered, until they end, and by people who came within the second for which numbers are told.
// ahead is everybody who waits where there is no order, or where it is not known.
//
// Where every check-in is a draw, a visitor may be let in at one gate and load the page at another
// that has not heard of it yet. By a check-in they learn of it in time, unless sessions are shorter
// than an interval: then each visitor has a stream, however many there are.
func (s *Settings) Streams(ahead int, told time.Duration) bool {
	first := firstWithStreams
	switch _, interval, _ := s.Intervals(); {
	case s.Method.HasExactLine():
		first = firstOfLineWithStreams
	case s.Method.Draws() && s.SessionDuration <= interval+s.CheckInSlack():
		return true
	}
	return ahead < first || told <= s.StreamWithin && float64(ahead)*s.apiece() < float64(s.StreamWithin.Milliseconds())
}

// UnnumberedFor is how long after a check-in somebody may come back to a place without a number, once
// a room gets an exact line: before, they may have asked rarely.
func (s *Settings) UnnumberedFor() time.Duration {
	return max(s.LineDropout, WholeSeconds(s.RefreshIntervalMax)+s.CheckInSlack())
}

// apiece is how long it takes at least to let in one visitor, in milliseconds: sessions may end at any
// time, and the allowance of a minute lets in no more.
func (s *Settings) apiece() float64 {
	return float64(time.Minute.Milliseconds()) / float64(max(s.Allowance(), 1))
}

// Returning is how soon after a check-in visitors make the next one who stay: so many milliseconds
// more for each of the people ahead of them, and never later than all do.
type Returning struct {
	Near, All time.Duration
	Each      float64
}

// Returning is how soon after a check-in visitors make the next one. Meanwhile the people ahead of
// them have become fewer by one in farShare at most, unless they leave, or a limit was raised.
func (s *Settings) Returning() Returning {
	near := s.ReturnsWithin()
	r := Returning{Near: near, All: max(near, s.ReturnsAfter(s.farthest()))}
	if r.All > near {
		r.Each = (1 + s.RefreshJitter) * s.apiece() / (farShare - 1)
	}
	return r
}

// Within is how soon after a check-in everybody makes the next one who stays, and has at most so
// many people ahead.
func (r Returning) Within(ahead int) time.Duration {
	return min(r.All, r.Near+time.Duration(math.Ceil(float64(ahead)*r.Each))*time.Millisecond)
}

// ReturnsAfter is how soon after a check-in somebody makes the next one who asks after about so long.
func (s *Settings) ReturnsAfter(interval time.Duration) time.Duration {
	return WholeSeconds(time.Duration(float64(interval)*(1+s.RefreshJitter))) + s.CheckInSlack()
}

// AllReturnWithin is how soon after a check-in every visitor makes the next one who stays, wherever
// in line.
func (s *Settings) AllReturnWithin() time.Duration { return s.Returning().All }
