package room

import (
	"math"

	"github.com/anteroom-gate/anteroom/queue"
)

// method is what the queueing methods differ in at a node. What they differ in
// everywhere are facts of [queue.Method].
type method struct {
	// ahead counts the people who are ahead of a visitor who has come back, as far as
	// the view tells.
	ahead func(v *view, w waiter) int
	// turns are those whose turn has come, while slots are open.
	turns func(rules *rules, v *view) Turns
	// wait estimates the wait of a visitor who arrived then, where people are let in.
	wait func(n *Numbers, arrived queue.Instant) Wait
}

var methods = [...]method{
	queue.FIFO:        {ahead: aheadByBucket, turns: turnsByBucket, wait: waitInOrder},
	queue.Random:      {ahead: aheadOfNobody, turns: noTurns, wait: waitForADraw},
	queue.Line:        {ahead: aheadByNumber, turns: turnsByNumber, wait: waitInOrder},
	queue.Passthrough: {ahead: aheadOfNobody, turns: noTurns, wait: waitInOrder},
	queue.Reject:      {ahead: aheadByBucket, turns: noTurns, wait: waitInOrder},
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
	ahead := v.before(w.cell.Bucket)
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

// waitInOrder divides the people ahead, with half of those in the visitor's own bucket,
// and one at least, by the admissions per minute.
func waitInOrder(n *Numbers, arrived queue.Instant) Wait {
	people, beside := n.ahead(arrived)
	return Wait{Known: true, Minutes: wholeMinutes(max(float64(people)+float64(beside-1)/2, 1) / n.Rate)}
}

// waitForADraw is n(p) = log(1-p) / log(1-P), where P is the chance to be let in
// during a minute.
func waitForADraw(n *Numbers, _ queue.Instant) Wait {
	chance := n.Rate / float64(max(n.Waiting, 1))
	w := Wait{Known: true, P25: minutesFor(.25, chance), P50: minutesFor(.5, chance), P75: minutesFor(.75, chance)}
	w.Minutes = w.P50
	return w
}

// minutesFor is how many minutes it takes to be let in with probability p.
func minutesFor(p, chance float64) int {
	if chance >= 1 {
		return 1
	}
	return wholeMinutes(math.Log1p(-p) / math.Log1p(-chance))
}
