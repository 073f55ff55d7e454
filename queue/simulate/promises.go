package simulate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// promises compares the waits that people were shown with what came of them. Of each person
// it keeps the first answer, and one at random of all of them, which then counts for all:
// whoever waits for long is told more often than others.
type promises struct {
	rng     *rand.Rand
	people  []shown
	changed queue.Instant // when the room's settings change last; answers from before do not count
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

// outcome is what became of promises. Each counts for a number of answers.
type outcome struct {
	shown, unknown, outdated int
	errors                   []weighted // shown minus actual, in minutes
	shares                   []weighted // of the error in the wait, both in whole minutes
	told, actual             int        // whole minutes, summed up
	by25, by50, by75         int        // came true by then
	within, sooner           int
}

// weighted is a value that counts for a number of answers.
type weighted struct {
	value float64
	n     int
}

// median is that of values, which it sorts.
func median(values []weighted) float64 {
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	all, below := 0, 0
	for _, v := range values {
		all += v.n
	}
	for _, v := range values {
		if below += v.n; 2*below >= all {
			return v.value
		}
	}
	return 0
}

// wait notes the wait w that visitor i, who is v, is shown. The k-th that they are
// shown replaces the one that is kept with a chance of 1/k.
func (p *promises) wait(now queue.Instant, i int32, v *visitor, w estimate.Wait) {
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

// admitted notes that visitor i, who is v, was let in.
func (p *promises) admitted(now queue.Instant, i int32, v *visitor) {
	if s := &p.people[i]; s.first.at != 0 {
		p.outcome.first.add(s.first, now, p.changed, 1)
		p.outcome.later.add(s.later, now, p.changed, int(v.answers))
	}
}

// add notes what became of a promise that counts for n answers. One from before the room's
// settings changed could not know of that.
func (o *outcome) add(p promise, now, changed queue.Instant, n int) {
	switch {
	case p.minutes == 0:
		o.unknown += n
		return
	case p.at < changed:
		o.outdated += n
		return
	}
	minutes := now.Sub(p.at).Minutes()
	whole := int(max(1, math.Ceil(minutes))) // as those that are shown are
	told := int(p.minutes)
	o.shown += n
	o.told, o.actual = o.told+n*told, o.actual+n*whole
	o.errors = append(o.errors, weighted{float64(told) - minutes, n})
	o.shares = append(o.shares, weighted{math.Abs(float64(told-whole)) / float64(whole), n})
	count := func(sum *int, ok bool) {
		if ok {
			*sum += n
		}
	}
	count(&o.by25, whole <= int(p.p25))
	count(&o.by50, whole <= told)
	count(&o.sooner, whole < told)
	count(&o.by75, whole <= int(p.p75))
	count(&o.within, whole >= int(p.p25) && whole <= int(p.p75))
}

// accuracy sums up; ranges were shown in random only.
func (o *outcome) accuracy(method queue.Method) Accuracy {
	a := Accuracy{Shown: o.shown, Unknown: o.unknown, Outdated: o.outdated}
	if a.Shown == 0 {
		return a
	}
	sum := 0.0
	for i := range o.errors {
		e := &o.errors[i]
		sum += e.value * float64(e.n)
		e.value = math.Abs(e.value)
	}
	share := func(n int) float64 { return float64(n) / float64(a.Shown) }
	a.MedianErrorMinutes, a.BiasMinutes = median(o.errors), sum/float64(a.Shown)
	a.ErrorShare, a.BiasShare = median(o.shares), float64(o.told)/float64(o.actual)-1
	a.InTime, a.Sooner = share(o.by50), share(o.sooner)
	if method.Draws() {
		a.Range = &Range{By25: share(o.by25), By50: share(o.by50), By75: share(o.by75), Within: share(o.within)}
	}
	return a
}
