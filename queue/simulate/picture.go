package simulate

import (
	"fmt"
	"iter"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/axis"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
	"github.com/fairdoor-gate/fairdoor/queue/simulate/plot"
)

// cells is how many parts each axis of a heat map has, as in the article.
const cells = 30

// picture is what the pictures of a result have in common: how long people waited, by when
// they arrived.
type picture struct {
	plot.Frame
	points iter.Seq2[float64, float64]
}

// picture has the waits of at most upTo; upTo 0 stands for the longest there was.
func (r *Result) picture(c Config, upTo time.Duration) picture {
	arrivals, longest := c.Over, time.Second
	for a := range r.Admissions() {
		arrivals, longest = max(arrivals, a.Arrived), max(longest, a.Waited)
	}
	if upTo == 0 {
		upTo = longest
	}
	title := fmt.Sprintf("Waiting times, %s", r.Method)
	if upTo < longest {
		title += fmt.Sprintf(": the first %s", measure.Short(upTo))
	}
	unitX, unitY := unit(arrivals), unit(upTo)
	return picture{
		Frame: plot.Frame{Title: title, Note: c.String(), X: unitX.axis("arrival", arrivals), Y: unitY.axis("wait", upTo)},
		points: func(yield func(x, y float64) bool) {
			for a := range r.Admissions() {
				if !yield(unitX.of(a.Arrived), unitY.of(a.Waited)) {
					return
				}
			}
		},
	}
}

// HeatMap is the article's heat map of a result: how long people waited, by
// when they arrived, in 30 × 30 cells. Waits longer than upTo are left out;
// upTo 0 stands for the longest there was.
func (r *Result) HeatMap(c Config, upTo time.Duration) *plot.HeatMap {
	p := r.picture(c, upTo)
	return &plot.HeatMap{Frame: p.Frame, Legend: "people", Counts: plot.Count(cells, cells, p.X, p.Y, p.points)}
}

// Scatter is the article's other picture: a dot for everybody who was let in, on the axes of
// HeatMap.
func (r *Result) Scatter(c Config, upTo time.Duration) *plot.Scatter {
	p := r.picture(c, upTo)
	return &plot.Scatter{Frame: p.Frame, Size: r.People.Admitted, Points: p.points}
}

// timeUnit is what an axis of times counts in.
type timeUnit struct {
	name  string
	is    time.Duration
	steps []float64
}

// unit chooses one in which d can be read.
func unit(d time.Duration) timeUnit {
	sixties := []float64{1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 300, 600}
	switch {
	case d <= 3*time.Minute:
		return timeUnit{"seconds", time.Second, sixties}
	case d <= 10*time.Hour:
		return timeUnit{"minutes", time.Minute, sixties}
	case d <= 10*24*time.Hour:
		return timeUnit{"hours", time.Hour, []float64{1, 2, 3, 6, 12, 24, 48}}
	default:
		return timeUnit{"days", 24 * time.Hour, nil}
	}
}

func (u timeUnit) of(d time.Duration) float64 { return float64(d) / float64(u.is) }

func (u timeUnit) axis(what string, to time.Duration) axis.Axis {
	return axis.Axis{Label: fmt.Sprintf("%s, in %s", what, u.name), To: u.of(to), Steps: u.steps}
}
