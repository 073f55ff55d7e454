package chart

import (
	"fmt"
	"math"
	"strings"
)

// Spark is a small line without axes, of values at equal distances, in the colour of the text around
// it. Unknown values are NaN: the line has a gap there. It is told as a sentence.
func Spark(values []float64, told string) string {
	const width, height, most = 120, 28, 60
	for len(values) > most {
		values = halved(values)
	}
	highest := 1.0
	for _, v := range values {
		if usable(v) {
			highest = max(highest, v)
		}
	}
	var path strings.Builder
	move := "M"
	for i, v := range values {
		if !usable(v) {
			move = "M"
			continue
		}
		x := float64(width) * float64(i) / float64(max(len(values)-1, 1))
		fmt.Fprintf(&path, "%s%s %s", move, number(x), number(1+(height-2)*(1-v/highest)))
		move = "L"
	}
	return fmt.Sprintf(`<svg class="spark" role="img" viewBox="0 0 %d %d" preserveAspectRatio="none"><title>%s</title>`+
		`<path d="%s" fill="none" stroke="currentColor" stroke-width="1.5" vector-effect="non-scaling-stroke"/></svg>`, width, height, escape(told), path.String())
}

// halved has the higher of each two values.
func halved(values []float64) []float64 {
	half := make([]float64, 0, len(values)/2+1)
	for i := 0; i < len(values); i += 2 {
		v := values[i]
		if next := i + 1; next < len(values) && (math.IsNaN(v) || values[next] > v) {
			v = values[next]
		}
		half = append(half, v)
	}
	return half
}
