package simulate

import (
	"fmt"
	"time"

	"github.com/anteroom-gate/anteroom/queue/simulate/heatmap"
)

// cells is how many parts each axis of a heat map has, as in the article.
const cells = 30

// Picture is the article's heat map of a result: how long people waited, by
// when they arrived, in 30 × 30 cells. Waits longer than upTo are left out;
// upTo 0 stands for the longest there was.
func (r *Result) Picture(c Config, upTo time.Duration) *heatmap.Plot {
	arrivals, longest := c.Over, time.Second
	for _, a := range r.Admissions {
		arrivals, longest = max(arrivals, a.Arrived), max(longest, a.Waited)
	}
	if upTo == 0 {
		upTo = longest
	}
	title := fmt.Sprintf("Waiting times, %s", r.Method)
	if upTo < longest {
		title += fmt.Sprintf(": the first %s", short(upTo))
	}
	unitX, unitY := unit(arrivals), unit(upTo)
	p := &heatmap.Plot{
		Title: title, Note: c.String(), Legend: "people",
		X: unitX.axis("arrival", arrivals), Y: unitY.axis("wait", upTo),
	}
	p.Counts = heatmap.Count(cells, cells, p.X, p.Y, func(yield func(x, y float64) bool) {
		for _, a := range r.Admissions {
			if !yield(unitX.of(a.Arrived), unitY.of(a.Waited)) {
				return
			}
		}
	})
	return p
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

func (u timeUnit) axis(what string, to time.Duration) heatmap.Axis {
	return heatmap.Axis{Label: fmt.Sprintf("%s, in %s", what, u.name), To: u.of(to), Steps: u.steps}
}
