package plot

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// The colours of what is not a cell.
var (
	paper = color.RGBA{0xfd, 0xfd, 0xfc, 0xff}
	ink   = color.RGBA{0x26, 0x26, 0x2b, 0xff}
	faint = color.RGBA{0x66, 0x66, 0x70, 0xff}
)

// canvas draws on an image.
type canvas struct {
	img                 *image.RGBA
	title, plain, small font.Face
}

func newCanvas() (*canvas, error) {
	p := &canvas{img: image.NewRGBA(image.Rect(0, 0, width, height))}
	for _, f := range []struct {
		face *font.Face
		ttf  []byte
		size float64
	}{{&p.title, gomedium.TTF, 30}, {&p.plain, goregular.TTF, 22}, {&p.small, goregular.TTF, 19}} {
		parsed, err := opentype.Parse(f.ttf)
		if err != nil {
			return nil, fmt.Errorf("reading a font: %w", err)
		}
		*f.face, err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: f.size, DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			return nil, fmt.Errorf("scaling a font: %w", err)
		}
	}
	p.fill(p.img.Bounds(), paper)
	return p, nil
}

func (p *canvas) fill(r image.Rectangle, c color.Color) {
	draw.Draw(p.img, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// frame draws a thin line around r.
func (p *canvas) frame(r image.Rectangle) {
	p.fill(image.Rect(r.Min.X-1, r.Min.Y-1, r.Max.X+1, r.Min.Y), ink)
	p.fill(image.Rect(r.Min.X-1, r.Max.Y, r.Max.X+1, r.Max.Y+1), ink)
	p.fill(image.Rect(r.Min.X-1, r.Min.Y, r.Min.X, r.Max.Y), ink)
	p.fill(image.Rect(r.Max.X, r.Min.Y, r.Max.X+1, r.Max.Y), ink)
}

// alignment says which part of a text is at its x.
type alignment uint8

const (
	atStart alignment = iota
	atMiddle
	atEnd
)

// text writes s with its baseline at y.
func (p *canvas) text(s string, face font.Face, x, y int, a alignment, c color.Color) {
	switch length := font.MeasureString(face, s).Round(); a {
	case atMiddle:
		x -= length / 2
	case atEnd:
		x -= length
	default:
	}
	d := font.Drawer{Dst: p.img, Src: image.NewUniform(c), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(s)
}

// upward writes s from below to above, with its baseline at x and its middle at
// y.
func (p *canvas) upward(s string, face font.Face, x, y int, c color.Color) {
	ascent, descent := face.Metrics().Ascent.Ceil(), face.Metrics().Descent.Ceil()
	length := font.MeasureString(face, s).Ceil()
	flat := image.NewAlpha(image.Rect(0, 0, length, ascent+descent))
	d := font.Drawer{Dst: flat, Src: image.Opaque, Face: face, Dot: fixed.P(0, ascent)}
	d.DrawString(s)

	turned := image.NewAlpha(image.Rect(0, 0, ascent+descent, length))
	for i := range length {
		for j := range ascent + descent {
			turned.SetAlpha(j, length-1-i, flat.AlphaAt(i, j))
		}
	}
	at := turned.Bounds().Add(image.Pt(x-ascent, y-length/2))
	draw.DrawMask(p.img, at, image.NewUniform(c), image.Point{}, turned, image.Point{}, draw.Over)
}
