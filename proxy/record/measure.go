package record

import (
	"math"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

// Measure is a number of a whole room in a minute, and what it is called.
type Measure struct {
	Title string
	name  string                             // of the line in its chart
	limit string                             // what the limit is called; "" for none
	of    func(*Standing) (value, limit int) // limit is 0 for none
}

// The measures.
var (
	// Active are the most sessions, against total_active_users.
	Active = Measure{"In at once", "in", "most at once", func(s *Standing) (value, limit int) { return s.ActiveMost, s.TotalActiveUsers }}
	// Queued are the most people present in line. There is no limit.
	Queued = Measure{"In line", "in line", "", func(s *Standing) (value, limit int) { return s.QueuedMost, 0 }}
	// Admitted are those who were let in, against new_users_per_minute.
	Admitted = Measure{"Let in each minute", "let in", "most a minute", func(s *Standing) (value, limit int) { return s.Admitted, s.NewUsersPerMinute }}
)

// Within returns the minutes that began in a time, of some that are in order.
func Within(minutes []Minute, from, to time.Time) []Minute {
	at := func(m Minute, t time.Time) int { return m.At.Compare(t) }
	begin, _ := slices.BinarySearchFunc(minutes, from, at)
	end, _ := slices.BinarySearchFunc(minutes, to, at)
	return minutes[begin:max(begin, end)]
}

// Chart returns the chart of a measure, with its limit if it has one.
func (m Measure) Chart(minutes []Minute) chart.Lines {
	l := chart.Lines{Title: m.Title, Lines: []chart.Line{{Name: m.name, Filled: true}}}
	if m.limit != "" {
		l.Lines = append(l.Lines, chart.Line{Name: m.limit, Limit: true})
	}
	for _, minute := range minutes {
		values := [...]float64{math.NaN(), math.NaN()}
		if minute.Room != nil {
			value, limit := m.of(minute.Room)
			values = [...]float64{float64(value), float64(limit)}
		}
		l.Moments = append(l.Moments, minute.At)
		for i := range l.Lines {
			l.Lines[i].Values = append(l.Lines[i].Values, values[i])
		}
	}
	return l
}

// WaitsChart is the chart of the waits of those who were let in, by when they were, and of what they
// were told.
func WaitsChart(from, to time.Time, minutes []Minute) chart.Lines {
	step := time.Minute
	for to.Sub(from)/step > 150 {
		step += time.Minute
	}
	l := chart.Lines{Title: "Waits of those who got in, in minutes", From: from, To: to, Step: step,
		Lines: []chart.Line{{Name: "half at most"}, {Name: "95 %"}, {Name: "told"}}}
	for at := from; at.Before(to); at = at.Add(step) {
		var waited, told waits.Counts
		for len(minutes) > 0 && minutes[0].At.Before(at.Add(step)) {
			waited, told = waited.Plus(minutes[0].Waits), told.Plus(minutes[0].Told)
			minutes = minutes[1:]
		}
		l.Moments = append(l.Moments, at)
		for i, v := range []float64{percentile(waited, .5), percentile(waited, .95), percentile(told, .5)} {
			l.Lines[i].Values = append(l.Lines[i].Values, v)
		}
	}
	return l
}

// percentile is one of the waits in minutes; unknown where there are none.
func percentile(c waits.Counts, share float64) float64 {
	if len(c) == 0 {
		return math.NaN()
	}
	return c.Percentile(share).Minutes()
}

// GaveUpChart is the chart of those who waited and gave up.
func GaveUpChart(minutes []Minute) chart.Lines {
	return ownChart("Gave up each minute, known while there is one gate", minutes, chart.Line{Name: "gave up", Filled: true}, func(o *Own) float64 {
		if o.GaveUp == nil {
			return math.NaN()
		}
		return float64(*o.GaveUp)
	})
}

// FaultsChart is the chart of requests that the origin left unanswered, or answered with a status of
// 5xx.
func FaultsChart(minutes []Minute) chart.Lines {
	return ownChart("Requests that the origin failed, each minute", minutes, chart.Line{Name: "failed", Filled: true},
		func(o *Own) float64 { return float64(o.OriginErrors + o.OriginFaults) })
}

// LatencyChart is the chart of how long the origin took to begin its answers.
func LatencyChart(minutes []Minute) chart.Lines {
	return ownChart("How long the origin takes, in milliseconds", minutes, chart.Line{Name: "on average"}, func(o *Own) float64 {
		if o.OriginAnswers == 0 {
			return math.NaN()
		}
		return math.Round(10_000*o.OriginSeconds/float64(o.OriginAnswers)) / 10
	})
}

// ownChart is the chart of one line of what gates have done.
func ownChart(title string, minutes []Minute, line chart.Line, of func(*Own) float64) chart.Lines {
	l := chart.Lines{Title: title}
	for i := range minutes {
		l.Moments = append(l.Moments, minutes[i].At)
		line.Values = append(line.Values, of(&minutes[i].Own))
	}
	l.Lines = []chart.Line{line}
	return l
}

// Peak is the largest value of something, when it was, and the limit at that time.
type Peak struct {
	Most  int       `json:"most"`
	At    time.Time `json:"at"`
	Limit int       `json:"limit,omitempty"`
	Over  int       `json:"minutesOver,omitempty"` // minutes in which it was above the limit in force at their end
}

// PeakOf returns the first of the largest values of a measure; nil if none is known.
func PeakOf(minutes []Minute, of Measure) *Peak {
	var p *Peak
	over := 0
	for _, m := range minutes {
		if m.Room == nil {
			continue
		}
		value, limit := of.of(m.Room)
		if limit > 0 && value > limit {
			over++
		}
		if p == nil || value > p.Most {
			p = &Peak{Most: value, At: m.At, Limit: limit}
		}
	}
	if p != nil {
		p.Over = over
	}
	return p
}
