package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// report returns the medians, the ratios to the gate in the same rounds and the targets, as a table
// of Markdown, and how many targets were missed.
func (c *comparison) report(trials []*trial) (text string, missed int) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rounds of %d s, on %d processors (%s), %s, %s.\n\n", c.rounds, c.seconds, runtime.NumCPU(), model(), runtime.Version(), gogc)
	table := tabwriter.NewWriter(&b, 0, 0, 0, ' ', tabwriter.Debug) // which draws a line after each column
	row := func(cells ...any) {
		fmt.Fprintf(table, "| %s \t %s \t %s \t %s \t %s \t\n", cells...)
	}
	row("", "µs", "ratio", "quartiles", "target")
	fmt.Fprint(table, "|"+strings.Repeat("---\t", 5)+"\n")
	for _, t := range trials {
		row("**"+t.title+"**", "", "", "", "")
		gate := t.contenders[0]
		row(gate.name, gate.cost(), "", "", "")
		for _, other := range t.contenders[1:] {
			ratios, goal := gate.ratios(other), ""
			if other.limit > 0 {
				goal = fmt.Sprintf("≤ %.2f", other.limit)
			}
			if goal != "" && quantile(ratios, .5) > other.limit {
				goal += ", missed"
				missed++
			}
			row(other.name, other.cost(), fmt.Sprintf("%.2f", quantile(ratios, .5)),
				fmt.Sprintf("%.2f to %.2f", quantile(ratios, .25), quantile(ratios, .75)), goal)
		}
	}
	_ = table.Flush() // to memory
	return b.String(), missed
}

// cost is the median of the costs.
func (one *contender) cost() string { return fmt.Sprintf("%.1f", quantile(one.costs, .5)) }

// quantile interpolates between the values nearest to the share q of them. It is no
// number if there are none.
func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// medianOf is the median of a figure of some measurements.
func medianOf[M any](all []M, figure func(M) float64) float64 {
	var figures []float64
	for _, m := range all {
		figures = append(figures, figure(m))
	}
	return quantile(figures, .5)
}

// model is the name of the processors' model.
func model() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // without it the model is not known
	name := regexp.MustCompile(`(?m)^model name\s*: (.*)$`).FindSubmatch(text)
	if name == nil {
		return runtime.GOARCH
	}
	return string(name[1])
}
