package heatmap

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"slices"
)

// Axis is what is shown along one side, from From to To, From being less.
type Axis struct {
	Label    string
	From, To float64

	// Steps are the distances between ticks to choose from, smallest first. By
	// default they are 1, 2 and 5 times a power of ten.
	Steps []float64
}

// Plot is a histogram and what is written around it.
type Plot struct {
	Title  string
	Note   string // below the title, smaller
	Legend string // what is counted
	X, Y   Axis
	Counts Grid
}

// Grid counts points in cells of equal size.
type Grid struct {
	Columns, Rows int
	counts        []int
}

// Count puts points into columns × rows cells between the ends of the axes, as
// numpy's histogram2d does: the last cell has its upper edge too, and points
// outside are left out.
func Count(columns, rows int, x, y Axis, points func(yield func(x, y float64) bool)) Grid {
	g := Grid{Columns: columns, Rows: rows, counts: make([]int, columns*rows)}
	points(func(px, py float64) bool {
		column, inX := x.cell(px, columns)
		row, inY := y.cell(py, rows)
		if inX && inY {
			g.counts[row*columns+column]++
		}
		return true
	})
	return g
}

func (a Axis) cell(v float64, cells int) (int, bool) {
	if !(v >= a.From && v <= a.To) {
		return 0, false
	}
	return min(int((v-a.From)/(a.To-a.From)*float64(cells)), cells-1), true
}

// At is the count of a cell; rows count from below.
func (g Grid) At(column, row int) int { return g.counts[row*g.Columns+column] }

// hottest is the count that has the last colour: as many as 99 of 100 cells
// that have any do not exceed, so that a single cell does not leave the others
// dark; and the highest count.
func (g Grid) hottest() (hot, most int) {
	lit := slices.DeleteFunc(slices.Clone(g.counts), func(n int) bool { return n == 0 })
	if len(lit) == 0 {
		return 1, 1
	}
	slices.Sort(lit)
	return lit[(len(lit)*99+99)/100-1], lit[len(lit)-1]
}

// WritePNG draws the plot as a PNG image.
func (p *Plot) WritePNG(w io.Writer) error {
	img, err := p.Draw()
	if err != nil {
		return err
	}
	if err := png.Encode(w, img); err != nil {
		return fmt.Errorf("encoding the heat map: %w", err)
	}
	return nil
}

// Draw draws the plot.
func (p *Plot) Draw() (*image.RGBA, error) {
	pen, err := newPen()
	if err != nil {
		return nil, fmt.Errorf("drawing the heat map: %w", err)
	}
	p.drawCells(pen)
	p.drawFrame(pen)
	p.drawLegend(pen)
	pen.text(p.Title, pen.title, left, 52, atStart, ink)
	pen.text(p.Note, pen.small, left, 84, atStart, faint)
	return pen.img, nil
}

// ticks are the multiples of a step within the axis, few enough to be read.
func (a Axis) ticks() []float64 {
	const most = 8
	step := niceStep((a.To - a.From) / most)
	for _, s := range a.Steps {
		if step = s; (a.To-a.From)/s <= most {
			break
		}
	}
	var ticks []float64
	for n := math.Ceil(a.From / step); n*step <= a.To+step*1e-9 && len(ticks) < 100; n++ {
		ticks = append(ticks, n*step)
	}
	return ticks
}

// niceStep is the least of 1, 2 and 5 times a power of ten that is not below x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}
