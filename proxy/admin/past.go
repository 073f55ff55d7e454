package admin

import (
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
)

// maximaOver is the time of which the largest numbers are told.
const maximaOver = 24 * time.Hour

// addHistory adds to a room what the record has of it: the largest numbers, how many gave up, waits,
// and charts. The record has all rooms of a family together, and so nothing of each of them.
func (a *api) addHistory(r *http.Request, v *dashboard.Now, of Room) {
	if v.Family = of.Describe().Family != ""; v.Family {
		return
	}
	now := a.Clock()
	end := now.Add(time.Second) // so that the running minute is in it
	past := a.Record.Excerpt(v.Room.Name, now.Add(-maximaOver), end)
	addMaxima(v.Measures, past.Minutes)
	lately := record.Within(past.Minutes, now.Add(-waitsOver), end)
	v.Waits = waitsOf(waitsIn(lately))
	if gaveUp := record.Sum(lately).GaveUp; gaveUp != nil && !hasLine(of) { // in an exact line nobody knows them
		v.Measures = slices.Insert(v.Measures, 1, dashboard.Measure{Name: "Gave up", Now: *gaveUp, Hint: "In the last hour, before it was their turn"})
	}
	shown := rangeOf(r)
	for _, one := range ranges {
		v.Ranges = append(v.Ranges, dashboard.Tab{Name: one.name, Path: "/rooms/" + v.Room.Name + "?range=" + one.key, Current: one.key == shown.key})
	}
	from := now.Add(-shown.lasts)
	if shown.lasts > maximaOver {
		past, v.Every = a.Record.Excerpt(v.Room.Name, from, end), time.Minute
	}
	if recent := record.Within(past.Minutes, from, end); len(recent) > 1 {
		v.Charts = chartsOf(recent, past.Changes, end, zoneOf(r.URL.Query()))
	}
}

// timeRange is a time that charts may show.
type timeRange struct {
	key, name string
	lasts     time.Duration
}

// ranges are all of them: up to what the record keeps.
var ranges = []timeRange{
	{"1h", "1 hour", time.Hour}, {"6h", "6 hours", 6 * time.Hour}, {"24h", "24 hours", 24 * time.Hour}, {"7d", "7 days", 7 * 24 * time.Hour},
	{"14d", "14 days", record.Days * 24 * time.Hour},
}

// rangeOf is the one that a request asks for; by default six hours.
func rangeOf(r *http.Request) timeRange {
	for _, one := range ranges {
		if one.key == r.URL.Query().Get("range") {
			return one
		}
	}
	return ranges[1]
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

// toldShort is a change in a line, by whom it was made. A planned event is long.
func toldShort(c record.Change) string {
	what := c.What + ": " + c.ThenInWords()
	if was := c.WasInWords(); was != "" {
		what = c.What + ": " + was + " → " + c.ThenInWords()
	}
	if strings.HasPrefix(c.What, ofEvent) {
		switch "" {
		case c.From:
			what = c.What + " is planned"
		case c.To:
			what = c.What + " is cancelled"
		default:
			what = c.What + " is changed"
		}
	}
	return what + ", by " + c.By
}

// chartsOf draws the charts of some minutes, with the times of a zone, and with the changes that operators have made.
func chartsOf(minutes []record.Minute, changes []record.Change, to time.Time, zone *time.Location) []template.HTML {
	bands := record.Excerpt{Minutes: minutes, Changes: changes}.Bands()
	var marks []chart.Mark
	for _, c := range changes {
		marks = append(marks, chart.Mark{At: c.At, Text: toldShort(c)})
	}
	from := minutes[0].At
	draw := func(l chart.Lines) template.HTML {
		l.Bands, l.Marks, l.Live, l.From, l.To, l.Zone = bands, marks, true, from, to, zone
		return template.HTML(l.Figure()) //nolint:gosec // package chart escapes all text
	}
	charts := []template.HTML{
		draw(record.Queued.Chart(minutes)),
		draw(record.WaitsChart(from, to, minutes)),
		draw(record.Active.Chart(minutes)),
		draw(record.Admitted.Chart(minutes)),
	}
	sum := record.Sum(minutes)
	if sum.GaveUp != nil && *sum.GaveUp > 0 {
		charts = append(charts, draw(record.GaveUpChart(minutes)))
	}
	if sum.OriginAnswers > 0 {
		charts = append(charts, draw(record.LatencyChart(minutes)))
	}
	if sum.OriginErrors+sum.OriginFaults > 0 {
		charts = append(charts, draw(record.FaultsChart(minutes)))
	}
	return charts
}
