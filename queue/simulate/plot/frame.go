package plot

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"strconv"
)

// Axis is what is shown along one side, from From to To, From being less.
type Axis struct {
	Label    string
	From, To float64

	// Steps are the distances between ticks to choose from, smallest first. By
	// default they are 1, 2 and 5 times a power of ten.
	Steps []float64
}

// Frame is what is written around a square of data.
type Frame struct {
	Title string
	Note  string // below the title, smaller
	X, Y  Axis
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
	for _, v := range f.X.ticks() {
		x := left + int(math.Round(f.X.part(v)*side))
		canvas.fill(image.Rect(x, top+side, x+1, top+side+tickLength), ink)
		canvas.text(number(v), canvas.small, x, top+side+tickLength+24, atMiddle, ink)
	}
	for _, v := range f.Y.ticks() {
		y := top + side - int(math.Round(f.Y.part(v)*side))
		canvas.fill(image.Rect(left-tickLength, y, left, y+1), ink)
		canvas.text(number(v), canvas.small, left-tickLength-8, y+7, atEnd, ink)
	}
	canvas.text(f.X.Label, canvas.plain, left+side/2, top+side+72, atMiddle, ink)
	canvas.upward(f.Y.Label, canvas.plain, 44, top+side/2, ink)
}

// part is where v lies on the axis, from 0 to 1.
func (a Axis) part(v float64) float64 { return (v - a.From) / (a.To - a.From) }

// covers says whether v lies on the axis.
func (a Axis) covers(v float64) bool { return v >= a.From && v <= a.To }

func (a Axis) cell(v float64, cells int) (int, bool) {
	if !a.covers(v) {
		return 0, false
	}
	return min(int(a.part(v)*float64(cells)), cells-1), true
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

// number writes a tick's value: round by its choice, but for what floating
// point adds to it.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
