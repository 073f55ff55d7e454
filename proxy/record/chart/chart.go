// Package chart draws a room's day as SVG on the server: lines over time, with limits dashed
// and what is unknown left out, and bars. A chart fits its place: it is 360 units wide or
// more, its text is as large as that of a page at that width, and its colours are those of
// the page around it.
//
// A page gives the colours as CSS variables: --chart-1, --chart-2 and --chart-3 for the
// series, and --chart-limit for limits; they have defaults. Axes and text are in the page's
// own colour. The classes are chart, series, area, limit, band, grid and tick.
package chart

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size is how large a chart is, in CSS pixels at its natural size. A chart that is made
// smaller by its page should be drawn smaller instead.
type Size struct{ Width, Height int }

// The sizes that pages use.
var (
	Wide   = Size{720, 240}
	Narrow = Size{360, 220}
)

// The space around the plot.
const (
	left, right = 44, 10
	top, bottom = 26, 24
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
	Size     Size           // default Wide
	Moments  []time.Time    // in order
	Step     time.Duration  // how far a moment is from the next where nothing is missing; where it is more, lines have a gap. Default a minute
	From, To time.Time      // the ends of the axis; default the first and the last of the moments
	Zone     *time.Location // of the axis; default UTC
	Lines    []Line
	Bands    []Band // times that are marked, in the order of their beginnings
	Unit     string // of the values, behind the numbers of the axis
}

// Band is a time in which something was so: it is marked behind the lines, and told in words.
type Band struct {
	Name string    `json:"name"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Bar is a bar of a histogram.
type Bar struct {
	Name  string // below it; empty for none
	Value float64
}

// Bars is a histogram.
type Bars struct {
	Title string
	Size  Size // default Wide
	Bars  []Bar
	Unit  string
}

// canvas is an SVG in the making.
type canvas struct {
	strings.Builder
	size  Size
	most  float64 // the value at the top of the plot
	ticks []float64
}

func newCanvas(title string, size Size, most float64) *canvas {
	if size.Width < left+right+20 || size.Height < top+bottom+20 {
		size = Wide
	}
	c := &canvas{size: size}
	c.ticks = ticksTo(most)
	c.most = c.ticks[len(c.ticks)-1]
	fmt.Fprintf(c, `<svg class="chart" xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui,sans-serif" font-size="12" fill="currentColor"><title>%s</title>`,
		size.Width, size.Height, size.Width, size.Height, escape(title))
	return c
}

// escape makes text that is safe in XML.
func escape(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0xFFFE || r == 0xFFFF || r == '\uFFFD' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " ")))
}

// number writes a coordinate.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
}

// usable says whether a value can be drawn.
func usable(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (c *canvas) plotWidth() float64  { return float64(c.size.Width - left - right) }
func (c *canvas) plotHeight() float64 { return float64(c.size.Height - top - bottom) }

// y is where a value is drawn. Values below 0 are drawn as 0.
func (c *canvas) y(v float64) float64 {
	return float64(top) + c.plotHeight()*(1-min(max(v, 0)/c.most, 1))
}

// text writes a label.
func (c *canvas) text(x, y float64, anchor, text string) {
	fmt.Fprintf(c, `<text class="tick" x="%s" y="%s" text-anchor="%s">%s</text>`, number(x), number(y), anchor, escape(text))
}

// grid draws the axis of the values.
func (c *canvas) grid(unit string) {
	for _, v := range c.ticks {
		y := c.y(v)
		fmt.Fprintf(c, `<path class="grid" d="M%d %sH%d" stroke="currentColor" stroke-opacity=".18"/>`, left, number(y), c.size.Width-right)
		c.text(left-6, y+4, "end", FormatValue(v)+unit)
	}
}

func (c *canvas) end() string {
	c.WriteString("</svg>")
	return c.String()
}

// ticksTo are from two to six values from 0 to at least the most, at a step of 1, 2 or 5 times
// a power of ten, and of whole numbers.
func ticksTo(most float64) []float64 {
	if !usable(most) || most < 1 {
		most = 1
	}
	step := niceStep(min(most, 1e300) / 4)
	ticks := []float64{0}
	for v := step; ; v += step {
		ticks = append(ticks, v)
		if v >= most*(1-1e-9) || len(ticks) > 6 {
			return ticks
		}
	}
}

// niceStep is the least of 1, 2 and 5 times a power of ten that is not below x, and at least 1.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(max(x, 1))))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// FormatValue writes a value in few letters: 950, 1.2k, 3M.
func FormatValue(v float64) string {
	for _, u := range []struct {
		of   float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= u.of && u.of < 1e12 || math.Abs(v) >= 1e12 && u.of == 1e12 {
			if math.Abs(v) >= 1e15 {
				return strconv.FormatFloat(v, 'g', 2, 64)
			}
			return strconv.FormatFloat(math.Round(v/u.of*10)/10, 'f', -1, 64) + u.name
		}
	}
	if !usable(v) {
		return "?"
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}
