package load

import (
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
)

// measures are what a run notes as it goes on.
type measures struct {
	requests  int
	failed    int
	firstErr  error
	latencies []time.Duration
	lags      []time.Duration // how much later than due requests were sent
	lasted    time.Duration
	processor time.Duration // that the crowd itself has used
}

// note takes up a person's last exchange.
func (r *run) note(p *person) {
	e := &p.last
	r.lags = append(r.lags, e.sent.Sub(e.due))
	if e.goodbye && !p.Goodbye {
		return // nothing was sent
	}
	r.requests++
	r.latencies = append(r.latencies, e.answered.Sub(e.sent))
	if e.err != nil {
		r.failed++
		if r.firstErr == nil {
			r.firstErr = e.err
		}
	}
}

// stories counts what has become of people.
func (r *run) stories() People {
	c := People{Visitors: len(r.people)}
	for i := range r.people {
		p := &r.people[i]
		count := func(sum *int, ok bool) {
			if ok {
				*sum++
			}
		}
		if p.Bot {
			continue
		}
		c.People++
		count(&c.LetIn, !p.letIn.IsZero())
		count(&c.Waited, p.waits > 0)
		count(&c.GaveUp, p.gaveUp)
		count(&c.Refused, p.refused)
		count(&c.Interrupted, p.interrupted)
		count(&c.StillWaiting, p.phase == waiting)
		count(&c.NotCome, p.joined.IsZero())
	}
	return c
}

// waits are the true waits of those who were let in, and of those who had to wait and were
// told a time, what they were told at first and how long it took.
func (r *run) waits() (all []time.Duration, promised []told) {
	for i := range r.people {
		p := &r.people[i]
		if p.Bot || p.letIn.IsZero() {
			continue
		}
		wait := p.letIn.Sub(p.joined)
		all = append(all, wait)
		if p.told > 0 {
			promised = append(promised, told{told: p.told, took: wait})
		}
	}
	return all, promised
}

// told is a wait that somebody was told, and how long it took.
type told struct{ told, took time.Duration }

// order compares the order in which people were let in with that in which they came.
func (r *run) order() (tau float64, overtaken int) {
	var pairs []measure.Pair
	for i := range r.people {
		if p := &r.people[i]; !p.Bot && !p.letIn.IsZero() {
			pairs = append(pairs, measure.Pair{X: p.joined.UnixNano(), Y: p.letIn.UnixNano()})
		}
	}
	o := measure.NewOvertaking(len(r.people), func(i int) queue.Instant { return queue.At(r.people[i].joined) })
	for _, e := range r.events() {
		switch {
		case e.joins:
			o.Waits(e.person)
		case r.people[e.person].letIn.IsZero():
			o.Leaves(e.person)
		default:
			o.Leaves(e.person)
			o.LetIn(e.person)
		}
	}
	return measure.Kendall(pairs), o.Most
}

// event is a person who joins those who are not in, or who leaves them.
type event struct {
	at     time.Time
	person int
	joins  bool
}

// events are those of the people, in order.
func (r *run) events() []event {
	var events []event
	for i := range r.people {
		p := &r.people[i]
		if p.Bot || p.joined.IsZero() {
			continue
		}
		events = append(events, event{at: p.joined, person: i, joins: true})
		switch {
		case !p.letIn.IsZero():
			events = append(events, event{at: p.letIn, person: i})
		case p.phase == gone:
			events = append(events, event{at: p.last.answered, person: i})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	return events
}

// percentiles sorts durations, and returns some of their percentiles.
func percentiles(of []time.Duration) Percentiles {
	slices.Sort(of)
	at := func(p float64) float64 { return measure.Percentile(of, p).Seconds() }
	return Percentiles{Count: len(of), P50: at(.5), P95: at(.95), P99: at(.99), Max: at(1)}
}
