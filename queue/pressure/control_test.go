package pressure_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
)

// bound is that of the latency, and the settings have one of a tenth for errors besides.
const bound = 800 * time.Millisecond

var bounded = queue.Settings{AdmissionControlLatency: bound, AdmissionControlErrors: .1}

var start = queue.At(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))

// origin is one that is measured.
type origin struct {
	meter   *pressure.Meter
	control pressure.Control
	now     queue.Instant
	taken   map[int]bool // entries of the period's visitors
}

func newOrigin() *origin {
	o := &origin{meter: pressure.NewMeter(), now: start, taken: map[int]bool{}}
	o.control.Look(o.now, o.meter, &bounded)
	return o
}

// answers has so many requests for a path be answered, each of another visitor.
func (o *origin) answers(n int, path string, took time.Duration, what pressure.Outcome) {
	for range n {
		o.answer(o.somebody(), path, took, what)
	}
}

// answer has a visitor's request be answered.
func (o *origin) answer(visitor queue.ID, path string, took time.Duration, what pressure.Outcome) {
	o.meter.End(o.meter.Begin(visitor, path), took, what, bound)
}

// somebody is a visitor whose requests count: nobody else of the period has their entry.
func (o *origin) somebody() (visitor queue.ID) {
	for at := 0; ; {
		binary.LittleEndian.PutUint64(visitor[:], rand.Uint64()) //nolint:gosec // for a crowd
		if at = o.meter.EntryOf(visitor); !o.taken[at] {
			o.taken[at] = true
			return visitor
		}
	}
}

// elsewhere is a path that is not measured together with "/".
func (o *origin) elsewhere() string {
	path := "/report"
	for !o.meter.Apart("/", path) {
		path += "s"
	}
	return path
}

// pass lets a period end, and returns the factor.
func (o *origin) pass() float64 {
	o.now = o.now.Add(pressure.Every)
	clear(o.taken)
	o.control.Look(o.now, o.meter, &bounded)
	return o.control.Figures().Factor
}

func TestFactorIsHalvedWhileABoundIsPassed(t *testing.T) {
	for name, pass := range map[string]func(o *origin){
		"latency":            func(o *origin) { o.answers(100, "/", time.Second, pressure.Answered) },
		"one in ten is slow": func(o *origin) { o.answers(90, "/", 0, 0); o.answers(10, "/", time.Second, pressure.Answered) },
		"errors":             func(o *origin) { o.answers(80, "/", 0, 0); o.answers(20, "/", 0, pressure.Failed) },
		"visitors leave":     func(o *origin) { o.answers(50, "/", time.Second, pressure.Left) },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin()
			for _, want := range []float64{.5, .25, .125} {
				pass(o)
				assert.InDelta(t, want, o.pass(), 1e-9)
			}
		})
	}
}

func TestFactorStaysWhileAllIsWell(t *testing.T) {
	for name, pass := range map[string]func(o *origin){
		"nobody asks":             func(*origin) {},
		"all is fast":             func(o *origin) { o.answers(100, "/", bound/2, pressure.Answered) },
		"all is within the bound": func(o *origin) { o.answers(100, "/", bound, pressure.Answered) },
		"few are slow":            func(o *origin) { o.answers(97, "/", 0, 0); o.answers(3, "/", time.Minute, pressure.Answered) },
		"two of two are slow":     func(o *origin) { o.answers(2, "/", time.Minute, pressure.Answered) },
		"few of few are slow":     func(o *origin) { o.answers(10, "/", 0, 0); o.answers(2, "/", time.Minute, pressure.Answered) },
		"few fail":                func(o *origin) { o.answers(91, "/", 0, 0); o.answers(9, "/", 0, pressure.Failed) },
		"visitors leave at once":  func(o *origin) { o.answers(100, "/", 0, pressure.Left) },
		"one path of several is slow": func(o *origin) {
			o.answers(51, "/", 0, 0)
			o.answers(40, o.elsewhere(), time.Minute, pressure.Answered)
		},
		"one path of several always fails": func(o *origin) { o.answers(51, "/", 0, 0); o.answers(40, o.elsewhere(), 0, pressure.Failed) },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin()
			for range 10 {
				pass(o)
				assert.InDelta(t, 1, o.pass(), 0)
			}
			assert.Zero(t, o.control.Factor(), "the store is told of none")
		})
	}
}

// A few visitors ask again and again for paths that are slow, or fail, beside others for whom all
// is well.
func TestAFewVisitorsSlowNobody(t *testing.T) {
	for name, bad := range map[string]struct {
		took time.Duration
		what pressure.Outcome
	}{
		"slow":    {time.Minute, pressure.Answered},
		"failing": {0, pressure.Failed},
		"left":    {time.Minute, pressure.Left},
	} {
		for _, few := range []int{1, 4} {
			for _, others := range []int{0, 1, 5, 20, 300} {
				t.Run(fmt.Sprintf("%s, %d beside %d", name, few, others), func(t *testing.T) {
					o := newOrigin()
					for range 5 {
						for range few {
							visitor := o.somebody()
							for path := range 200 {
								o.answer(visitor, fmt.Sprint("/", path), bad.took, bad.what)
							}
						}
						o.answers(others, "/", 0, pressure.Answered)
						assert.InDelta(t, 1, o.pass(), 0)
					}
				})
			}
		}
	}
}

// Requests that are never answered are a few visitors' too.
func TestAFewVisitorsWhoWaitForNothingSlowNobody(t *testing.T) {
	o := newOrigin()
	for range 4 {
		visitor := o.somebody()
		for path := range 200 {
			o.meter.Begin(visitor, fmt.Sprint("/", path))
		}
	}
	for range 10 {
		o.answers(20, "/", 0, pressure.Answered)
		assert.InDelta(t, 1, o.pass(), 0)
	}
}

// A visitor who asks much has no more weight than another, for what is fast as for what is slow.
func TestWhatOneVisitorFindsFastHidesNothing(t *testing.T) {
	o := newOrigin()
	fast := o.somebody()
	for range 10_000 {
		o.answer(fast, "/", 0, pressure.Answered)
	}
	o.answers(20, "/", time.Second, pressure.Answered)
	assert.InDelta(t, .5, o.pass(), 0)
}

func TestSlowOriginOfOnePathIsSlow(t *testing.T) {
	o := newOrigin()
	o.answers(30, "/", 0, 0)
	o.answers(60, "/shop", time.Second, pressure.Answered)
	assert.InDelta(t, .5, o.pass(), 0)
}

func TestOriginThatAnswersNothingIsSlowBeforeItsTimeout(t *testing.T) {
	o := newOrigin()
	var trips []pressure.Trip
	for range 20 {
		trips = append(trips, o.meter.Begin(o.somebody(), "/"))
	}
	assert.InDelta(t, 1, o.pass(), 0, "they may have begun just now")
	assert.InDelta(t, .5, o.pass(), 0)
	for range 10 {
		o.pass()
	}
	assert.InDelta(t, pressure.Least, o.control.Figures().Factor, 1e-9)
	for _, trip := range trips {
		o.meter.End(trip, time.Minute, pressure.Failed, bound)
	}
	o.pass()
	for range int(pressure.Recovers / pressure.Every) {
		o.pass()
	}
	assert.InDelta(t, 1, o.control.Figures().Factor, 0)
}

func TestFactorIsAlwaysAboveZeroAndRecoversInTime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o, before := newOrigin(), 1.
		for range rapid.IntRange(1, 60).Draw(rt, "periods") {
			took := rapid.SampledFrom([]time.Duration{0, bound, bound + 1, time.Minute}).Draw(rt, "took")
			o.answers(rapid.IntRange(0, 30).Draw(rt, "requests"), "/", took, pressure.Outcome(rapid.IntRange(0, 2).Draw(rt, "outcome")))
			for range rapid.IntRange(1, 4).Draw(rt, "looks") { // in one period
				o.control.Look(o.now.Add(time.Second), o.meter, &bounded)
			}
			factor := o.pass()
			assert.Greater(rt, factor, 0.)
			assert.LessOrEqual(rt, factor, min(1, before+pressure.Step+1e-9), "it rises by a step at most")
			assert.GreaterOrEqual(rt, factor, before/2-1e-9, "it is halved at most once a period")
			before = factor
		}
		o.pass() // what was counted in two periods ends
		o.pass()
		for range int(pressure.Recovers / pressure.Every) {
			o.answers(20, "/", 0, pressure.Answered)
			o.pass()
		}
		assert.InDelta(rt, 1, o.control.Figures().Factor, 0)
	})
}

func TestSettingThatIsSwitchedOffSlowsNothing(t *testing.T) {
	o := newOrigin()
	o.answers(100, "/", time.Minute, pressure.Answered)
	assert.InDelta(t, .5, o.pass(), 0)
	o.control.Look(o.now, o.meter, &queue.Settings{})
	assert.Zero(t, o.control.Factor())
}

func TestFiguresAreThoseOfTheLatestPeriod(t *testing.T) {
	o := newOrigin()
	for ms := range 1000 {
		o.answers(1, "/", time.Duration(ms)*time.Millisecond, pressure.Answered)
	}
	o.answers(0, "/", 0, pressure.Failed)
	o.pass()
	f := o.control.Figures()
	assert.Equal(t, 1000, f.Requests)
	assert.InEpsilon(t, .95, f.Latency.Seconds(), .03)
	assert.InEpsilon(t, .5, f.Median.Seconds(), .03)
	assert.Zero(t, f.Errors)
}

func TestMeasuringAllocatesNothing(t *testing.T) {
	m := pressure.NewMeter()
	assert.Zero(t, testing.AllocsPerRun(100, func() { m.End(m.Begin(queue.ID{}, "/shop"), time.Second, pressure.Answered, bound) }))
}

func BenchmarkMeasure(b *testing.B) {
	m := pressure.NewMeter()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.End(m.Begin(queue.ID{}, "/shop"), time.Second, pressure.Answered, bound)
		}
	})
}
