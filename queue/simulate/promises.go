package simulate

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/room"
)

// promises compares the waits that people were shown with what came of them. Of
// each person it keeps the first answer, and one at random of all of them.
type promises struct {
	rng     *rand.Rand
	people  []shown
	outcome struct{ first, later outcome }
}

// shown is what one person was shown.
type shown struct {
	first, later promise
}

type promise struct {
	at       queue.Instant
	p25, p75 uint32
	minutes  uint32 // zero: unknown
}

// outcome is what became of promises.
type outcome struct {
	unknown          int
	errors           []float64 // shown minus actual, in minutes
	by25, by50, by75 int       // came true by then
	within           int
}

// wait notes the wait w that visitor i, who is v, is shown. The k-th that they are
// shown replaces the one that is kept with a chance of 1/k.
func (p *promises) wait(now queue.Instant, i int32, v *visitor, w room.Wait) {
	v.answers++
	if v.answers > 1 && p.rng.Uint32N(v.answers) != 0 {
		return
	}
	s := &p.people[i]
	s.later = promise{at: now, minutes: uint32(w.Minutes), p25: uint32(w.P25), p75: uint32(w.P75)}
	if v.answers == 1 {
		s.first = s.later
	}
}

// admitted notes that visitor i was let in.
func (p *promises) admitted(now queue.Instant, i int32) {
	if s := &p.people[i]; s.first.at != 0 {
		p.outcome.first.add(s.first, now)
		p.outcome.later.add(s.later, now)
	}
}

func (o *outcome) add(p promise, now queue.Instant) {
	if p.minutes == 0 {
		o.unknown++
		return
	}
	minutes := now.Sub(p.at).Minutes()
	o.errors = append(o.errors, float64(p.minutes)-minutes)
	whole := uint32(max(1, math.Ceil(minutes))) // as those that are shown are
	count := func(n *int, ok bool) {
		if ok {
			*n++
		}
	}
	count(&o.by25, whole <= p.p25)
	count(&o.by50, whole <= p.minutes)
	count(&o.by75, whole <= p.p75)
	count(&o.within, whole >= p.p25 && whole <= p.p75)
}

// accuracy sums up; ranges were shown in random only.
func (o *outcome) accuracy(method queue.Method) Accuracy {
	a := Accuracy{Shown: len(o.errors), Unknown: o.unknown}
	if a.Shown == 0 {
		return a
	}
	absolute, sum := make([]float64, len(o.errors)), 0.0
	for i, e := range o.errors {
		absolute[i] = math.Abs(e)
		sum += e
	}
	slices.Sort(absolute)
	share := func(n int) float64 { return float64(n) / float64(a.Shown) }
	a.MedianErrorMinutes, a.BiasMinutes = percentile(absolute, .5), sum/float64(a.Shown)
	a.InTime = share(o.by50)
	if method.Draws() {
		a.Range = &Range{By25: share(o.by25), By50: share(o.by50), By75: share(o.by75), Within: share(o.within)}
	}
	return a
}
