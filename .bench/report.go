package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// report prints the medians, the ratios to the gate and the verdicts, and
// returns how many targets were missed.
func (c *comparison) report(w io.Writer, trials []*trial) (missed int) {
	fmt.Fprintf(w, "Processor time a request, user and system, of the server's process alone (from /proc).\n"+
		"Medians of %d interleaved rounds of %d s, %d connections, a browser's headers, %s unless said otherwise.\n"+
		"The ratio is the gate's cost divided by the other's in the same round: median, and quartiles in parentheses.\n",
		c.rounds, c.seconds, connections, gogc)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, t := range trials {
		fmt.Fprintf(table, "\n%s\n", t.title)
		gate := t.contenders[0]
		fmt.Fprintf(table, "  %s\t%.1f µs\t\t\t\t\n", gate.name, quantile(gate.costs, .5))
		for _, other := range t.contenders[1:] {
			ratios := gate.ratios(other)
			ratio := quantile(ratios, .5)
			fmt.Fprintf(table, "  %s\t%.1f µs\t%.2f\t(%.2f to %.2f)\t%s\n", other.name, quantile(other.costs, .5),
				ratio, quantile(ratios, .25), quantile(ratios, .75), other.verdict(ratio))
			if other.missedBy(ratio) {
				missed++
			}
		}
	}
	if err := table.Flush(); err != nil {
		return missed
	}
	if c.caddy == "" {
		fmt.Fprintln(w, "\nCaddy is left out: there is no program of it.")
	}
	return missed
}

// ratios are the costs divided by those of another in the same rounds.
func (one *contender) ratios(other *contender) []float64 {
	ratios := make([]float64, len(one.costs))
	for i := range ratios {
		ratios[i] = one.costs[i] / other.costs[i]
	}
	return ratios
}

func (one *contender) missedBy(ratio float64) bool {
	return one.limit > 0 && ratio > one.limit
}

func (one *contender) verdict(ratio float64) string {
	if one.limit == 0 {
		return ""
	}
	verdict := "met"
	if one.missedBy(ratio) {
		verdict = "MISSED"
	}
	return fmt.Sprintf("target ≤ %.2f: %s", one.limit, verdict)
}

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

// writeRaw writes what each contender cost in each round, tab-separated.
func (c *comparison) writeRaw(trials []*trial) error {
	if c.raw == "" {
		return nil
	}
	var b strings.Builder
	b.WriteString("trial\tserver\tround\tmicroseconds\n")
	for _, t := range trials {
		for _, one := range t.contenders {
			for round, cost := range one.costs {
				b.WriteString(t.title + "\t" + one.name + "\t" + strconv.Itoa(round+1) + "\t" + strconv.FormatFloat(cost, 'f', 2, 64) + "\n")
			}
		}
	}
	if err := os.WriteFile(c.raw, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	return nil
}
