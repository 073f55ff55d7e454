package main

import (
	"io"
	"os"
	"slices"

	"golang.org/x/term"
)

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// hasColor reports whether what is written may be in color: on a terminal that has any, unless
// NO_COLOR is set, as https://no-color.org says.
func hasColor(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// A color is the number of one that a terminal can write in.
type color string

const (
	plain  color = ""
	faint  color = "2"
	red    color = "31"
	yellow color = "33"
)

// of is a line in the color.
func (c color) of(line string) string {
	if c == plain {
		return line
	}
	return "\x1b[" + string(c) + "m" + line + "\x1b[0m"
}

// sparkline draws how numbers have changed: the highest of them is a full block, and zero a blank.
func sparkline(numbers []int) string {
	blocks := []rune(" ▁▂▃▄▅▆▇█")
	if len(numbers) == 0 {
		return ""
	}
	highest, full := max(1, slices.Max(numbers)), len(blocks)-1
	line := make([]rune, len(numbers))
	for i, n := range numbers {
		line[i] = blocks[(n*full+highest-1)/highest]
	}
	return string(line)
}
