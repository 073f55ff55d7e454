package pressure

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Outcome is what became of a request.
type Outcome uint8

// The outcomes.
const (
	Answered Outcome = iota // with a status below 500
	Failed                  // with a status of 500 or above, or not at all
	Left                    // the visitor did not wait for the answer
)

const (
	groups  = 16   // that the paths fall into
	entries = 1024 // visitors whose requests count in a period
)

// Meter measures what an origin does with the requests of a room. It is safe for concurrent use,
// apart from Turn, which one goroutine calls at a time. It is made by NewMeter.
type Meter struct {
	seed    maphash.Seed
	entries func() *[entries]entry
	halves  [2]half
	current atomic.Uint32 // the half that counts now
}

// half is what was counted in a period of all requests.
type half struct {
	failed  atomic.Uint32
	latency [histogramSize]atomic.Uint32 // of the answers, by bucketOf
}

// entry has the requests of one visitor that count: in a period, the first for each group of paths.
type entry struct {
	visitor atomic.Uint64 // 0: nobody's; it changes while mu is held

	mu    sync.Mutex // guards the following
	marks [groups]marks
	age   [groups]uint8 // of the request that is under way and counts, in periods that it has seen; 0 for none
}

// marks are what is known of a request that counts; 0 without one.
type marks uint8

const (
	begun marks = 1 << iota
	ended
	near
	slow
	failed
)

// nearly is the part of the bound from which on a request is near it.
const nearly = .75

// NewMeter returns a meter that has counted nothing. With the first request it takes some 50 KiB of
// memory.
func NewMeter() *Meter {
	return &Meter{seed: maphash.MakeSeed(), entries: sync.OnceValue(func() *[entries]entry { return new([entries]entry) })}
}

// Trip is a request that is under way to the origin.
type Trip struct {
	entry  uint16
	group  uint8
	counts bool
}

// Begin notes a visitor's request for a path, which has to be ended. It counts if it is the
// visitor's first for a path of its group in the period, and none of the others is still under way.
// Of visitors who share an entry, only those of the first count.
func (m *Meter) Begin(visitor queue.ID, path string) Trip {
	who := max(1, maphash.Comparable(m.seed, visitor)) // nobody can choose whose entry they share, as the seed is secret
	t := Trip{entry: uint16(who % entries), group: m.groupOf(path)}
	e := &m.entries()[t.entry]
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.visitor.Load() == 0 {
		e.visitor.Store(who)
	}
	if e.visitor.Load() == who && e.marks[t.group] == 0 && e.age[t.group] == 0 {
		e.marks[t.group], e.age[t.group], t.counts = begun, 1, true
	}
	return t
}

// groupOf is the group of a path. It is one of few, so that two paths of a site may share theirs.
func (m *Meter) groupOf(path string) uint8 { return uint8(maphash.String(m.seed, path) % groups) }

// End counts what became of a request. It is slow if it took longer than the bound, which is none
// if it is 0. Of visitors who have left, only those count whom the origin had kept waiting for so
// long.
func (m *Meter) End(t Trip, took time.Duration, what Outcome, bound time.Duration) {
	found := begun | ended
	if bound > 0 && float64(took) > nearly*float64(bound) {
		found |= near
	}
	if bound > 0 && took > bound {
		found |= slow
	}
	if what == Failed {
		found |= failed
	}
	if what == Left && found&slow == 0 {
		found = 0
	}
	if t.counts {
		m.entries()[t.entry].end(t.group, found)
	}
	if found == 0 {
		return
	}
	h := &m.halves[m.current.Load()]
	if what == Failed {
		h.failed.Add(1)
	}
	h.latency[bucketOf(took)].Add(1)
}

// end ends a request that counts. If nothing was found of it, the visitor's next one counts.
func (e *entry) end(group uint8, found marks) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.marks[group], e.age[group] = found, 0
}

// Turn begins a new period, and returns what was counted in the one that ends.
func (m *Meter) Turn() *Period {
	was := m.current.Load()
	next := 1 - was
	m.halves[next].clear()
	m.current.Store(next)
	p := &Period{failed: int(m.halves[was].failed.Load())}
	for i := range p.latency {
		p.latency[i] = m.halves[was].latency[i].Load()
	}
	all := m.entries()
	for i := range all {
		if visitor := all[i].visitor.Load(); visitor != 0 {
			all[i].turn(visitor, p)
		}
	}
	return p
}

// turn adds what counts of the visitor to the period that ends, and begins a new one.
func (e *entry) turn(visitor uint64, p *Period) {
	e.mu.Lock()
	defer e.mu.Unlock()
	stays := false
	for group := range uint8(groups) {
		if e.marks[group]&ended != 0 {
			p.ended = append(p.ended, request{visitor: visitor, group: group, marks: e.marks[group]})
		}
		if age := &e.age[group]; *age > 0 {
			p.underway = append(p.underway, request{visitor: visitor, group: group, age: *age})
			*age = max(*age, *age+1)
			stays = true
		}
	}
	e.marks = [groups]marks{}
	if !stays {
		e.visitor.Store(0)
	}
}

func (h *half) clear() {
	h.failed.Store(0)
	for i := range h.latency {
		h.latency[i].Store(0)
	}
}

// Period is what was counted in a period: the latency and the failures of all requests, and what
// became of those that count.
type Period struct {
	failed   int
	latency  [histogramSize]uint32
	ended    []request
	underway []request
}

// request is a request that counts.
type request struct {
	visitor uint64
	group   uint8
	marks   marks // what was found, once it has ended
	age     uint8 // periods that it has seen, while it is under way
}

// add adds another period's counts.
func (p *Period) add(more *Period) {
	p.failed += more.failed
	p.ended = slices.Concat(p.ended, more.ended)
	for i := range p.latency {
		p.latency[i] += more.latency[i]
	}
}

// Ended is how many requests were answered, or ended without an answer.
func (p *Period) Ended() (n int) {
	for _, in := range p.latency {
		n += int(in)
	}
	return n
}

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
