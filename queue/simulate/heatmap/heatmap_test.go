package heatmap_test

import (
	"bytes"
	"image/color"
	"image/png"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue/simulate/heatmap"
)

// plot has a cell of 4, one of 2 and one of 1 in a 2 × 2 grid from 0 to 10.
func plot() *heatmap.Plot {
	p := &heatmap.Plot{Title: "Waits", Note: "made up", Legend: "people",
		X: heatmap.Axis{Label: "arrival", To: 10}, Y: heatmap.Axis{Label: "wait", To: 10}}
	p.Counts = heatmap.Count(2, 2, p.X, p.Y, func(yield func(x, y float64) bool) {
		for _, at := range [][2]float64{{1, 1}, {2, 2}, {0, 0}, {4.9, 4.9}, {5, 0}, {9, 1}, {10, 10}, {11, 1}, {1, -1}} {
			if !yield(at[0], at[1]) {
				return
			}
		}
	})
	return p
}

func TestPointsAreCountedInTheirCells(t *testing.T) {
	t.Parallel()
	g := plot().Counts
	assert.Equal(t, 4, g.At(0, 0))
	assert.Equal(t, 2, g.At(1, 0), "an edge belongs to the cell above it")
	assert.Equal(t, 1, g.At(1, 1), "and the last edge to the last cell")
	assert.Equal(t, 0, g.At(0, 1))
}

func TestCellsHaveTheColourOfTheirCount(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, plot().WritePNG(&out))
	img, err := png.Decode(&out)
	require.NoError(t, err)
	assert.Equal(t, color.RGBA{0xfd, 0xe7, 0x25, 0xff}, img.At(130, 890), "4 of 4")
	assert.Equal(t, color.RGBA{0x44, 0x01, 0x54, 0xff}, img.At(130, 130), "none")
	assert.Equal(t, color.RGBA{0x23, 0x90, 0x8c, 0xff}, img.At(890, 890), "half of them, half-way between two shades")
}

func TestAnEmptyPlotIsDrawn(t *testing.T) {
	t.Parallel()
	p := &heatmap.Plot{X: heatmap.Axis{To: 1}, Y: heatmap.Axis{To: 1}}
	p.Counts = heatmap.Count(3, 3, p.X, p.Y, func(func(x, y float64) bool) {})
	require.NoError(t, p.WritePNG(io.Discard))
}

func TestAFailingWriterIsAnError(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	require.NoError(t, r.Close())
	require.ErrorContains(t, plot().WritePNG(w), "encoding the heat map")
}
