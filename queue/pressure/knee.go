package pressure

import "math"

// When a knee counts as seen.
const (
	beside    = 3   // points on either side of it, at least
	rises     = 1.5 // the latency behind it over that at it, at least
	muchBest  = .5  // the error of two lines over that of one, at most
	kneeSteps = 400 // how finely it is looked for
)

// findKnee returns where two lines meet that fit the points best, and the latency there. It is not
// ok if that is no knee.
func findKnee(list []point) (knee, latency float64, ok bool) {
	if len(list) < 2*beside {
		return 0, 0, false
	}
	_, alone := fit(list, math.Inf(1))
	low, high := list[beside-1].x, list[len(list)-beside].x
	least, best := math.Inf(1), [3]float64{}
	for i := range kneeSteps + 1 {
		at := low + (high-low)*float64(i)/kneeSteps
		if line, failure := fit(list, at); failure < least {
			least, best, knee = failure, line, at
		}
	}
	latency = best[0] + best[1]*knee
	last := list[len(list)-1].x
	behind := latency + (best[1]+best[2])*(last-knee)
	return knee, latency, best[2] > 0 && latency > 0 && behind >= rises*latency && least <= muchBest*alone
}

// fit fits y = a + b·x + c·max(0, x-knee) by least squares, without c if the knee is infinite, and
// returns the error that is left.
func fit(list []point, knee float64) (line [3]float64, failure float64) {
	var m [3][4]float64
	for _, p := range list {
		row := [4]float64{1, p.x, max(0, p.x-knee), p.y}
		for i := range 3 {
			for k := range row {
				m[i][k] += p.weight * row[i] * row[k]
			}
		}
	}
	if math.IsInf(knee, 1) {
		m[2] = [4]float64{0, 0, 1, 0}
	}
	line = solve(m)
	for _, p := range list {
		off := p.y - line[0] - line[1]*p.x - line[2]*max(0, p.x-knee)
		failure += p.weight * off * off
	}
	return line, failure
}

// solve solves three linear equations by elimination. What is not determined is 0.
func solve(m [3][4]float64) (x [3]float64) {
	for i := range m {
		pivot := i
		for k := i + 1; k < 3; k++ {
			if math.Abs(m[k][i]) > math.Abs(m[pivot][i]) {
				pivot = k
			}
		}
		m[i], m[pivot] = m[pivot], m[i]
		if math.Abs(m[i][i]) < 1e-300 {
			continue
		}
		for k := range m {
			if k == i {
				continue
			}
			f := m[k][i] / m[i][i]
			for j := i; j < 4; j++ {
				m[k][j] -= f * m[i][j]
			}
		}
	}
	for i := range x {
		if math.Abs(m[i][i]) >= 1e-300 {
			x[i] = m[i][3] / m[i][i]
		}
	}
	return x
}
