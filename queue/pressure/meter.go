package pressure

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
	"time"
)

// Outcome is what became of a request.
type Outcome uint8

// The outcomes.
const (
	Answered Outcome = iota // with a status below 500
	Failed                  // with a status of 500 or above, or not at all
	Left                    // the visitor did not wait for the answer
)

// groups is how many groups the paths fall into.
const groups = 16

// Meter measures what an origin does with the requests of a room. It is safe for concurrent use, apart from Turn, which one goroutine
// calls at a time. It is made by NewMeter.
type Meter struct {
	seed     maphash.Seed
	underway [groups]atomic.Int32
	halves   [2]half
	current  atomic.Uint32 // the half that counts now
}

// half is what was counted in a period.
type half struct {
	groups  [groups]counts
	latency [histogramSize]atomic.Uint32 // of the answers, by bucketOf
}

type counts struct{ begun, ended, near, slow, failed atomic.Int32 }

// nearly is the part of the bound from which on a request is near it.
const nearly = .75

// NewMeter returns a meter that has counted nothing.
func NewMeter() *Meter { return &Meter{seed: maphash.MakeSeed()} }

// Trip is a request that is under way to the origin.
type Trip struct{ group uint8 }

// Begin counts a request for a path, which has to be ended.
func (m *Meter) Begin(path string) Trip {
	t := Trip{m.groupOf(path)}
	m.underway[t.group].Add(1)
	m.halves[m.current.Load()].groups[t.group].begun.Add(1)
	return t
}

// groupOf is the group of a path. It is one of few, so that two paths of a site may share theirs.
func (m *Meter) groupOf(path string) uint8 { return uint8(maphash.String(m.seed, path) % groups) }

// End counts what became of a request. It is slow if it took longer than the bound, which is none if it is 0. Of visitors who have left,
// only those count whom the origin had kept waiting for so long.
func (m *Meter) End(t Trip, took time.Duration, what Outcome, bound time.Duration) {
	m.underway[t.group].Add(-1)
	slow := bound > 0 && took > bound
	if what == Left && !slow {
		return
	}
	h := &m.halves[m.current.Load()]
	c := &h.groups[t.group]
	c.ended.Add(1)
	if slow {
		c.slow.Add(1)
	}
	if bound > 0 && float64(took) > nearly*float64(bound) {
		c.near.Add(1)
	}
	if what == Failed {
		c.failed.Add(1)
	}
	h.latency[bucketOf(took)].Add(1)
}

// Turn begins a new period, and returns what was counted in the one that ends.
func (m *Meter) Turn() *Period {
	was := m.current.Load()
	next := 1 - was
	m.halves[next].clear()
	m.current.Store(next)
	p := &Period{}
	for i := range m.halves[was].groups {
		c := &m.halves[was].groups[i]
		p.groups[i] = tally{begun: int(c.begun.Load()), ended: int(c.ended.Load()), near: int(c.near.Load()), slow: int(c.slow.Load()), failed: int(c.failed.Load())}
		p.underway[i] = int(m.underway[i].Load())
	}
	for i := range p.latency {
		p.latency[i] = m.halves[was].latency[i].Load()
	}
	return p
}

func (h *half) clear() {
	for i := range h.groups {
		c := &h.groups[i]
		for _, n := range [...]*atomic.Int32{&c.begun, &c.ended, &c.near, &c.slow, &c.failed} {
			n.Store(0)
		}
	}
	for i := range h.latency {
		h.latency[i].Store(0)
	}
}

// Period is what was counted in a period.
type Period struct {
	groups   [groups]tally
	underway [groups]int
	latency  [histogramSize]uint32
}

type tally struct{ begun, ended, near, slow, failed int }

func (t *tally) add(more tally) {
	t.begun, t.ended = t.begun+more.begun, t.ended+more.ended
	t.near, t.slow, t.failed = t.near+more.near, t.slow+more.slow, t.failed+more.failed
}

// add adds another period's counts.
func (p *Period) add(more *Period) {
	for i := range p.groups {
		p.groups[i].add(more.groups[i])
	}
	for i := range p.latency {
		p.latency[i] += more.latency[i]
	}
}

// total is the sum of all groups.
func (p *Period) total() (sum tally) {
	for i := range p.groups {
		sum.add(p.groups[i])
	}
	return sum
}

// Ended is how many requests were answered, or ended without an answer.
func (p *Period) Ended() int { return p.total().ended }

// A histogram counts microseconds. Each power of two has eight buckets of one width, from 8 µs on.
const (
	perOctave     = 8
	histogramSize = 24 * perOctave
)

func bucketOf(took time.Duration) int {
	us := uint64(max(took.Microseconds(), perOctave))
	octave := bits.Len64(us) - 4
	return min(octave*perOctave+int(us>>octave)&(perOctave-1), histogramSize-1)
}

// lowest is the least time that falls into a bucket.
func lowest(bucket int) time.Duration {
	return time.Duration(perOctave+bucket%perOctave) << (bucket / perOctave) * time.Microsecond
}

// Quantile is the time within which a part of the requests was answered; 0 without any.
func (p *Period) Quantile(part float64) time.Duration {
	all := 0.
	for _, n := range p.latency {
		all += float64(n)
	}
	rest := all * part
	for i, n := range p.latency {
		if n > 0 && rest <= float64(n) {
			low, high := lowest(i), lowest(i+1)
			return low + time.Duration(float64(high-low)*rest/float64(n))
		}
		rest -= float64(n)
	}
	return 0
}
