package plot

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"strconv"

	"github.com/fairdoor-gate/fairdoor/queue/axis"
)

// Frame is what is written around a square of data.
type Frame struct {
	Title string
	Note  string // below the title, smaller
	X, Y  axis.Axis
}

// The picture's measures, in pixels.
const (
	width, height = 1160, 1020
	left, top     = 120, 120
	side          = 780 // of the square of data, and its two
	legendLeft    = left + side + 48
	legendWidth   = 28
	tickLength    = 8
)

// writePNG draws the data and the frame, and writes them as a PNG image.
func (f *Frame) writePNG(w io.Writer, data func(*canvas)) error {
	canvas, err := newCanvas()
	if err != nil {
		return fmt.Errorf("drawing a picture: %w", err)
	}
	data(canvas)
	f.draw(canvas)
	if err := png.Encode(w, canvas.img); err != nil {
		return fmt.Errorf("encoding a picture: %w", err)
	}
	return nil
}

// draw draws the edge, the ticks and the labels.
func (f *Frame) draw(canvas *canvas) {
	canvas.text(f.Title, canvas.title, left, 52, atStart, ink)
	canvas.text(f.Note, canvas.small, left, 84, atStart, faint)
	canvas.frame(image.Rect(left, top, left+side, top+side))
	for _, v := range f.X.Ticks() {
		x := left + int(math.Round(f.X.Part(v)*side))
		canvas.fill(image.Rect(x, top+side, x+1, top+side+tickLength), ink)
		canvas.text(number(v), canvas.small, x, top+side+tickLength+24, atMiddle, ink)
	}
	for _, v := range f.Y.Ticks() {
		y := top + side - int(math.Round(f.Y.Part(v)*side))
		canvas.fill(image.Rect(left-tickLength, y, left, y+1), ink)
		canvas.text(number(v), canvas.small, left-tickLength-8, y+7, atEnd, ink)
	}
	canvas.text(f.X.Label, canvas.plain, left+side/2, top+side+72, atMiddle, ink)
	canvas.upward(f.Y.Label, canvas.plain, 44, top+side/2, ink)
}

// number writes a tick's value: round by its choice, but for what floating
// point adds to it.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
