package pressure

import (
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// What a Control goes by.
const (
	// Every is how often the factor changes at most.
	Every = 5 * time.Second
	// Step is by how much the factor rises.
	Step = .02
	// Least is how low it falls.
	Least = 1. / 64
	// SlowShare is the share of requests that may take longer than the bound: the bound is one for
	// the 95th percentile.
	SlowShare = .05
	// Recovers is how long it takes at most from Least until nothing is slowed.
	Recovers = 51 * Every

	fewest  = 10 // requests by which a period is judged, alone or with the one before
	slowest = 5  // visitors at least for whom some of them have to be slow, or to have failed
)

// Figures are what a node has measured of an origin lately, and what it makes of it.
type Figures struct {
	Factor   float64       // that this node would leave of the allowance; 1 for all of it
	Requests int           // that were measured; with too few the rest says little
	Latency  time.Duration // within which 95 of 100 of them were answered; 0 without any
	Median   time.Duration // the same of 50 of 100
	Errors   float64       // share of those that failed
	Slow     bool          // the bound of the latency is passed
	Failing  bool          // the bound of the errors is passed
}

// Control has a node's factor. It is not safe for concurrent use. Its zero value slows nothing.
type Control struct {
	slowed float64 // by how much less than 1 the factor is
	near   bool    // the latency is near its bound
	next   queue.Instant
	before Period
	figures
}

type figures = Figures

// Factor is what the node would leave of the allowance, above 0 and below 1; 0 if it leaves all of
// it, as a report has it.
func (c *Control) Factor() float64 {
	if c.slowed == 0 {
		return 0
	}
	return 1 - c.slowed
}

// Figures are those of the latest look.
func (c *Control) Figures() Figures {
	f := c.figures
	f.Factor = 1 - c.slowed
	return f
}

// Look judges the origin by what was measured since the last look, once in Every, and returns the
// period that has ended then; else nil.
func (c *Control) Look(at queue.Instant, m *Meter, s *queue.Settings) *Period {
	switch {
	case !s.Measures():
		*c = Control{}
		return nil
	case c.next == 0:
		c.next = at.Add(Every)
		return nil
	case at < c.next:
		return nil
	}
	c.next = max(c.next.Add(Every), at) // after a time without looks too
	p := m.Turn()
	judged := *p
	if len(p.ended) < fewest {
		judged.add(&c.before)
	}
	c.before = *p
	c.judge(&judged, s)
	c.move()
	return p
}

// judge measures a period, with the requests that are still not answered.
func (c *Control) judge(p *Period, s *queue.Settings) {
	c.near = false
	c.figures = Figures{Requests: p.Ended(), Latency: p.Quantile(.95), Median: p.Quantile(.5)}
	if c.Requests > 0 {
		c.Errors = float64(p.failed) / float64(c.Requests)
	}
	b := ballot(p.ended)
	if bound := s.AdmissionControlLatency; bound > 0 {
		b = slices.Concat(b, p.stuck(bound))
		c.near = b.exceeds(SlowShare, near)
		c.Slow = b.exceeds(SlowShare, slow)
	}
	if bound := s.AdmissionControlErrors; bound > 0 {
		c.Failing = b.exceeds(bound, failed)
	}
}

// stuck are the requests that have been under way for longer than the bound: they count as slow.
func (p *Period) stuck(bound time.Duration) (b ballot) {
	for _, r := range p.underway {
		if time.Duration(r.age-1)*Every >= bound {
			r.marks = near | slow
			b = append(b, r)
		}
	}
	return b
}

// move moves the factor.
func (c *Control) move() {
	switch {
	case c.Slow || c.Failing:
		c.slowed = min(1-(1-c.slowed)/2, 1-Least)
	case c.near: // to let more in would pass the bound
	case c.slowed < Step*3/2:
		c.slowed = 0
	default:
		c.slowed -= Step
	}
}
