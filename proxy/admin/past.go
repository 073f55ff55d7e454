package admin

import (
	"html/template"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
)

const (
	// chartsOver is the time that the charts show.
	chartsOver = 6 * time.Hour
	// maximaOver is the time of which the largest numbers are told.
	maximaOver = 24 * time.Hour
	// maxChanges is how many changes the dashboard lists.
	maxChanges = 50
)

// addHistory adds to a room what the record has of it: the largest numbers, waits, changes, and charts where they are wanted.
// The record has all rooms of a family together, and so of each of them only the changes.
func (a *api) addHistory(v *dashboard.Room, own, charts bool) {
	now := a.Clock()
	past := a.Record.Excerpt(v.Name, now.Add(-maximaOver), now.Add(time.Second))
	v.Changes = changesOf(past.Changes)
	if !own {
		v.Family = true
		return
	}
	addMaxima(v.Measures, past.Minutes)
	v.Waits = waitsOf(waitsIn(since(past.Minutes, now.Add(-waitsOver))))
	v.Elsewhere = !charts
	if recent := since(past.Minutes, now.Add(-chartsOver)); charts && len(recent) > 1 {
		v.Charts = chartsOf(recent)
	}
}

// since returns the minutes from a moment on.
func since(minutes []record.Minute, from time.Time) []record.Minute {
	i, _ := slices.BinarySearchFunc(minutes, from, func(m record.Minute, at time.Time) int { return m.At.Compare(at) })
	return minutes[i:]
}

// addMaxima adds the largest of each number: active, queued, and admitted in a minute.
func addMaxima(measures []dashboard.Measure, minutes []record.Minute) {
	var most [3]int
	for i, m := range measures {
		most[i] = m.Now
	}
	for _, m := range minutes {
		if s := m.Room; s != nil {
			most = [...]int{max(most[0], s.ActiveMost), max(most[1], s.QueuedMost), max(most[2], s.Admitted)}
		}
	}
	for i := range measures {
		measures[i].Max = strconv.Itoa(most[i])
	}
}

func waitsOf(w waitsJSON) dashboard.Waits {
	words := func(p *percentilesJSON) dashboard.Percentiles {
		if p == nil {
			return dashboard.Percentiles{P50: "–", P95: "–"}
		}
		return dashboard.Percentiles{P50: dashboard.FormatWait(p.P50), P95: dashboard.FormatWait(p.P95)}
	}
	v := dashboard.Waits{Visitors: w.Visitors, Told: words(w.Told), True: words(w.Waited)}
	if v.Knew = w.Knew; w.Knew > 0 {
		v.InTime = 100 * w.InTime / w.Knew
	}
	return v
}

// changesOf lists changes, the latest first.
func changesOf(list []record.Change) []dashboard.Change {
	var changes []dashboard.Change
	for _, c := range slices.Backward(list[max(0, len(list)-maxChanges):]) {
		changes = append(changes, dashboard.Change{At: c.At, By: c.By, What: c.What, From: inWords(c.From), To: inWords(c.To)})
	}
	return changes
}

// chartsOf draws the charts of some minutes.
func chartsOf(minutes []record.Minute) []template.HTML {
	moments := make([]time.Time, len(minutes))
	for i, m := range minutes {
		moments[i] = m.At
	}
	values := func(of func(*record.Standing) int) []float64 {
		list := make([]float64, len(minutes))
		for i, m := range minutes {
			list[i] = math.NaN()
			if m.Room != nil {
				list[i] = float64(of(m.Room))
			}
		}
		return list
	}
	bands := record.Bands(minutes)
	draw := func(title string, lines ...chart.Line) template.HTML {
		return template.HTML(chart.Lines{Title: title, Moments: moments, Lines: lines, Bands: bands}.Figure()) //nolint:gosec // package chart escapes all text
	}
	return []template.HTML{
		draw("Active", chart.Line{Name: "active", Filled: true, Values: values(func(s *record.Standing) int { return s.ActiveMost })},
			chart.Line{Name: "limit", Limit: true, Values: values(func(s *record.Standing) int { return s.TotalActiveUsers })}),
		draw("Queued", chart.Line{Name: "queued", Filled: true, Values: values(func(s *record.Standing) int { return s.QueuedMost })}),
		draw("Admitted a minute", chart.Line{Name: "admitted", Filled: true, Values: values(func(s *record.Standing) int { return s.Admitted })},
			chart.Line{Name: "limit", Limit: true, Values: values(func(s *record.Standing) int { return s.NewUsersPerMinute })}),
	}
}
