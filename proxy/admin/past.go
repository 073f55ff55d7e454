package admin

import (
	"html/template"
	"slices"
	"strconv"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/queue"
)

const (
	// chartsOver is the time that the charts show.
	chartsOver = 6 * time.Hour
	// maximaOver is the time of which the largest numbers are told.
	maximaOver = 24 * time.Hour
	// maxChanges is how many changes the dashboard lists.
	maxChanges = 50
)

// addHistory adds to a room what the record has of it: the largest numbers, waits, and charts. The
// record has all rooms of a family together, and so nothing of each of them.
func (a *api) addHistory(v *dashboard.Now, own bool) {
	if v.Family = !own; v.Family {
		return
	}
	now := a.Clock()
	end := now.Add(time.Second) // so that the running minute is in it
	past := a.Record.Excerpt(v.Room.Name, now.Add(-maximaOver), end)
	addMaxima(v.Measures, past.Minutes)
	v.Waits = waitsOf(waitsIn(record.Within(past.Minutes, now.Add(-waitsOver), end)))
	if recent := record.Within(past.Minutes, now.Add(-chartsOver), end); len(recent) > 1 {
		v.Charts = chartsOf(recent)
	}
}

// addMaxima adds the largest of each number: queued, active, and admitted in a minute.
func addMaxima(measures []dashboard.Measure, minutes []record.Minute) {
	for i, of := range []record.Measure{record.Queued, record.Active, record.Admitted} {
		most := measures[i].Now
		if peak := record.PeakOf(minutes, of); peak != nil {
			most = max(most, peak.Most)
		}
		measures[i].Max = strconv.Itoa(most)
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
		f := queue.Setting(c.What)
		changes = append(changes, dashboard.Change{
			At: c.At, By: c.By, What: c.What, From: inWords(c.From), To: inWords(c.To), Done: c.At.UnixMilli(), Setting: f != nil && f.Live,
		})
	}
	return changes
}

// chartsOf draws the charts of some minutes.
func chartsOf(minutes []record.Minute) []template.HTML {
	bands := record.Bands(minutes)
	draw := func(of record.Measure, title, name, limit string) template.HTML {
		l := of.Chart(title, name, limit, minutes)
		l.Bands = bands
		return template.HTML(l.Figure()) //nolint:gosec // package chart escapes all text
	}
	return []template.HTML{
		draw(record.Queued, "In line", "in line", ""),
		draw(record.Active, "In at once", "in", "most at once"),
		draw(record.Admitted, "Let in each minute", "let in", "most a minute"),
	}
}
