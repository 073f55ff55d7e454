package pressure_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
)

const stay = 4 * time.Minute

// day is a shadow that has watched a crowd for some hours: it grows to a peak and shrinks again.
// Each of its people stays for some minutes. latency is the origin's in seconds with so many
// people.
func day(t *testing.T, seed uint64, peak float64, latency func(active float64) float64) pressure.Proposal {
	t.Helper()
	var (
		rng     = rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // for a crowd
		s       pressure.Shadow
		meter   = pressure.NewMeter()
		leaving = map[int]int{}
		active  int
		minute  int
	)
	const seconds = 2 * 3600
	for now := range seconds {
		active -= leaving[now]
		if now%60 == 0 {
			minute = 0
		}
		rate := peak / stay.Seconds() * math.Pow(math.Sin(math.Pi*float64(now)/seconds), 2)
		come := int(rate + rng.Float64())
		for range come {
			leaving[now+1+int(rng.ExpFloat64()*stay.Seconds())]++
		}
		active, minute = active+come, minute+come
		s.Follow(&queue.Status{Now: start.Add(time.Duration(now) * time.Second), Active: active, Admitted: minute})
		for range min(active/10, 16) {
			took := latency(float64(active)) * math.Exp(rng.NormFloat64()*.3)
			if rng.IntN(50) == 0 {
				took *= 20 // a report
			}
			meter.End(meter.Begin(queue.ID{}, "/"), time.Duration(took*float64(time.Second)), pressure.Answered, 0)
		}
		if now%5 == 4 {
			s.Note(meter.Turn())
		}
	}
	p, seen := s.Propose()
	require.True(t, seen)
	return p
}

func TestProposalFindsTheKneeWithinATenth(t *testing.T) {
	for name, latency := range map[string]func(active, knee float64) float64{
		// People who wait for an answer send no other request, so the latency grows with their
		// number.
		"saturation":           func(active, knee float64) float64 { return .1 * max(1, active/knee) },
		"a steep one":          func(active, knee float64) float64 { return .05 + .4*max(0, active/knee-1) },
		"slower all the while": func(active, knee float64) float64 { return .1 + .05*active/knee + .5*max(0, active/knee-1) },
	} {
		for _, knee := range []float64{120, 800} {
			for seed := range uint64(3) {
				t.Run(fmt.Sprintf("%s at %.0f, seed %d", name, knee, seed), func(t *testing.T) {
					t.Parallel()
					p := day(t, seed, 2*knee, func(active float64) float64 { return latency(active, knee) })
					require.False(t, p.AtLeast)
					assert.InEpsilon(t, knee, p.TotalActive, .1)
					assert.InEpsilon(t, knee/stay.Minutes(), p.NewPerMinute, .1)
					assert.InEpsilon(t, stay.Seconds(), p.Stay.Seconds(), .05)
				})
			}
		}
	}
}

func TestProposalSaysThatNoKneeWasSeen(t *testing.T) {
	for name, latency := range map[string]func(active float64) float64{
		"constant":     func(float64) float64 { return .1 },
		"growing":      func(active float64) float64 { return .1 + active/1000 },
		"far away":     func(active float64) float64 { return .1 * max(1, active/5000) },
		"just reached": func(active float64) float64 { return .1 * max(1, active/480) },
	} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				t.Parallel()
				p := day(t, seed, 500, latency)
				assert.True(t, p.AtLeast)
				assert.Zero(t, p.Knee)
				assert.Equal(t, []int{p.PeakActive, p.PeakArrivals}, []int{p.TotalActive, p.NewPerMinute})
				assert.InEpsilon(t, 500, p.PeakActive, .15)
			})
		}
	}
}

func TestShadowThatHasSeenNobodyProposesNothing(t *testing.T) {
	var s pressure.Shadow
	for second := range 60 {
		s.Follow(&queue.Status{Now: start.Add(time.Duration(second) * time.Second)})
	}
	_, seen := s.Propose()
	assert.False(t, seen)
}
