package chart

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// SVG draws the lines.
func (l Lines) SVG() string {
	l = l.withDefaults()
	c := newCanvas(l.Title+l.marked(), l.Size, l.most())
	l.bands(c)
	c.grid(l.Unit)
	l.times(c)
	x := l.along(c)
	for i := range l.Lines {
		l.draw(c, i, x)
	}
	l.legend(c)
	return c.end()
}

func (l Lines) withDefaults() Lines {
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
	return l
}

// most is the largest of the values.
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

// along returns where a moment is drawn.
func (l *Lines) along(c *canvas) func(time.Time) float64 {
	span := l.To.Sub(l.From).Seconds()
	return func(at time.Time) float64 {
		share := at.Sub(l.From).Seconds() / span
		return left + c.plotWidth()*min(max(share, 0), 1)
	}
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

// draw draws a line: each stretch of it on its own. A value that stands alone is a short dash.
func (l *Lines) draw(c *canvas, i int, x func(time.Time) float64) {
	line := &l.Lines[i]
	var path, area strings.Builder
	for _, s := range l.stretches(line.Values) {
		begin, end := x(l.Moments[s.from]), x(l.Moments[s.to-1])
		if s.to == s.from+1 {
			end = x(l.Moments[s.from].Add(l.Step))
			begin = min(begin, end-1.5)
		}
		outline := l.outline(c, line.Values, s, x, begin)
		if s.to == s.from+1 {
			outline += "H" + number(end)
		}
		path.WriteString("M" + outline)
		fmt.Fprintf(&area, "M%s %sL%sV%sZ", number(begin), number(c.y(0)), outline, number(c.y(0)))
	}
	if path.Len() == 0 {
		return
	}
	if line.Filled {
		fmt.Fprintf(c, `<path class="area" d="%s" fill="%s" fill-opacity=".22"/>`, area.String(), l.colour(i))
	}
	fmt.Fprintf(c, `<path class="%s" d="%s" fill="none" stroke="%s" stroke-width="1.75" stroke-linejoin="round"%s/>`,
		classOf(line), path.String(), l.colour(i), dashOf(line))
}

// outline are the points of a stretch. Of moments that are closer than half a unit, the
// highest value is drawn: a peak is never lost.
func (l *Lines) outline(c *canvas, values []float64, s stretch, x func(time.Time) float64, begin float64) string {
	var b strings.Builder
	at, highest := begin, math.Inf(-1)
	put := func() {
		if b.Len() > 0 {
			b.WriteByte('L')
		}
		b.WriteString(number(at) + " " + number(c.y(highest)))
	}
	for i := s.from; i < s.to; i++ {
		if here := max(x(l.Moments[i]), begin); here-at >= .5 && i > s.from {
			put()
			at, highest = here, math.Inf(-1)
		}
		highest = max(highest, values[i])
	}
	put()
	return b.String()
}

func classOf(line *Line) string {
	if line.Limit {
		return "limit"
	}
	return "series"
}

func dashOf(line *Line) string {
	if line.Limit {
		return ` stroke-dasharray="6 4"`
	}
	return ""
}

// defaults are colours that can be told apart by those who see few colours, on white and on black.
var defaults = [...]string{"#3b82c4", "#c2570c", "#7c5cc4"}

// colour is that of a line.
func (l *Lines) colour(i int) string {
	if l.Lines[i].Limit {
		return "var(--chart-limit,#d03b3b)"
	}
	n := 0
	for _, line := range l.Lines[:i] {
		if !line.Limit {
			n++
		}
	}
	return fmt.Sprintf("var(--chart-%d,%s)", n%len(defaults)+1, defaults[n%len(defaults)])
}

// legend names the lines above the plot, as far as there is space.
func (l *Lines) legend(c *canvas) {
	x := float64(left)
	for i := range l.Lines {
		name := l.Lines[i].Name
		width := 24 + 6.6*float64(len([]rune(name)))
		if name == "" || x+width > float64(c.size.Width) && x > left {
			continue
		}
		fmt.Fprintf(c, `<path d="M%s 12h14" stroke="%s" stroke-width="2.5"%s/>`, number(x), l.colour(i), dashOf(&l.Lines[i]))
		c.text(x+18, 16, "start", name)
		x += width + 10
	}
}

// steps are the distances of the times on an axis.
var steps = [...]time.Duration{
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 12 * time.Hour,
}

// times draws the axis of time, in local times.
func (l *Lines) times(c *canvas) {
	x := l.along(c)
	most := max(2, int(c.plotWidth())/58)
	for _, at := range timesBetween(l.From.In(l.Zone), l.To.In(l.Zone), most) {
		here := x(at)
		fmt.Fprintf(c, `<path class="grid" d="M%s %dv5" stroke="currentColor" stroke-opacity=".5"/>`, number(here), c.size.Height-bottom)
		label := at.Format("15:04")
		if l.To.Sub(l.From) > 36*time.Hour {
			label = at.Format("2 Jan")
		}
		c.text(min(max(here, left-8), float64(c.size.Width-right-8)), float64(c.size.Height-6), "middle", label)
	}
}

// timesBetween are the round local times between two moments, so many at most.
func timesBetween(from, to time.Time, most int) []time.Time {
	span := to.Sub(from)
	if span > 36*time.Hour {
		return midnights(from, to, most)
	}
	step := steps[len(steps)-1]
	for _, s := range steps {
		if span/s < time.Duration(most) {
			step = s
			break
		}
	}
	return roundTimes(from, to, step)
}

// roundTimes are the multiples of a step after local midnight. On a day on which clocks change,
// they are by the clock on the wall.
func roundTimes(from, to time.Time, step time.Duration) []time.Time {
	var times []time.Time
	y, m, d := from.Date()
	for n := 0; len(times) < 100 && n < 10_000; n++ {
		past := step * time.Duration(n)
		at := time.Date(y, m, d, int(past/time.Hour), int(past%time.Hour/time.Minute), 0, 0, from.Location())
		if at.After(to) {
			break
		}
		if !at.Before(from) && (len(times) == 0 || at.After(times[len(times)-1])) {
			times = append(times, at)
		}
	}
	return times
}

// midnights are so many of the local midnights between two moments at most.
func midnights(from, to time.Time, most int) []time.Time {
	every := int(to.Sub(from)/(24*time.Hour))/most + 1
	var times []time.Time
	y, m, d := from.Date()
	for n := 0; n < 100; n++ {
		at := time.Date(y, m, d+n*every, 0, 0, 0, 0, from.Location())
		if at.After(to) {
			break
		}
		if !at.Before(from) {
			times = append(times, at)
		}
	}
	return times
}
