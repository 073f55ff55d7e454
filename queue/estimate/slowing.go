package estimate

import (
	"math"
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
)

// slowing is how admissions are slowed, and what is expected of that. Nobody knows how long an
// origin stays slow. But one that gets slow with the people on it does so again and again: the
// factor falls, rises until the origin is slow, and falls. As long as it goes as it went the last
// time, it is expected to go on so. Else nobody knows when those who wait are let in.
type slowing struct {
	clear   bool          // nothing was slowed just before
	next    queue.Instant // when the factor is noted next
	falls   bool          // the factor falls, rather than rises
	edge    float64       // the lowest factor of a fall, or the highest of a rise
	whole   bool          // this cycle has been noted from its start on
	cycle   []float64     // the factors since the fall began, one in pressure.Every
	earlier []float64     // those of the cycle before; nil if that is not known
}

const (
	longestCycle = 360 // factors: half an hour
	// A rise ends with a factor that is lower than its highest by this part, and a fall with one
	// that is higher than its lowest.
	turns = .25
	// strays is the part of a cycle by which the next one may be longer, or have let in more or
	// fewer by some moment.
	strays = .25
)

// follow notes the factor.
func (s *slowing) follow(v *queue.View) {
	switch f := v.Factor; {
	case v.Recovering:
	case f <= 0 || f >= 1:
		*s = slowing{clear: true}
	case v.Now >= s.next:
		s.note(f)
		s.next = v.Now.Add(pressure.Every)
	}
}

func (s *slowing) note(f float64) {
	switch {
	case s.next == 0:
		s.falls, s.edge, s.whole = true, f, s.clear
	case s.falls && f > s.edge*(1+turns):
		s.falls, s.edge = false, f
	case s.falls:
		s.edge = min(s.edge, f)
	case f < s.edge*(1-turns):
		s.earlier = nil
		if s.whole && len(s.cycle) < longestCycle {
			s.earlier = s.cycle
		}
		s.falls, s.edge, s.whole, s.cycle = true, f, true, nil
	default:
		s.edge = max(s.edge, f)
	}
	if len(s.cycle) < longestCycle {
		s.cycle = append(s.cycle, f)
	}
}

// coming are the factors of the next time, one in pressure.Every, which are expected again and
// again. There are none while nothing is slowed. It is not ok if nobody knows.
func (s *slowing) coming(v *queue.View) (factors []float64, ok bool) {
	if v.Factor <= 0 || v.Factor >= 1 {
		return nil, true
	}
	n, as := len(s.cycle), len(s.earlier)
	if as == 0 || float64(n) > float64(as)*(1+strays) {
		return nil, false
	}
	all, was := sum(s.earlier), sum(s.earlier[:min(n, as)])
	if is := sum(s.cycle[:min(n, as)]); max(is-was, was-is) > strays*all {
		return nil, false
	}
	n = min(n, as)
	return slices.Concat(s.earlier[n:], s.earlier[:n]), true
}

func sum(factors []float64) (all float64) {
	for _, f := range factors {
		all += f
	}
	return all
}

// slowedRelease is how many are admitted by the end of each pressure.Every, while admissions are
// slowed; after the last it begins anew.
type slowedRelease []float64

func newSlowedRelease(perMinute int, factors []float64) (s slowedRelease) {
	all := 0.
	for _, f := range factors {
		all += queue.Slowed(perMinute, f) * pressure.Every.Minutes()
		s = append(s, all)
	}
	return s
}

// lasts is in how many minutes it begins anew.
func (s slowedRelease) lasts() float64 { return float64(len(s)) * pressure.Every.Minutes() }

// perMinute is how many are admitted in a minute, rounded up.
func (s slowedRelease) perMinute() int { return int(math.Ceil(s[len(s)-1] / s.lasts())) }

// after is in how many minutes somebody is admitted after so many others.
func (s slowedRelease) after(people float64) float64 {
	all := s[len(s)-1]
	rounds := math.Floor(people / all)
	rest := min(max(people-rounds*all, 0), all)
	i, _ := slices.BinarySearch(s, rest)
	before := 0.
	if i > 0 {
		before = s[i-1]
	}
	return rounds*s.lasts() + (float64(i)+(rest-before)/(s[i]-before))*pressure.Every.Minutes()
}
