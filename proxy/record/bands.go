package record

import (
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
)

// Bands are the times in which something was in force that explains a chart: an event, its
// prequeue, a hold of operators, and a room that was closed because nothing was left. They are as
// long as the minutes in which that was so. A short gap in what is known ends none that is there
// after it.
func Bands(minutes []Minute) []chart.Band {
	var bands []chart.Band
	var known time.Time      // the end of the latest minute that is known
	open := map[string]int{} // by name: which of the bands is the latest
	for _, m := range minutes {
		if m.Room == nil {
			continue
		}
		for _, name := range m.Room.inForce() {
			i, found := open[name]
			if !found || bands[i].To.Before(known) || m.At.Sub(known) > shortGap {
				i = len(bands)
				open[name] = i
				bands = append(bands, chart.Band{Name: name, From: m.At})
			}
			bands[i].To = m.At.Add(time.Minute)
		}
		known = m.At.Add(time.Minute)
	}
	return bands
}

// shortGap is how long a gap is at most that ends no band.
const shortGap = 15 * time.Minute

// inForce names what was in force.
func (s *Standing) inForce() []string {
	var names []string
	switch {
	case s.Prequeue:
		names = append(names, "prequeue of "+s.Event)
	case s.Event != "":
		names = append(names, "event "+s.Event)
	}
	if s.Held {
		names = append(names, "held by operators")
	}
	if s.SoldOut {
		names = append(names, "sold out")
	}
	return names
}
