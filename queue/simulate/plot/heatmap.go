package plot

import (
	"fmt"
	"image"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/fairdoor-gate/fairdoor/queue/axis"
)

// HeatMap is a histogram.
type HeatMap struct {
	Frame
	Legend string // what is counted
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
func Count(columns, rows int, x, y axis.Axis, points iter.Seq2[float64, float64]) Grid {
	g := Grid{Columns: columns, Rows: rows, counts: make([]int, columns*rows)}
	for px, py := range points {
		column, inX := cellOf(x, px, columns)
		row, inY := cellOf(y, py, rows)
		if inX && inY {
			g.counts[row*columns+column]++
		}
	}
	return g
}

// cellOf is which of the cells along an axis has a value, if one does.
func cellOf(a axis.Axis, v float64, cells int) (cell int, found bool) {
	if !a.Covers(v) {
		return 0, false
	}
	return min(int(a.Part(v)*float64(cells)), cells-1), true
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

// WritePNG draws the heat map as a PNG image.
func (h *HeatMap) WritePNG(w io.Writer) error {
	return h.writePNG(w, func(canvas *canvas) {
		h.drawCells(canvas)
		h.drawLegend(canvas)
	})
}

// drawCells fills the square; the first row is at the bottom. Cells with nothing in them stay paper.
func (h *HeatMap) drawCells(canvas *canvas) {
	g := h.Counts
	hot, _ := g.hottest()
	for row := range g.Rows {
		for column := range g.Columns {
			x0, x1 := left+column*side/g.Columns, left+(column+1)*side/g.Columns
			y0, y1 := top+side-(row+1)*side/g.Rows, top+side-row*side/g.Rows
			if n := g.At(column, row); n > 0 {
				canvas.fill(image.Rect(x0, y0, x1, y1), shade(float64(n)/float64(hot)))
			}
		}
	}
}

// drawLegend draws which colour stands for how many.
func (h *HeatMap) drawLegend(canvas *canvas) {
	for i := range side {
		level := float64(side-1-i) / (side - 1)
		canvas.fill(image.Rect(legendLeft, top+i, legendLeft+legendWidth, top+i+1), shade(level))
	}
	canvas.frame(image.Rect(legendLeft, top, legendLeft+legendWidth, top+side))
	hot, most := h.Counts.hottest()
	counts := axis.Axis{To: float64(hot)}
	if hot < 8 {
		counts.Steps = []float64{1}
	}
	for _, v := range counts.Ticks() {
		y := top + side - int(math.Round(v/counts.To*side))
		canvas.fill(image.Rect(legendLeft+legendWidth, y, legendLeft+legendWidth+tickLength, y+1), ink)
		canvas.text(number(v), canvas.small, legendLeft+legendWidth+tickLength+8, y+7, atStart, ink)
	}
	label := h.Legend
	if most > hot {
		label = fmt.Sprintf("%s, up to %d", label, most)
	}
	canvas.text(label, canvas.small, legendLeft, top-18, atStart, ink)
}
