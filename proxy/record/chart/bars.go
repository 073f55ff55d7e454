package chart

import "fmt"

// Bar is a bar of a histogram.
type Bar struct {
	Name  string // below it; empty for none
	Value float64
}

// Bars is a histogram.
type Bars struct {
	Title string
	Bars  []Bar
}

// Figure returns the chart with its title above it, and with a table of its values. The page
// needs Style.
func (b Bars) Figure() string { return figure(b.Title, &b) }

func (b *Bars) told() string { return b.Title }

func (b *Bars) most() float64 {
	most := 0.0
	for _, bar := range b.Bars {
		if usable(bar.Value) {
			most = max(most, bar.Value)
		}
	}
	return most
}

// draw draws the bars. One that is not known is left out; a small one can be seen.
func (b *Bars) draw(c *canvas) {
	c.grid()
	width, end := c.plotWidth()/float64(len(b.Bars)), 0.0 // end is that of the last name: there are as many as there is space for
	for i, bar := range b.Bars {
		begin := left + width*float64(i)
		if usable(bar.Value) && bar.Value > 0 {
			y := min(c.y(bar.Value), c.y(0)-1)
			fmt.Fprintf(c, `<rect class="bar" x="%s" y="%s" width="%s" height="%s" fill="%s"><title>%s: %s</title></rect>`,
				number(begin+min(1, width/8)), number(y), number(max(width-min(2, width/4), .5)), number(c.y(0)-y), colour(0),
				escape(bar.Name), formatValue(bar.Value))
		}
		if middle, half := begin+width/2, lengthOf(bar.Name)/2+3; bar.Name != "" && middle-half >= end {
			c.text(middle, float64(c.height-6), "middle", bar.Name)
			end = middle + half
		}
	}
}

func (b *Bars) table() table {
	t := table{head: []string{"Range", "Number"}}
	for _, bar := range b.Bars {
		if bar.Value != 0 {
			t.rows = append(t.rows, row{cells: []string{bar.Name, formatValue(bar.Value)}})
		}
	}
	return t
}
