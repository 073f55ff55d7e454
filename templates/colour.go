package templates

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// readable is the contrast that WCAG 2.2 AA asks for between a text and what is behind it.
const readable = 4.5

// colour has red, green and blue.
type colour [3]uint8

// black and white are what a colour is mixed with to be seen, or read on.
var black, white = colour{}, colour{255, 255, 255}

// parseColour reads a colour such as "#0a7d55" or "#0a7".
func parseColour(text string) (c colour, ok bool) {
	digits, found := strings.CutPrefix(text, "#")
	if len(digits) == 3 {
		digits = strings.Join([]string{"", digits[:1], digits[:1], digits[1:2], digits[1:2], digits[2:], digits[2:]}, "")
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	return colour{uint8(n >> 16), uint8(n >> 8), uint8(n)}, found && len(digits) == 6 && err == nil
}

// String is the colour as style sheets write it.
func (c colour) String() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// opposite is black or white, whichever is easier to read on c. One of them has a contrast of at
// least 4.58 to every colour.
func (c colour) opposite() colour {
	if c.contrast(black) > c.contrast(white) {
		return black
	}
	return white
}

// readableOn is the colour nearest to c, by as much of another as is mixed into it, that can be read
// beside paper, and in how many steps of 64 it was found.
func (c colour) readableOn(paper, other colour) (nearest colour, steps int) {
	const most = 64
	nearest = c
	for ; nearest.contrast(paper) < readable && steps < most; steps++ {
		for i := range c {
			nearest[i] = uint8((int(c[i])*(most-steps-1) + int(other[i])*(steps+1)) / most)
		}
	}
	return nearest, steps
}

// contrast is the contrast to another colour by WCAG 2.2.
func (c colour) contrast(to colour) float64 {
	light, dark := c.luminance(), to.luminance()
	return (max(light, dark) + 0.05) / (min(light, dark) + 0.05)
}

// luminance is the relative luminance by WCAG 2.2.
func (c colour) luminance() float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(c[i]) / 255
		if c <= 0.04045 {
			sum += weight * c / 12.92
		} else {
			sum += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return sum
}
