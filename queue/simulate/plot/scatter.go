package plot

import (
	"image"
	"image/color"
	"image/draw"
	"io"
	"iter"
	"math"
)

// Scatter has a dot for each point. The more points there are, the smaller and the paler
// are the dots, so that one sees where they lie densely.
type Scatter struct {
	Frame
	Size   int                         // how many points there are, about
	Points iter.Seq2[float64, float64] // those outside the axes are left out
}

// dotColour is a shade of the heat maps.
var dotColour = color.RGBA{0x31, 0x68, 0x8e, 0xff}

// WritePNG draws the scatter plot as a PNG image.
func (s *Scatter) WritePNG(w io.Writer) error { return s.writePNG(w, s.drawDots) }

// drawDots draws the dots, but no part of them outside the square.
func (s *Scatter) drawDots(canvas *canvas) {
	dot := newDot(s.Size)
	square := image.Rect(left, top, left+side, top+side)
	within := canvas.img.SubImage(square).(*image.RGBA)
	for x, y := range s.Points {
		if !s.X.Covers(x) || !s.Y.Covers(y) {
			continue
		}
		middle := image.Pt(left+int(math.Round(s.X.Part(x)*side)), top+side-int(math.Round(s.Y.Part(y)*side)))
		at := dot.Bounds().Add(middle.Sub(dot.Bounds().Max.Div(2)))
		draw.DrawMask(within, at, image.NewUniform(dotColour), image.Point{}, dot, image.Point{}, draw.Over)
	}
}

// newDot returns a dot for so many points.
func newDot(points int) *image.Alpha {
	crowding := math.Pow(100/float64(max(points, 100)), .25) // 1 for up to a hundred points
	radius, opacity := max(6*crowding, .8), max(.85*crowding, .1)
	size := 2*int(math.Ceil(radius)) + 1
	dot := image.NewAlpha(image.Rect(0, 0, size, size))
	for i := range size {
		for j := range size {
			distance := math.Hypot(float64(i-size/2), float64(j-size/2))
			covered := max(0, min(radius-distance+.5, 1))
			dot.SetAlpha(i, j, color.Alpha{A: uint8(math.Round(255 * opacity * covered))})
		}
	}
	return dot
}
