package room

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// A pass may put its visitor ahead in line. Where buckets keep the order, the place goes by an
// earlier time; in an exact line by a priority. In random nobody is ahead of anybody, so those
// visitors draw every second instead. They take slots by the one rule as everybody does.

// aheadShare is how large a part of the admissions goes to visitors whose pass puts them ahead of
// the line: so those behind move on. Whoever comes when it is used up waits in the line, and is put
// ahead at a later check-in.
const aheadShare = .5

// aheadBurst is for how long a share that was not used is kept.
const aheadBurst = 10 * time.Second

// turnstile counts who was put ahead of the line at this node.
type turnstile struct {
	spent atomic.Int64 // until when the share is spent (a leaky bucket, as in GCRA), in microseconds of the store's time
}

// take says whether one more may be put ahead, of so many a minute.
func (t *turnstile) take(at queue.Instant, perMinute float64) bool {
	each, now := int64(float64(time.Minute.Microseconds())/perMinute), int64(at)*1000
	for {
		spent := t.spent.Load()
		next := max(spent, now) + each
		if next-now > max(aheadBurst.Microseconds(), each) {
			return false
		}
		if t.spent.CompareAndSwap(spent, next) {
			return true
		}
	}
}

// mayGoAhead says whether the visitor may be put ahead now.
func (v visit) mayGoAhead() bool {
	if v.Ahead != queue.AheadOfLine {
		return v.Ahead == queue.AheadOfAll
	}
	view := v.conditions.view.Load().synced
	perMinute := view.Rate
	if !view.RateKnown {
		perMinute = v.rules.AllowedRate(max(v.rules.SessionLasts(0), time.Second))
	}
	return v.turnstile.take(v.at, max(aheadShare*perMinute, 1)/float64(max(len(view.Nodes), 1)))
}

// putAhead is a waiting ticket with its place ahead, if the visitor's pass says so and their turn
// to be put ahead has come. One whose pass has ended has the place that they would have without it.
func (v visit) putAhead(t queue.Ticket) queue.Ticket {
	if v.Ahead == queue.NotAhead && t.IsAhead() {
		t.ArrivedAt, t.CameAt = t.CameAt, 0
	}
	if v.Ahead != queue.NotAhead && v.rules.Method.OrdersBuckets() && !t.IsAhead() && v.mayGoAhead() {
		t.PutAhead(v.Ahead)
	}
	return t
}

// linePriority is the priority that the visitor claims with in an exact line, where they have one
// of had.
func (v visit) linePriority(had int16) int16 {
	ahead := v.Ahead.Priority()
	if ahead > max(had, v.Priority) && v.rules.Method.HasExactLine() && v.mayGoAhead() {
		return ahead
	}
	return v.Priority
}

// comesSoon is within how long a visitor who draws comes back whose pass puts them ahead; 0 for no
// such time.
func (s situation) comesSoon() time.Duration {
	if s.Ahead == queue.NotAhead || !s.rules.Method.Draws() || s.Ask.isHidden() {
		return 0
	}
	return leastInterval
}

// checkInAhead has a visitor check in who has just joined, and whom a pass puts ahead: nobody else
// may be ahead of them.
func (vs *visits) checkInAhead(ctx context.Context, now time.Time, q Request, joined Decision) Decision {
	if q.Ahead == queue.NotAhead || joined.Outcome != Queued || q.Ticket.State == queue.Waiting || !joined.Issue || q.Ask.Place == NoPlace || q.Ask.Slot == NoSlot {
		return joined
	}
	q.Ticket, q.Ask.Prompt = joined.Ticket, Called
	d := vs.decideOnce(ctx, now, q)
	d.Issue = d.Issue || d.Ticket.State != queue.None
	return d
}
