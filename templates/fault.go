package templates

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxFaults is how many faults of one template are listed.
const maxFaults = 50

// Fault is something that is wrong with a template. Line and Col count from 1, Col in
// characters. They are 0 if the position is not known.
type Fault struct {
	Line, Col int
	Message   string
}

// String is the fault as "line:col: message".
func (f Fault) String() string {
	switch {
	case f.Line == 0:
		return f.Message
	case f.Col == 0:
		return fmt.Sprintf("%d: %s", f.Line, f.Message)
	default:
		return fmt.Sprintf("%d:%d: %s", f.Line, f.Col, f.Message)
	}
}

// Faults is everything that is wrong with a template, in the order of the
// source.
type Faults []Fault

// Error lists the faults, one a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// report collects the faults and the doubts of a source with their offsets.
type report struct {
	source          string
	found, doubtful []offsetFault
}

type offsetFault struct {
	at      int
	message string
}

func (r *report) fault(at int, format string, args ...any) {
	r.found = append(r.found, offsetFault{at, fmt.Sprintf(format, args...)})
}

func (r *report) doubt(at int, format string, args ...any) {
	r.doubtful = append(r.doubtful, offsetFault{at, fmt.Sprintf(format, args...)})
}

// line is the number of the line that holds the offset.
func (r *report) line(at int) int { return 1 + strings.Count(r.source[:at], "\n") }

// listed returns the first maxFaults of a list with their positions, and a last fault that says
// how many more there are. It finds the positions of these few only, because each takes a pass
// over the source.
func (r *report) listed(found []offsetFault) Faults {
	slices.SortStableFunc(found, func(a, b offsetFault) int { return cmp.Compare(a.at, b.at) })
	var faults Faults
	for _, f := range found[:min(len(found), maxFaults)] {
		lineStart := strings.LastIndexByte(r.source[:f.at], '\n') + 1
		faults = append(faults, Fault{
			Line: r.line(f.at), Col: utf8.RuneCountInString(r.source[lineStart:f.at]) + 1, Message: f.message,
		})
	}
	if more := len(found) - maxFaults; more > 0 {
		faults = append(faults, Fault{Message: fmt.Sprintf("… and %d more", more)})
	}
	return faults
}
