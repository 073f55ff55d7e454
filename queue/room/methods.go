package room

import (
	"math"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// method is what the queueing methods differ in at a node. What they differ in
// everywhere are facts of [queue.Method].
type method struct {
	// ahead counts the people who are ahead of a visitor who has come back, as far as
	// the view tells.
	ahead func(v *view, w waiter) int
	// turns are those whose turn has come, while slots are open.
	turns func(rules *rules, v *view) Turns
}

var methods = [...]method{
	queue.FIFO:        {ahead: aheadByBucket, turns: turnsByBucket},
	queue.Random:      {ahead: aheadOfNobody, turns: noTurns},
	queue.Line:        {ahead: aheadByNumber, turns: turnsByNumber},
	queue.Passthrough: {ahead: aheadOfNobody, turns: noTurns},
	queue.Reject:      {ahead: aheadByBucket, turns: noTurns},
}

func methodOf(s *queue.Settings) *method { return &methods[s.Method] }

// waiter is a visitor in line: where they are counted, and their number in an exact
// line, or 0.
type waiter struct {
	cell   queue.Cell
	was    queue.Instant // the bucket in which the view counts them, if that is another; else 0
	number uint64
}

// newcomer is a visitor who is not in line: everyone present is ahead of them.
var newcomer = waiter{}

func aheadByBucket(v *view, w waiter) int {
	ahead := v.outlook.Before(w.cell.Bucket)
	if w.was != 0 && w.was < w.cell.Bucket {
		ahead-- // the visitor
	}
	return ahead
}

func aheadByNumber(v *view, w waiter) int {
	if w.number == 0 {
		return math.MaxInt
	}
	return int(int64(w.number - v.synced.FirstNumber))
}

func aheadOfNobody(*view, waiter) int { return 0 }

// turnsByBucket is the turn of those for whom fifo keeps slots.
func turnsByBucket(rules *rules, v *view) Turns {
	return Turns{settings: &rules.Settings, reserved: queue.Reserve(v.Open, v.synced.Buckets)}
}

func turnsByNumber(_ *rules, v *view) Turns { return Turns{IDs: v.synced.Turns} }

// noTurns is random's, too: visitors who were called would draw more often than others.
func noTurns(*rules, *view) Turns { return Turns{} }
