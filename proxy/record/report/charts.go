package report

import (
	"fmt"
	"html/template"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
)

// Pictures are some charts of the same time.
type Pictures struct {
	Title  string
	Charts []template.HTML
}

// pictures are those of the whole time, and of the part of it in which people waited, if that
// is too short to be seen there.
func (r *Report) pictures() []Pictures {
	whole := window{r.From, r.To}
	busy, isPart := r.busy()
	if !isPart {
		return []Pictures{{"In pictures", drawn(append([]figure{r.active(whole), r.queued(whole)}, r.ofLine(whole)...))}}
	}
	return []Pictures{
		{"In pictures", drawn([]figure{r.active(whole), r.queued(whole)})},
		{"While people waited", drawn(append([]figure{r.active(busy), r.queued(busy)}, r.ofLine(busy)...))},
	}
}

// window is the time that a chart shows.
type window struct{ from, to time.Time }

// busy is the time from the first queue to the last, with some minutes around, if it is less than
// half of all.
func (r *Report) busy() (w window, isPart bool) {
	if len(r.Queues) == 0 {
		return w, false
	}
	w = window{r.Queues[0].From, r.Queues[len(r.Queues)-1].To}
	around := max(5*time.Minute, w.to.Sub(w.from)/8).Truncate(time.Minute)
	w.from, w.to = w.from.Add(-around), w.to.Add(around)
	if w.from.Before(r.From) {
		w.from = r.From
	}
	if w.to.After(r.To) {
		w.to = r.To
	}
	return w, w.to.Sub(w.from) < r.To.Sub(r.From)/2
}

// figure is a chart.
type figure interface{ Figure() string }

// ofLine are the charts of what became of those who waited.
func (r *Report) ofLine(w window) []figure {
	figures := []figure{r.admitted(w), r.waitsOverTime(w), r.histogram()}
	if r.People.GaveUp == nil || *r.People.GaveUp == 0 {
		return figures
	}
	l := record.GaveUpChart(record.Within(r.Minutes, w.from, w.to))
	l.From, l.To, l.Zone, l.Bands = w.from, w.to, r.zone, r.Bands
	return append(figures, l)
}

// drawn draws figures.
func drawn(figures []figure) []template.HTML {
	charts := make([]template.HTML, len(figures))
	for i, f := range figures {
		charts[i] = template.HTML(f.Figure()) // package chart escapes what it is given
	}
	return charts
}

func (r *Report) active(w window) chart.Lines {
	return r.ofRoom(w, record.Active)
}

func (r *Report) queued(w window) chart.Lines {
	return r.ofRoom(w, record.Queued)
}

func (r *Report) admitted(w window) chart.Lines {
	return r.ofRoom(w, record.Admitted)
}

// ofRoom is a chart of how the whole room stood.
func (r *Report) ofRoom(w window, of record.Measure) chart.Lines {
	l := of.Chart(record.Within(r.Minutes, w.from, w.to))
	l.From, l.To, l.Zone, l.Bands = w.from, w.to, r.zone, r.Bands
	return l
}

// waitsOverTime are the waits by when their visitors were let in.
func (r *Report) waitsOverTime(w window) chart.Lines {
	l := record.WaitsChart(w.from, w.to, record.Within(r.Minutes, w.from, w.to))
	l.Zone, l.Bands = r.zone, r.Bands
	return l
}

// histogram are the waits by their length.
func (r *Report) histogram() chart.Bars {
	b := chart.Bars{Title: "Visitors by how long they waited"}
	for _, bar := range r.Waits.Bars {
		b.Bars = append(b.Bars, chart.Bar{Name: spanOf(bar.From, bar.To), Value: float64(bar.Visitors)})
	}
	return b
}

// spanOf names a bar in the largest unit that divides both of its ends.
func spanOf(from, to int) string {
	switch {
	case from%3600 == 0 && to%3600 == 0:
		return fmt.Sprintf("%d–%d h", from/3600, to/3600)
	case from%60 == 0 && to%60 == 0:
		return fmt.Sprintf("%d–%d min", from/60, to/60)
	}
	return fmt.Sprintf("%d–%d s", from, to)
}
