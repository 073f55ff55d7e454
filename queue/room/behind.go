package room

import (
	"math"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// What a crowd costs its store are the cells that it is told of. So a node leaves those who are behind
// to reports that tell of many at once: what is decided meanwhile goes by those who are ahead. A node
// that is killed may leave check-ins of the last FarToldWithin untold. Until their visitors make the next
// one at another node, they are missing in the places of people who are far from the head.

// buckets are those that begin in a stretch of time.
type buckets struct{ from, until queue.Instant }

func (b buckets) has(bucket queue.Instant) bool { return b.from <= bucket && bucket < b.until }

// behind are the buckets behind all who claim: the store has to know who is present in the others
// before it decides. A newcomer has everybody ahead. The caller holds mu.
func (x *exchange) behind(claims []queue.Claim) buckets {
	last := queue.Instant(0)
	for i := range claims {
		if claims[i].Newcomer() {
			return buckets{}
		}
		last = max(last, claims[i].Cell.Bucket)
	}
	return buckets{x.after(last), math.MaxInt64}
}

// farBehind are the buckets of visitors who ask rarely, but for newcomers, of whom others are to know;
// and none once the time is over by which the store is to know of them, too. The caller holds mu.
func (x *exchange) farBehind(at queue.Instant) buckets {
	rules, ahead := x.conditions.rules.Load(), 0
	if rules.slack > 0 && at.Sub(x.all) < rules.FarToldWithin() {
		for _, b := range x.conditions.view.Load().synced.Buckets {
			if rules.FarInterval(float64(ahead)) >= 2*rules.RefreshInterval { // they asked rarely before, too
				return buckets{x.after(b.Bucket), at.Add(-queue.Lately)}
			}
			ahead += b.Waiting
		}
	}
	x.all = at
	return buckets{}
}

// after is where those begin who are behind everybody in a bucket. Visitors move from a bucket that
// is being cut to later ones as they check in, and newcomers to the one that they arrived in: the
// store is never told of a half of that.
func (x *exchange) after(bucket queue.Instant) queue.Instant {
	view, rules := x.conditions.view.Load().synced, x.conditions.rules.Load()
	end := bucket.Floor(rules.LongestBucket()).Add(rules.LongestBucket())
	i, _ := view.Boundaries.Find(bucket + 1)
	for i < len(view.Boundaries) && view.Boundaries[i].Settles > view.Now {
		i++
	}
	if i < len(view.Boundaries) {
		end = min(end, view.Boundaries[i].At)
	}
	return end
}
