package pressure

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Shadow remembers what came to a room that queues nobody, and what its origin made of it. Its zero
// value has seen nothing. It is not safe for concurrent use.
type Shadow struct {
	since, last  queue.Instant
	active       int
	minute       queue.Instant
	peakActive   int
	peakArrivals int
	arrived      int     // people in all, as far as they count in the time that they stay
	inMinute     int     // of the minute
	stayed       float64 // minutes of people
	first        int     // who were there at the beginning
	bins         map[int]*bin
}

// bin has the latencies that were seen with about so many people in the room.
type bin struct {
	active  float64 // on average
	seen    int
	latency [binSize]float64 // the latest, in seconds
}

const (
	binSize  = 32   // latencies that a bin remembers
	binWidth = 1.03 // from one bin to the next
	mostBins = 512
)

// Follow takes in how many people are in the room, and how many came in this calendar minute, as
// the store tells.
func (s *Shadow) Follow(st *queue.Status) {
	minute := st.Now.Floor(queue.AllowancePeriod)
	if s.since == 0 {
		s.since, s.minute, s.inMinute, s.first = st.Now, minute, st.Admitted, st.Active
	} else {
		s.stayed += float64(s.active) * st.Now.Sub(s.last).Minutes()
		if minute != s.minute {
			s.minute, s.inMinute = minute, 0
		}
		s.arrived += max(0, st.Admitted-s.inMinute)
		s.inMinute = max(s.inMinute, st.Admitted)
	}
	s.last, s.active = st.Now, st.Active
	s.peakActive, s.peakArrivals = max(s.peakActive, st.Active), max(s.peakArrivals, st.Admitted)
}

// Note takes in the median latency of a period.
func (s *Shadow) Note(p *Period) {
	if p.Ended() < fewest || s.active == 0 {
		return
	}
	if s.bins == nil {
		s.bins = map[int]*bin{}
	}
	at := int(math.Log(float64(s.active)) / math.Log(binWidth))
	b := s.bins[at]
	if b == nil {
		if len(s.bins) >= mostBins {
			return
		}
		b = &bin{}
		s.bins[at] = b
	}
	b.latency[b.seen%binSize] = p.Quantile(.5).Seconds()
	b.seen++
	b.active += (float64(s.active) - b.active) / float64(b.seen)
}

// Proposal is what a room's limits could be, by what was seen since a moment.
type Proposal struct {
	Since, Until  queue.Instant
	PeakActive    int           // the most people at a time
	PeakArrivals  int           // the most who came in a calendar minute
	Stay          time.Duration // for how long people stay on average; 0 if nobody knows
	Knee          int           // with so many people in the room the origin begins to get slow; 0 if that was not seen
	Latency       time.Duration // of the origin up to there
	TotalActive   int           // proposed for total_active_users: the knee, or the peak that was seen
	NewPerMinute  int           // proposed for new_users_per_minute: as many as fill the room in the time that they stay
	AtLeast       bool          // the knee was not seen: the origin may bear more than what is proposed
	Sightings     int           // periods that were measured
	Concurrencies int           // numbers of people, a few of a hundred apart, at which it was
}

// Propose proposes limits; false while nobody has come.
func (s *Shadow) Propose() (p Proposal, seen bool) {
	if s.peakActive == 0 && s.peakArrivals == 0 {
		return p, false
	}
	p = Proposal{Since: s.since, Until: s.last, PeakActive: s.peakActive, PeakArrivals: s.peakArrivals, Concurrencies: len(s.bins)}
	for _, b := range s.bins {
		p.Sightings += b.seen
	}
	// Those who are there at an end of the time have stayed for half of their time on average.
	if people := float64(s.arrived) + float64(s.first-s.active)/2; people >= 1 {
		p.Stay = time.Duration(s.stayed / people * float64(time.Minute))
	}
	if knee, latency, ok := findKnee(s.points()); ok {
		p.Knee, p.Latency = int(math.Round(knee)), time.Duration(latency*float64(time.Second))
	}
	p.TotalActive, p.AtLeast = max(1, p.PeakActive), p.Knee == 0
	p.NewPerMinute = max(1, p.PeakArrivals)
	if p.Knee > 0 {
		p.TotalActive = max(1, p.Knee)
		if p.Stay > 0 {
			p.NewPerMinute = max(1, int(math.Round(float64(p.Knee)/p.Stay.Minutes())))
		}
	}
	return p, true
}

// point is the median latency with so many people in the room.
type point struct{ x, y, weight float64 }

func (s *Shadow) points() []point {
	var list []point
	for _, b := range s.bins {
		seen := slices.Clone(b.latency[:min(b.seen, binSize)])
		slices.Sort(seen)
		y := (seen[(len(seen)-1)/2] + seen[len(seen)/2]) / 2
		// The noise grows with the latency, so its relative error counts.
		list = append(list, point{b.active, y, float64(len(seen)) / max(y*y, 1e-12)})
	}
	slices.SortFunc(list, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	return list
}
