// Package axis says where values lie along a side of a picture, and which of them get ticks:
// for the charts of pages, and for the pictures of simulations.
package axis

import "math"

// Axis is what is shown along one side, from From to To, From being less.
type Axis struct {
	Label    string
	From, To float64

	// Steps are the distances between ticks to choose from, smallest first. By
	// default they are 1, 2 and 5 times a power of ten.
	Steps []float64
}

// UpTo returns an axis from 0 to a tick at or above a value, with at most five ticks after
// that of 0, of whole numbers.
func UpTo(most float64) Axis {
	most = min(max(most, 1), 1e300)
	step := max(niceStep(most/4), 1)
	return Axis{To: step * math.Ceil(most/step*(1-1e-9)), Steps: []float64{step}}
}

// Part is where v lies on the axis, from 0 to 1.
func (a Axis) Part(v float64) float64 { return (v - a.From) / (a.To - a.From) }

// Covers says whether v lies on the axis.
func (a Axis) Covers(v float64) bool { return v >= a.From && v <= a.To }

// Ticks are the multiples of a step within the axis, few enough to be read.
func (a Axis) Ticks() []float64 {
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
