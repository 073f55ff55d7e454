package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
)

// figures is what a document has between two comments: our table.
var figures = regexp.MustCompile(`(?s)(<!-- make bench-http -->\n).*(<!-- end -->\n)`)

// writeReadme writes the table of a document anew.
func (c *comparison) writeReadme(trials []*trial) error {
	if c.readme == "" {
		return nil
	}
	text, err := os.ReadFile(c.readme)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	if !figures.Match(text) {
		return errors.New("the document has no place for the figures")
	}
	text = figures.ReplaceAll(text, []byte("${1}\n"+c.markdown(trials)+"\n${2}"))
	if err := os.WriteFile(c.readme, text, 0o644); err != nil {
		return fmt.Errorf("writing the document: %w", err)
	}
	return nil
}

// markdown is the report as a table, and a sentence about where it was made.
func (c *comparison) markdown(trials []*trial) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rounds of %d s, on %d processors (%s), %s, %s.\n\n", c.rounds, c.seconds, runtime.NumCPU(), model(), runtime.Version(), gogc)
	b.WriteString("| | µs | ratio | quartiles | target |\n|---|---|---|---|---|\n")
	for _, t := range trials {
		fmt.Fprintf(&b, "| **%s** | | | | |\n", t.title)
		gate := t.contenders[0]
		fmt.Fprintf(&b, "| %s | %.1f | | | |\n", gate.name, quantile(gate.costs, .5))
		for _, other := range t.contenders[1:] {
			ratios, target := gate.ratios(other), ""
			if other.limit > 0 {
				target = fmt.Sprintf("≤ %.2f", other.limit)
			}
			fmt.Fprintf(&b, "| %s | %.1f | %.2f | %.2f to %.2f | %s |\n", other.name, quantile(other.costs, .5),
				quantile(ratios, .5), quantile(ratios, .25), quantile(ratios, .75), target)
		}
	}
	return b.String()
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
