package chart

import (
	"fmt"
	"strings"
	"time"
)

// Band is a time in which something was so: it is marked behind the lines, and told in words.
type Band struct {
	Name string    `json:"name"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// bands draws the bands behind the lines, each with a bar and its name at the top. Those that go on
// at the same time are below each other.
func (l *Lines) bands(c *canvas) {
	shown := l.shown()
	ends := []float64{} // of the rows of bars: where the last of each ends
	for _, b := range shown {
		begin := l.x(c, b.From)
		width := max(l.x(c, b.To)-begin, 1.5)
		row := rowFor(&ends, begin)
		was := ends[row]
		y := float64(top + 14*row)
		fmt.Fprintf(c, `<g class="band" fill="currentColor"><title data-from="%d" data-to="%d" data-name="%s">%s</title>`,
			b.From.UnixMilli(), b.To.UnixMilli(), escape(b.Name), escape(l.words(&b)))
		fmt.Fprintf(c, `<rect x="%s" y="%d" width="%s" height="%s" fill-opacity=".07"/><rect x="%s" y="%s" width="%s" height="3" fill-opacity=".55"/>`,
			number(begin), top, number(width), number(c.plotHeight()), number(begin), number(y), number(width))
		ends[row] = begin + width
		label := lengthOf(b.Name) + 4
		switch {
		case label <= width || row == 0 && l.isFree(c, shown, &b, begin+label):
			c.text(begin+2, y+13, "start", b.Name)
			ends[row] = max(ends[row], begin+label)
		case begin-label >= was && begin-label >= left:
			c.text(begin-2, y+13, "end", b.Name)
		}
		c.WriteString("</g>")
	}
}

// rowFor is the first row that is free from a place on.
func rowFor(ends *[]float64, begin float64) int {
	for i, end := range *ends {
		if end <= begin+.5 {
			return i
		}
	}
	*ends = append(*ends, 0)
	return len(*ends) - 1
}

// isFree says whether a label of a band can go beyond its end, up to a place: no other band begins
// before that, and the plot does not end.
func (l *Lines) isFree(c *canvas, shown []Band, of *Band, end float64) bool {
	for i := range shown {
		if b := &shown[i]; *b != *of && l.x(c, b.To) > l.x(c, of.From) && l.x(c, b.From) < end {
			return false
		}
	}
	return end <= float64(c.width-right)
}

// shown are the bands that are in the time of the chart.
func (l *Lines) shown() []Band {
	var shown []Band
	for _, b := range l.Bands {
		if b.From.Before(l.To) && b.To.After(l.From) && b.From.Before(b.To) {
			shown = append(shown, b)
		}
	}
	return shown
}

// words tell of a band in a line.
func (l *Lines) words(b *Band) string {
	if b.To.Sub(b.From) < 2*time.Minute {
		return b.Name + ", " + b.From.In(l.Zone).Format("2 Jan 15:04:05") + " to " + b.To.In(l.Zone).Format("15:04:05")
	}
	return b.Name + ", " + l.clock(b.From) + " to " + l.clock(b.To)
}

// mostTold is how many bands the name of a chart tells of. The table has all.
const mostTold = 8

// marked tells of the bands, behind the title.
func (l *Lines) marked() string {
	var told []string
	for _, b := range l.shown() {
		if len(told) == mostTold {
			told = append(told, "and others")
			break
		}
		told = append(told, l.words(&b))
	}
	if told == nil {
		return ""
	}
	return ". Marked: " + strings.Join(told, "; ")
}

// during names the bands of a time.
func (l *Lines) during(from, to time.Time) string {
	var names []string
	for _, b := range l.shown() {
		if b.From.Before(to) && b.To.After(from) {
			names = append(names, b.Name)
		}
	}
	return strings.Join(names, ", ")
}
