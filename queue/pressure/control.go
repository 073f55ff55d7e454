package pressure

import (
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// What a Control goes by.
const (
	// Every is how often the factor changes at most.
	Every = 5 * time.Second
	// Step is by how much the factor rises.
	Step = .02
	// Least is how low it falls.
	Least = 1. / 64
	// SlowShare is the share of requests that may take longer than the bound: the bound is one for the 95th percentile.
	SlowShare = .05
	// Recovers is how long it takes at most from Least until nothing is slowed.
	Recovers = 51 * Every

	fewest  = 10 // requests by which a period is judged, alone or with the one before
	slowest = 3  // at least so many of them have to be slow, or to have failed
	longest = 14 // periods that the oldest request that is looked for may have begun in: longer than the longest bound
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
	begun  [longest][groups]int // in the latest periods, the newest first
	figures
}

type figures = Figures

// Factor is what the node would leave of the allowance, above 0 and below 1; 0 if it leaves all of it, as a report has it.
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

// Look judges the origin by what was measured since the last look, once in Every, and returns the period that has ended then; else nil.
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
	copy(c.begun[1:], c.begun[:longest-1])
	for i := range p.groups {
		c.begun[0][i] = p.groups[i].begun
	}
	judged := *p
	if p.Ended() < fewest {
		judged.add(&c.before)
	}
	c.before = *p
	c.judge(&judged, s)
	c.move()
	return p
}

// judge measures a period, with the requests that are still not answered.
func (c *Control) judge(p *Period, s *queue.Settings) {
	all := p.total()
	c.near = false
	c.figures = Figures{Requests: all.ended, Latency: p.Quantile(.95), Median: p.Quantile(.5)}
	if all.ended > 0 {
		c.Errors = float64(all.failed) / float64(all.ended)
	}
	if bound := s.AdmissionControlLatency; bound > 0 {
		c.countStuck(p, bound)
		c.near = p.exceeds(SlowShare, func(t *tally) int { return t.near })
		c.Slow = p.exceeds(SlowShare, func(t *tally) int { return t.slow })
	}
	if bound := s.AdmissionControlErrors; bound > 0 {
		c.Failing = p.exceeds(bound, func(t *tally) int { return t.failed })
	}
}

// countStuck counts requests that have been under way for longer than the bound as slow.
func (c *Control) countStuck(p *Period, bound time.Duration) {
	recent := min(int((bound+Every-1)/Every), longest)
	for i := range p.groups {
		stuck := p.underway[i]
		for k := range recent {
			stuck -= c.begun[k][i]
		}
		if stuck > 0 {
			p.groups[i].add(tally{ended: stuck, near: stuck, slow: stuck})
		}
	}
}

// exceeds reports whether the bad requests are more than a share, without those of the group of paths that has most of them, unless
// most requests are of that group.
func (p *Period) exceeds(share float64, bad func(*tally) int) bool {
	all, worst := p.total(), tally{}
	for _, g := range p.groups {
		if bad(&g) > bad(&worst) {
			worst = g
		}
	}
	ended, n := all.ended, bad(&all)
	if 2*worst.ended <= all.ended {
		ended, n = ended-worst.ended, n-bad(&worst)
	}
	return all.ended >= fewest && n >= slowest && float64(n) > share*float64(ended)
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
