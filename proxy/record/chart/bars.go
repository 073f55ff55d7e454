package chart

import (
	"fmt"
)

// SVG draws the bars.
func (b Bars) SVG() string {
	if b.Size == (Size{}) {
		b.Size = Wide
	}
	most := 0.0
	for _, bar := range b.Bars {
		if usable(bar.Value) {
			most = max(most, bar.Value)
		}
	}
	c := newCanvas(b.Title, b.Size, most)
	c.grid(b.Unit)
	width := c.plotWidth() / float64(max(1, len(b.Bars)))
	for i, bar := range b.Bars {
		b.draw(c, i, bar, width)
	}
	b.names(c, width)
	return c.end()
}

// draw draws a bar. One that is not known is left out; a small one can be seen.
func (b *Bars) draw(c *canvas, i int, bar Bar, width float64) {
	if !usable(bar.Value) || bar.Value <= 0 {
		return
	}
	y := min(c.y(bar.Value), c.y(0)-1)
	fmt.Fprintf(c, `<rect class="bar" x="%s" y="%s" width="%s" height="%s" fill="var(--chart-1,%s)"><title>%s: %s%s</title></rect>`,
		number(left+width*float64(i)+min(1, width/8)), number(y), number(max(width-min(2, width/4), .5)), number(c.y(0)-y), defaults[0],
		escape(bar.Name), FormatValue(bar.Value), escape(b.Unit))
}

// names writes the names of the bars below them, as many as there is space for.
func (b *Bars) names(c *canvas, width float64) {
	end := -1.0
	for i, bar := range b.Bars {
		long := 6.8*float64(len([]rune(bar.Name))) + 6
		middle := left + width*(float64(i)+.5)
		if bar.Name == "" || middle-long/2 < end {
			continue
		}
		c.text(middle, float64(c.size.Height-6), "middle", bar.Name)
		end = middle + long/2
	}
}
