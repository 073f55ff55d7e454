package chart

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairdoor-gate/fairdoor/queue/axis"
)

// size is how large a chart is, in CSS pixels at its natural size.
type size struct{ width, height int }

var (
	wide   = size{720, 240}
	narrow = size{360, 220}
)

// The space around the plot.
const (
	left, right = 44, 10
	top, bottom = 26, 24
)

// colours are the defaults of those of the series, which can be told apart by those who see few
// colours, on white and on black.
var colours = [...]string{"#3b82c4", "#c2570c", "#7c5cc4"}

// colour is that of the n-th series.
func colour(n int) string {
	return fmt.Sprintf("var(--chart-%d,%s)", n%len(colours)+1, colours[n%len(colours)])
}

// canvas is an SVG in the making.
type canvas struct {
	strings.Builder
	size
	values axis.Axis
}

// svg draws a chart.
func svg(of content, s size) string {
	c := &canvas{size: s, values: axis.UpTo(of.most())}
	fmt.Fprintf(c, `<svg class="chart" xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui,sans-serif" font-size="12" fill="currentColor"><title>%s</title>`,
		s.width, s.height, s.width, s.height, escape(of.told()))
	of.draw(c)
	c.WriteString("</svg>")
	return c.String()
}

func (c *canvas) plotWidth() float64  { return float64(c.width - left - right) }
func (c *canvas) plotHeight() float64 { return float64(c.height - top - bottom) }

// y is where a value is drawn. Values below 0 are drawn as 0.
func (c *canvas) y(v float64) float64 {
	return float64(top) + c.plotHeight()*(1-min(c.values.Part(max(v, 0)), 1))
}

// text writes a label.
func (c *canvas) text(x, y float64, anchor, text string) {
	fmt.Fprintf(c, `<text class="tick" x="%s" y="%s" text-anchor="%s">%s</text>`, number(x), number(y), anchor, escape(text))
}

// lengthOf is how wide a label is, about.
func lengthOf(label string) float64 { return 6.6 * float64(utf8.RuneCountInString(label)) }

// grid draws the axis of the values.
func (c *canvas) grid() {
	for _, v := range c.values.Ticks() {
		y := c.y(v)
		fmt.Fprintf(c, `<path class="grid" d="M%d %sH%d" stroke="currentColor" stroke-opacity=".18"/>`, left, number(y), c.width-right)
		c.text(left-6, y+4, "end", formatValue(v))
	}
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

// usable says whether a value can be drawn.
func usable(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// number writes a number to a tenth.
func number(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }

// formatValue writes a value in few letters: 950, 1.2k, 3M.
func formatValue(v float64) string {
	if !usable(v) {
		return "unknown"
	}
	if math.Abs(v) >= 1e15 {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	unit := ""
	for _, larger := range []string{"k", "M", "G", "T"} {
		if math.Abs(v) < 1000 {
			break
		}
		v, unit = v/1000, larger
	}
	return number(v) + unit
}
