package plot_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/axis"
	"github.com/fairdoor-gate/fairdoor/queue/simulate/plot"
)

// frame has axes from 0 to 10.
func frame() plot.Frame {
	return plot.Frame{Title: "Waits", Note: "made up", X: axis.Axis{Label: "arrival", To: 10}, Y: axis.Axis{Label: "wait", To: 10}}
}

// points yields them.
func points(all ...[2]float64) iter.Seq2[float64, float64] {
	return func(yield func(x, y float64) bool) {
		for _, at := range all {
			if !yield(at[0], at[1]) {
				return
			}
		}
	}
}

// heatMap has a cell of 4, one of 2 and one of 1 in a 2 × 2 grid from 0 to 10.
func heatMap() *plot.HeatMap {
	m := &plot.HeatMap{Frame: frame(), Legend: "people"}
	m.Counts = plot.Count(2, 2, m.X, m.Y, points([][2]float64{{1, 1}, {2, 2}, {0, 0}, {4.9, 4.9}, {5, 0}, {9, 1}, {10, 10}, {11, 1}, {1, -1}}...))
	return m
}

// drawn is the picture of a plot.
func drawn(t *testing.T, p interface{ WritePNG(io.Writer) error }) image.Image {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, p.WritePNG(&out))
	img, err := png.Decode(&out)
	require.NoError(t, err)
	return img
}

func TestPointsAreCountedInTheirCells(t *testing.T) {
	t.Parallel()
	g := heatMap().Counts
	assert.Equal(t, 4, g.At(0, 0))
	assert.Equal(t, 2, g.At(1, 0), "an edge belongs to the cell above it")
	assert.Equal(t, 1, g.At(1, 1), "and the last edge to the last cell")
	assert.Equal(t, 0, g.At(0, 1))
}

func TestCellsHaveTheColourOfTheirCount(t *testing.T) {
	t.Parallel()
	img := drawn(t, heatMap())
	assert.Equal(t, color.RGBA{0xfd, 0xe7, 0x25, 0xff}, img.At(130, 890), "4 of 4")
	assert.Equal(t, color.RGBA{0xfd, 0xfd, 0xfc, 0xff}, img.At(130, 130), "none: paper")
	assert.Equal(t, color.RGBA{0x23, 0x90, 0x8c, 0xff}, img.At(890, 890), "half of them, half-way between two shades")
}

func TestAScatterPlotHasADotForEachPoint(t *testing.T) {
	t.Parallel()
	paper := drawn(t, &plot.Scatter{Frame: frame(), Points: points()})
	img := drawn(t, &plot.Scatter{Frame: frame(), Size: 3, Points: points([2]float64{5, 2.5}, [2]float64{0, 10}, [2]float64{11, 5})})
	different := func(x, y int) bool { return img.At(x, y) != paper.At(x, y) }
	assert.True(t, different(120+390, 120+585), "in the middle, a quarter of the way up")
	assert.True(t, different(122, 122), "at the end of both axes")
	assert.False(t, different(116, 116), "and no part of it is outside the square")
	changed := 0
	before, after := paper.(*image.RGBA).Pix, img.(*image.RGBA).Pix
	for i := 0; i < len(after); i += 4 {
		if !bytes.Equal(before[i:i+4], after[i:i+4]) {
			changed++
		}
	}
	assert.InDelta(t, 3.14*6.5*6.5*1.25+13, changed, 20, "a dot, a quarter of one, and nothing of the point that is outside the axes")
}

func TestDotsOfManyPointsAreSmallAndPale(t *testing.T) {
	t.Parallel()
	dot := func(size int) color.RGBA {
		img := drawn(t, &plot.Scatter{Frame: frame(), Size: size, Points: points([2]float64{5, 5})})
		return img.At(120+390, 120+390).(color.RGBA)
	}
	assert.Greater(t, dot(100_000).R, dot(100).R)
}

func TestEmptyPlotsAreDrawn(t *testing.T) {
	t.Parallel()
	m := &plot.HeatMap{Frame: plot.Frame{X: axis.Axis{To: 1}, Y: axis.Axis{To: 1}}}
	m.Counts = plot.Count(3, 3, m.X, m.Y, points())
	require.NoError(t, m.WritePNG(io.Discard))
	require.NoError(t, (&plot.Scatter{Frame: m.Frame, Points: points()}).WritePNG(io.Discard))
}

func TestAFailingWriterIsAnError(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	require.NoError(t, r.Close())
	require.ErrorContains(t, heatMap().WritePNG(w), "encoding a picture")
}
