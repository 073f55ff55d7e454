package plot

import (
	"image/color"
	"math"
)

// viridis are ten shades of matplotlib's colour map of that name (CC0), evenly
// spaced, which the article's pictures use.
var viridis = [...]color.RGBA{
	{0x44, 0x01, 0x54, 0xff},
	{0x48, 0x28, 0x78, 0xff},
	{0x3e, 0x49, 0x89, 0xff},
	{0x31, 0x68, 0x8e, 0xff},
	{0x26, 0x82, 0x8e, 0xff},
	{0x1f, 0x9e, 0x89, 0xff},
	{0x35, 0xb7, 0x79, 0xff},
	{0x6e, 0xce, 0x58, 0xff},
	{0xb5, 0xde, 0x2b, 0xff},
	{0xfd, 0xe7, 0x25, 0xff},
}

// shade returns the colour for a level from 0 to 1.
func shade(level float64) color.RGBA {
	place := max(0, min(level, 1)) * float64(len(viridis)-1)
	i := min(int(place), len(viridis)-2)
	part := place - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + part*(float64(b)-float64(a)))) }
	a, b := viridis[i], viridis[i+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}
