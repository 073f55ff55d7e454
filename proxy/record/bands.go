package record

import (
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
)

// Bands are those of its minutes. When a hold of operators began and ended is as the changes have it:
// one may be shorter than what lies between two samples.
func (e Excerpt) Bands() []chart.Band {
	bands := Bands(e.Minutes)
	for _, hold := range holds(e.Changes) {
		near := func(a, b time.Time) bool { return a.Sub(b).Abs() <= together }
		found := false
		for i := range bands {
			b := &bands[i]
			if b.Name != heldByOperators || b.To.Add(together).Before(hold.From) || hold.To.Add(together).Before(b.From) {
				continue
			}
			if found = true; near(b.From, hold.From) {
				b.From = hold.From
			}
			if near(b.To, hold.To) {
				b.To = hold.To
			}
		}
		if !found {
			bands = append(bands, hold)
		}
	}
	slices.SortStableFunc(bands, func(a, b chart.Band) int { return a.From.Compare(b.From) })
	return bands
}

// holds are the times in which operators held everybody new, of which both ends are known.
func holds(changes []Change) (list []chart.Band) {
	began := map[string]time.Time{} // by the setting
	for _, c := range changes {
		off := map[string]string{"queue_all": "false", "hold_active": "off"}[c.What]
		from, held := began[c.What]
		switch {
		case off == "":
		case c.To != off && !held:
			began[c.What] = c.At
		case c.To == off && held:
			list = append(list, chart.Band{Name: heldByOperators, From: from, To: c.At})
			delete(began, c.What)
		}
	}
	return list
}

// Bands are the times in which something was in force that explains a chart: an event, its
// prequeue, a hold of operators, a room that was closed because nothing was left, and a store or an
// origin that did not answer. They are known to the second, or so. A short gap in what is known ends
// none that is there after it.
func Bands(minutes []Minute) []chart.Band {
	var bands []chart.Band
	var known time.Time      // the end of the latest minute that is known
	open := map[string]int{} // by name: which of the bands is the latest
	for _, m := range minutes {
		spans := m.spans()
		for _, s := range spans {
			i, found := open[s.Name]
			goesOn := found && (s.From.Sub(bands[i].To) <= together ||
				m.At.Sub(known) <= shortGap && known.Sub(bands[i].To) <= together && s.From.Sub(m.At) <= together)
			if !goesOn {
				i = len(bands)
				open[s.Name] = i
				bands = append(bands, s)
			}
			if s.To.After(bands[i].To) {
				bands[i].To = s.To
			}
		}
		if m.Room != nil || len(spans) > 0 {
			known = m.At.Add(time.Minute)
		}
	}
	slices.SortStableFunc(bands, func(a, b chart.Band) int { return a.From.Compare(b.From) })
	return bands
}

const (
	// shortGap is how long a gap in what is known is at most that ends no band.
	shortGap = 15 * time.Minute
	// together is how far apart two spans are at most that are one: samples come about once a second.
	together = 2500 * time.Millisecond
)

// spans are those of a minute, in order. A minute of which only the flags are known has them from its
// beginning to its end.
func (m *Minute) spans() []chart.Band {
	if m.Spans == nil && m.Room != nil {
		var whole []chart.Band
		for _, name := range m.Room.inForce() {
			whole = append(whole, chart.Band{Name: name, From: m.At, To: m.At.Add(time.Minute)})
		}
		return whole
	}
	spans := slices.Clone(m.Spans)
	slices.SortStableFunc(spans, func(a, b chart.Band) int { return a.From.Compare(b.From) })
	return spans
}

// was takes in that something has been in force for some time, up to a moment.
func (m *Minute) was(name string, until time.Time, lasted time.Duration) {
	from := until.Add(-lasted)
	for i := range m.Spans {
		if s := &m.Spans[i]; s.Name == name && from.Sub(s.To) <= together {
			s.To = until
			return
		}
	}
	m.Spans = append(m.Spans, chart.Band{Name: name, From: from, To: until})
}

// Names of what is in force.
const (
	heldByOperators = "held by operators"
	soldOut         = "sold out"
	storeAway       = "store unreachable"
	originFailing   = "origin failing"
)

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
		names = append(names, heldByOperators)
	}
	if s.SoldOut {
		names = append(names, soldOut)
	}
	return names
}
