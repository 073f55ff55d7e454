package chart

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Line is a series of values over time. Unknown values are NaN: the line has a gap there.
type Line struct {
	Name   string
	Values []float64 // one for each moment of the chart
	Limit  bool      // it is a limit: dashed
	Filled bool      // the area below it is filled
}

// Lines are lines over one axis of time.
type Lines struct {
	Title    string         // says what the chart shows, also to those who cannot see it
	Moments  []time.Time    // in order
	Step     time.Duration  // how far a moment is from the next where nothing is missing; where it is more, lines have a gap. Default a minute
	From, To time.Time      // the ends of the axis; default the first and the last of the moments
	Zone     *time.Location // of the axis; default UTC
	Lines    []Line
	Bands    []Band // times that are marked, in the order of their beginnings
	Marks    []Mark // moments that are marked, in order
	Live     bool   // for a page with a script that shows the values: in one size, with the values beside it
}

// Figure returns the chart with its title above it, and with a table of its values: of the
// highest of each time, where there are too many. The page needs Style.
func (l Lines) Figure() string {
	if l.Zone == nil {
		l.Zone = time.UTC
	}
	if l.Step <= 0 {
		l.Step = time.Minute
	}
	if n := len(l.Moments); n > 0 && l.From.IsZero() {
		l.From = l.Moments[0]
	}
	if n := len(l.Moments); n > 0 && l.To.IsZero() {
		l.To = l.Moments[n-1]
	}
	if !l.To.After(l.From) {
		l.To = l.From.Add(l.Step)
	}
	if l.Live {
		return l.live()
	}
	return figure(l.Title, &l)
}

func (l *Lines) told() string { return l.Title + l.marked() }

func (l *Lines) most() float64 {
	most := 0.0
	for _, line := range l.Lines {
		for _, v := range line.Values {
			if usable(v) {
				most = max(most, v)
			}
		}
	}
	return most
}

func (l *Lines) draw(c *canvas) {
	l.bands(c)
	c.grid()
	l.times(c)
	for i := range l.Lines {
		l.line(c, i)
	}
	l.legend(c)
	l.marks(c)
}

// stretch is a row of values without a gap: from the first to before the last index.
type stretch struct{ from, to int }

// stretches are the parts of a line between its gaps.
func (l *Lines) stretches(values []float64) []stretch {
	var all []stretch
	for i := range min(len(values), len(l.Moments)) {
		at := l.Moments[i]
		if !usable(values[i]) || at.Before(l.From) || at.After(l.To) {
			continue
		}
		last := len(all) - 1
		if last >= 0 && all[last].to == i && at.Sub(l.Moments[i-1]) <= l.Step*3/2 {
			all[last].to++
			continue
		}
		all = append(all, stretch{i, i + 1})
	}
	return all
}

// line draws a line: each stretch of it on its own. A value that stands alone is a short dash.
func (l *Lines) line(c *canvas, i int) {
	line := &l.Lines[i]
	var path, area strings.Builder
	for _, s := range l.stretches(line.Values) {
		begin, end := l.x(c, l.Moments[s.from]), ""
		if s.to == s.from+1 {
			until := l.x(c, l.Moments[s.from].Add(l.Step))
			begin, end = min(begin, until-1.5), "H"+number(until)
		}
		outline := l.outline(c, line.Values, s, begin) + end
		path.WriteString("M" + outline)
		fmt.Fprintf(&area, "M%s %sL%sV%sZ", number(begin), number(c.y(0)), outline, number(c.y(0)))
	}
	if path.Len() == 0 {
		return
	}
	stroke, class, dash := l.look(i)
	if line.Filled {
		fmt.Fprintf(c, `<path class="area" d="%s" fill="%s" fill-opacity=".22"/>`, area.String(), stroke)
	}
	fmt.Fprintf(c, `<path class="%s" d="%s" fill="none" stroke="%s" stroke-width="1.75" stroke-linejoin="round"%s/>`, class, path.String(), stroke, dash)
}

// outline are the points of a stretch. Of moments that are closer than half a unit, the
// highest value is drawn: a peak is never lost.
func (l *Lines) outline(c *canvas, values []float64, s stretch, begin float64) string {
	var points []string
	at, highest := begin, math.Inf(-1)
	put := func() { points = append(points, number(at)+" "+number(c.y(highest))) }
	for i := s.from; i < s.to; i++ {
		if here := max(l.x(c, l.Moments[i]), begin); here-at >= .5 && i > s.from {
			put()
			at, highest = here, math.Inf(-1)
		}
		highest = max(highest, values[i])
	}
	put()
	return strings.Join(points, "L")
}

// look is how a line is drawn: a limit in a colour of its own, and dashed.
func (l *Lines) look(i int) (stroke, class, dash string) {
	if l.Lines[i].Limit {
		return "var(--chart-limit,#d03b3b)", "limit", ` stroke-dasharray="6 4"`
	}
	n := 0
	for _, line := range l.Lines[:i] {
		if !line.Limit {
			n++
		}
	}
	return colour(n), "series", ""
}

// legend names the lines above the plot, as far as there is space.
func (l *Lines) legend(c *canvas) {
	x := float64(left)
	for i, line := range l.Lines {
		width := 24 + lengthOf(line.Name)
		if line.Name == "" || x+width > float64(c.width) && x > left {
			continue
		}
		stroke, _, dash := l.look(i)
		fmt.Fprintf(c, `<path d="M%s 12h14" stroke="%s" stroke-width="2.5"%s/>`, number(x), stroke, dash)
		c.text(x+18, 16, "start", line.Name)
		x += width + 10
	}
}

// mostRows is how many rows the table of a figure has.
const mostRows = 48

func (l *Lines) table() table {
	t := table{head: []string{"Time"}}
	for _, line := range l.Lines {
		t.head = append(t.head, line.Name)
	}
	marks := len(l.shown()) > 0
	if marks {
		t.head = append(t.head, "In force")
	}
	each := stepOf(l.To.Sub(l.From), mostRows)
	for at := l.From.Truncate(each); !at.After(l.To); at = at.Add(each) {
		r := row{cells: []string{l.clock(at)}}
		if l.Live {
			r.at = at
		}
		for _, line := range l.Lines {
			r.cells = append(r.cells, formatValue(l.highest(line.Values, at, at.Add(each))))
		}
		if marks {
			r.cells = append(r.cells, l.during(at, at.Add(each)))
		}
		t.rows = append(t.rows, r)
	}
	return t
}

// highest is the highest of the values of a time; NaN if none is known.
func (l *Lines) highest(values []float64, from, to time.Time) float64 {
	highest := math.NaN()
	for i := range min(len(values), len(l.Moments)) {
		if at := l.Moments[i]; at.Before(from) || !at.Before(to) || !usable(values[i]) {
			continue
		}
		if !(values[i] <= highest) {
			highest = values[i]
		}
	}
	return highest
}
