package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
	"github.com/fairdoor-gate/fairdoor/queue/waits"
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
		return []Pictures{{"In pictures", drawn(r.active(whole), r.queued(whole), r.admitted(whole), r.waitsOverTime(whole), r.histogram())}}
	}
	return []Pictures{
		{"In pictures", drawn(r.active(whole), r.queued(whole))},
		{"While people waited", drawn(r.active(busy), r.queued(busy), r.admitted(busy), r.waitsOverTime(busy), r.histogram())},
	}
}

// window is the time that a chart shows.
type window struct{ from, to time.Time }

// busy is the time from the first queue to the last, with some minutes around, if it is less than half of all.
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

// drawn draws figures.
func drawn(figures ...interface{ Figure() string }) []template.HTML {
	charts := make([]template.HTML, len(figures))
	for i, f := range figures {
		charts[i] = template.HTML(f.Figure()) // package chart escapes what it is given
	}
	return charts
}

func (r *Report) active(w window) chart.Lines {
	return r.ofRoom(w, "Active sessions", "active", func(s *record.Standing) int { return s.ActiveMost },
		"total_active_users", func(s *record.Standing) int { return s.TotalActiveUsers })
}

func (r *Report) queued(w window) chart.Lines {
	return r.ofRoom(w, "People in line", "queued", func(s *record.Standing) int { return s.QueuedMost }, "", nil)
}

func (r *Report) admitted(w window) chart.Lines {
	return r.ofRoom(w, "Let in, each minute", "let in", func(s *record.Standing) int { return s.Admitted },
		"new_users_per_minute", func(s *record.Standing) int { return s.NewUsersPerMinute })
}

// ofRoom is a chart of how the whole room stood, with a limit if there is one.
func (r *Report) ofRoom(w window, title, name string, value func(*record.Standing) int, limitName string, limit func(*record.Standing) int) chart.Lines {
	l := chart.Lines{Title: title, From: w.from, To: w.to, Zone: r.zone, Bands: r.Bands, Lines: []chart.Line{{Name: name, Filled: true}}}
	if limit != nil {
		l.Lines = append(l.Lines, chart.Line{Name: limitName, Limit: true})
	}
	for _, m := range within(r.Minutes, w) {
		l.Moments = append(l.Moments, m.At)
		for i, of := range []func(*record.Standing) int{value, limit}[:len(l.Lines)] {
			v := math.NaN()
			if m.Room != nil {
				v = float64(of(m.Room))
			}
			l.Lines[i].Values = append(l.Lines[i].Values, v)
		}
	}
	return l
}

// waitsOverTime are the waits by when their visitors were let in.
func (r *Report) waitsOverTime(w window) chart.Lines {
	step := time.Minute
	for w.to.Sub(w.from)/step > 150 {
		step += time.Minute
	}
	l := chart.Lines{Title: "Waits of those who got in, in minutes", From: w.from, To: w.to, Zone: r.zone, Step: step, Bands: r.Bands,
		Lines: []chart.Line{{Name: "half at most"}, {Name: "95 %"}, {Name: "told"}}}
	minutes := within(r.Minutes, w)
	for at := w.from; at.Before(w.to); at = at.Add(step) {
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

// within are the minutes of a window.
func within(minutes []record.Minute, w window) []record.Minute {
	at := func(m record.Minute, t time.Time) int { return m.At.Compare(t) }
	from, _ := slices.BinarySearchFunc(minutes, w.from, at)
	to, _ := slices.BinarySearchFunc(minutes, w.to, at)
	return minutes[from:max(from, to)]
}

// percentile is one of the waits in minutes; unknown where there are none.
func percentile(c waits.Counts, share float64) float64 {
	if len(c) == 0 {
		return math.NaN()
	}
	return c.Percentile(share).Minutes()
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
