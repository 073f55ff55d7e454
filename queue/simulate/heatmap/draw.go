package heatmap

import (
	"fmt"
	"image"
	"math"
	"strconv"
)

// The picture's measures, in pixels.
const (
	width, height = 1160, 1020
	left, top     = 120, 120
	side          = 780 // of the square of cells, and its two
	legendLeft    = left + side + 48
	legendWidth   = 28
	tickLength    = 8
)

// drawCells fills the square; the first row is at the bottom.
func (p *Plot) drawCells(pen *pen) {
	g := p.Counts
	hot, _ := g.hottest()
	for row := range g.Rows {
		for column := range g.Columns {
			x0, x1 := left+column*side/g.Columns, left+(column+1)*side/g.Columns
			y0, y1 := top+side-(row+1)*side/g.Rows, top+side-row*side/g.Rows
			level := float64(g.At(column, row)) / float64(hot)
			pen.fill(image.Rect(x0, y0, x1, y1), shade(level))
		}
	}
}

// drawFrame draws the edge, the ticks and the labels.
func (p *Plot) drawFrame(pen *pen) {
	pen.frame(image.Rect(left, top, left+side, top+side))
	place := func(a Axis, v float64) int { return int(math.Round((v - a.From) / (a.To - a.From) * side)) }
	for _, v := range p.X.ticks() {
		x := left + place(p.X, v)
		pen.fill(image.Rect(x, top+side, x+1, top+side+tickLength), ink)
		pen.text(number(v), pen.small, x, top+side+tickLength+24, atMiddle, ink)
	}
	for _, v := range p.Y.ticks() {
		y := top + side - place(p.Y, v)
		pen.fill(image.Rect(left-tickLength, y, left, y+1), ink)
		pen.text(number(v), pen.small, left-tickLength-8, y+7, atEnd, ink)
	}
	pen.text(p.X.Label, pen.plain, left+side/2, top+side+72, atMiddle, ink)
	pen.upward(p.Y.Label, pen.plain, 44, top+side/2, ink)
}

// drawLegend draws which colour stands for how many.
func (p *Plot) drawLegend(pen *pen) {
	for i := range side {
		level := float64(side-1-i) / (side - 1)
		pen.fill(image.Rect(legendLeft, top+i, legendLeft+legendWidth, top+i+1), shade(level))
	}
	pen.frame(image.Rect(legendLeft, top, legendLeft+legendWidth, top+side))
	hot, most := p.Counts.hottest()
	counts := Axis{To: float64(hot)}
	if hot < 8 {
		counts.Steps = []float64{1}
	}
	for _, v := range counts.ticks() {
		y := top + side - int(math.Round(v/counts.To*side))
		pen.fill(image.Rect(legendLeft+legendWidth, y, legendLeft+legendWidth+tickLength, y+1), ink)
		pen.text(number(v), pen.small, legendLeft+legendWidth+tickLength+8, y+7, atStart, ink)
	}
	label := p.Legend
	if most > hot {
		label = fmt.Sprintf("%s, up to %d", label, most)
	}
	pen.text(label, pen.small, legendLeft, top-18, atStart, ink)
}

// number writes a tick's value: round by its choice, but for what floating
// point adds to it.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
