package simulate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
)

// origin is a site that gets slow with too many people on it: up to its capacity a page takes
// OriginLatency on average, and with twice as many twice as long. Single pages vary.
type origin struct {
	capacity int
	latency  time.Duration
	bound    time.Duration // of admission control; 0 without
	rng      *rand.Rand

	inside  int // people
	window  queue.Instant
	pages   []time.Duration // of the window
	all     []time.Duration
	over    int           // windows whose 95th percentile was over the bound,
	windows int           // of those in which there were any pages
	most    time.Duration // that such a percentile was
	lowest  float64       // factor
	last    float64
}

// originVaries is by how much the latencies of single pages vary: the standard deviation of their
// logarithm.
const originVaries = .2

func newOrigin(c Config) *origin {
	if c.OriginCapacity == 0 {
		return nil
	}
	return &origin{capacity: c.OriginCapacity, latency: c.OriginLatency, bound: c.Room.AdmissionControlLatency,
		rng: random(c, streamOrigin), window: start, lowest: 1, last: 1}
}

func (c *Config) validateOrigin() []error {
	var errs []error
	if c.OriginCapacity < 0 || c.OriginCapacity > 1_000_000_000 {
		errs = append(errs, fmt.Errorf("origin_capacity is %d: must be from 0 to 1000000000", c.OriginCapacity))
	}
	if c.OriginCapacity > 0 && (c.OriginLatency < time.Millisecond || c.OriginLatency > time.Minute) {
		errs = append(errs, fmt.Errorf("origin_latency is %v: must be from 1ms to 1m", c.OriginLatency))
	}
	if c.OriginCapacity == 0 && c.Room.ControlsAdmissions() {
		errs = append(errs, errors.New("admission_control_latency is of no use without origin_capacity: the origin never gets slow"))
	}
	return errs
}

// page is a page view of somebody who is in, at a node: how long the origin takes for it.
func (o *origin) page(n *node, visitor queue.ID) time.Duration {
	load := max(1, float64(o.inside)/float64(o.capacity))
	took := time.Duration(float64(o.latency) * load * math.Exp(o.rng.NormFloat64()*originVaries))
	if n.room.Measures() {
		n.room.FromOrigin(n.room.ToOrigin(visitor, "/"), took, pressure.Answered)
	}
	o.pages = append(o.pages, took)
	return took
}

// entersSite, leavesSite and pageOf tell the site of people, where it is one that gets slow.
func (r *run) entersSite() {
	if r.site != nil {
		r.site.inside++
	}
}

func (r *run) leavesSite() {
	if r.site != nil {
		r.site.inside--
	}
}

func (r *run) pageOf(n *node, visitor queue.ID) time.Duration {
	if r.site == nil {
		return 0
	}
	return r.site.page(n, visitor)
}

// look notes how the origin was doing, once in a while.
func (o *origin) look(now queue.Instant, factor float64) {
	if factor > 0 {
		o.lowest, o.last = min(o.lowest, factor), factor
	}
	if now.Sub(o.window) < pressure.Every {
		return
	}
	o.window = now
	if len(o.pages) > 0 {
		o.all = append(o.all, o.pages...)
		slices.Sort(o.pages)
		p95 := measure.Percentile(o.pages, .95)
		o.windows++
		o.most = max(o.most, p95)
		if o.bound > 0 && p95 > o.bound {
			o.over++
		}
	}
	o.pages = o.pages[:0]
}

// Origin is how the origin was doing.
type Origin struct {
	P50          float64 `json:"p50_seconds"` // of all pages
	P95          float64 `json:"p95_seconds"`
	Worst        float64 `json:"worst_p95_seconds"` // of five seconds
	OverShare    float64 `json:"over_share"`        // share of the time in which the 95th percentile was over the bound
	LowestFactor float64 `json:"lowest_factor"`     // by which admissions were slowed
	LastFactor   float64 `json:"last_factor"`       // in the end; 1 if nothing is slowed any more
}

func (o *origin) result() *Origin {
	if o == nil {
		return nil
	}
	slices.Sort(o.all)
	return &Origin{
		P50: measure.Percentile(o.all, .5).Seconds(), P95: measure.Percentile(o.all, .95).Seconds(), Worst: o.most.Seconds(),
		OverShare: float64(o.over) / float64(max(1, o.windows)), LowestFactor: o.lowest, LastFactor: o.last,
	}
}

// origin writes how the origin was doing, where there is one that gets slow.
func (t *table) origin(c Config) {
	if !t.has(func(r *Result) bool { return r.Origin != nil }) {
		return
	}
	t.head(fmt.Sprintf("Origin (a page takes %[2]s up to %[1]s people)", measure.Grouped(c.OriginCapacity), c.OriginLatency))
	t.row("a page, 50 % at most", func(r *Result) string { return measure.Seconds(r.Origin.P50) })
	t.row("95 %", func(r *Result) string { return measure.Seconds(r.Origin.P95) })
	t.row("95 % in the worst five seconds", func(r *Result) string { return measure.Seconds(r.Origin.Worst) })
	if bound := c.Room.AdmissionControlLatency; bound > 0 {
		t.row(fmt.Sprintf("time over the bound of %s", measure.Short(bound)), func(r *Result) string { return measure.Share(r.Origin.OverShare) })
		t.row("admissions slowed to, at least", func(r *Result) string { return measure.Share(r.Origin.LowestFactor) })
		t.row("… in the end", func(r *Result) string { return measure.Share(r.Origin.LastFactor) })
	}
	t.row("let in a minute, on average", func(r *Result) string {
		return fmt.Sprintf("%.1f", float64(r.People.Admitted)/max(1, r.LastedSeconds/60))
	})
}
