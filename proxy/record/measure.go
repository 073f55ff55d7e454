package record

import (
	"math"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
)

// Measure is a number of a whole room in a minute, and its limit; 0 for none.
type Measure func(*Standing) (value, limit int)

// Active are the most sessions, against total_active_users.
func Active(s *Standing) (value, limit int) { return s.ActiveMost, s.TotalActiveUsers }

// Queued are the most people present in line. There is no limit.
func Queued(s *Standing) (value, limit int) { return s.QueuedMost, 0 }

// Admitted are those who were let in, against new_users_per_minute.
func Admitted(s *Standing) (value, limit int) { return s.Admitted, s.NewUsersPerMinute }

// Within returns the minutes that began in a time, of some that are in order.
func Within(minutes []Minute, from, to time.Time) []Minute {
	at := func(m Minute, t time.Time) int { return m.At.Compare(t) }
	begin, _ := slices.BinarySearchFunc(minutes, from, at)
	end, _ := slices.BinarySearchFunc(minutes, to, at)
	return minutes[begin:max(begin, end)]
}

// Chart returns the chart of a measure, with its limit if that has a name.
func (of Measure) Chart(title, name, limit string, minutes []Minute) chart.Lines {
	l := chart.Lines{Title: title, Lines: []chart.Line{{Name: name, Filled: true}}}
	if limit != "" {
		l.Lines = append(l.Lines, chart.Line{Name: limit, Limit: true})
	}
	for _, m := range minutes {
		values := [...]float64{math.NaN(), math.NaN()}
		if m.Room != nil {
			value, limit := of(m.Room)
			values = [...]float64{float64(value), float64(limit)}
		}
		l.Moments = append(l.Moments, m.At)
		for i := range l.Lines {
			l.Lines[i].Values = append(l.Lines[i].Values, values[i])
		}
	}
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
		value, limit := of(m.Room)
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
