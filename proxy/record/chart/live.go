package chart

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Mark is a moment at which something happened.
type Mark struct {
	At   time.Time
	Text string
}

// marks draws a small mark for each moment below the plot, with its text.
func (l *Lines) marks(c *canvas) {
	base := float64(c.height - bottom)
	for _, m := range l.Marks {
		if m.At.Before(l.From) || m.At.After(l.To) {
			continue
		}
		x := l.x(c, m.At)
		fmt.Fprintf(c, `<g class="mark"><title data-from="%d" data-name="%s">%s</title><path d="M%s %dV%s" stroke="currentColor" stroke-opacity=".45" stroke-dasharray="2 3"/><path d="M%s %sl4 7h-8Z" fill="currentColor"/></g>`,
			m.At.UnixMilli(), escape(m.Text), escape(m.At.In(l.Zone).Format("15:04:05")+" "+m.Text), number(x), top, number(base), number(x), number(base))
	}
}

// mostValues is how many values of a line a page has for its script.
const mostValues = 240

// values are what a script shows of a chart: the highest of each of so many equal times.
type values struct {
	From  int64         `json:"from"` // in milliseconds
	Step  int64         `json:"step"`
	Left  float64       `json:"left"` // where the plot begins and ends, as parts of the width
	Right float64       `json:"right"`
	Lines []namedValues `json:"lines"`
}

type namedValues struct {
	Name   string     `json:"name"`
	Values []*float64 `json:"values"`
}

// live is a figure in one size, with its values for the page's script.
func (l *Lines) live() string {
	step := l.Step
	for l.To.Sub(l.From)/step >= mostValues {
		step += l.Step
	}
	v := values{From: l.From.UnixMilli(), Step: step.Milliseconds(), Left: left / float64(narrow.width), Right: 1 - right/float64(narrow.width)}
	n := int(l.To.Sub(l.From)/step) + 1
	for _, line := range l.Lines {
		named := namedValues{Name: line.Name, Values: make([]*float64, n)}
		for i := range min(len(line.Values), len(l.Moments)) {
			at := int(l.Moments[i].Sub(l.From) / step)
			if v := math.Round(line.Values[i]*10) / 10; usable(v) && at >= 0 && at < n && (named.Values[at] == nil || v > *named.Values[at]) {
				named.Values[at] = &v
			}
		}
		v.Lines = append(v.Lines, named)
	}
	text, _ := json.Marshal(v) // which are numbers and names
	return fmt.Sprintf(`<figure class="chart-figure" data-values="%s"><figcaption>%s</figcaption>%s`+
		`<details><summary>As a table</summary><div tabindex="0" role="group" aria-label="%s">%s</div></details></figure>`,
		escape(string(text)), escape(l.Title), svg(l, narrow), escape(l.Title), l.table())
}
