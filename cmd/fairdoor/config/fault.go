package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxFaults bounds how many faults are collected, so that a file of nothing but faults stays
// readable and cheap.
const maxFaults = 1000

// maxMessage bounds a message, in bytes.
const maxMessage = 1000

// Position says where a fault or a warning comes from.
type Position struct {
	// Source is the path of a file, a flag with its dashes, or the name of an environment variable.
	Source string
	// Line and Col count from 1, Col in characters; both are 0 where Source is no file or could not
	// be read.
	Line, Col int
	// Key is the key's path in the file, such as rooms[0].session_duration; "" for what concerns
	// the file as a whole.
	Key string
}

// String is FILE:LINE:COL: key for a file, and the bare name of a flag or variable.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.Source
	case p.Key == "":
		return fmt.Sprintf("%s:%d:%d", p.Source, p.Line, p.Col)
	default:
		return fmt.Sprintf("%s:%d:%d: %s", p.Source, p.Line, p.Col, p.Key)
	}
}

// A Fault is one thing that is wrong with a configuration.
type Fault struct {
	Position
	// Message says what is wrong, without the value of any secret.
	Message string
}

// Error is the position and the message in one line.
func (f Fault) Error() string { return f.Position.String() + ": " + f.Message }

// String is the same as Error.
func (f Fault) String() string { return f.Error() }

// A Warning is a fault that is probably not meant, and does no harm.
type Warning = Fault

// Faults is everything that is wrong with a configuration: the file's faults in the order of the
// file, then those of the files it names, and those of the environment and of the flags, each in
// the order of the keys.
type Faults []Fault

// Error has one line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

func (d *loader) fault(p Position, format string, args ...any) {
	switch {
	case d.stopped:
		return
	case len(d.faults) == maxFaults:
		d.stopped = true
		format, args = "there are more faults than the %d listed", []any{maxFaults}
		p.Key = ""
	}
	d.faults = append(d.faults, Fault{p, oneLine(fmt.Sprintf(format, args...))})
}

func (d *loader) warn(p Position, format string, args ...any) {
	if len(d.warnings) < maxFaults {
		d.warnings = append(d.warnings, Warning{p, oneLine(fmt.Sprintf(format, args...))})
	}
}

// oneLine keeps a message on one line that can still be read, whatever it was given to repeat.
func oneLine(message string) string {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, message)
}

// result returns what was collected in its order, without repetitions; the error is nil or a
// Faults.
func (d *loader) result() ([]Warning, error) {
	for _, list := range []*Faults{&d.faults, &d.warnings} {
		slices.SortStableFunc(*list, func(a, b Fault) int { return d.compare(a.Position, b.Position) })
		seen := map[Fault]bool{}
		*list = slices.DeleteFunc(*list, func(f Fault) bool {
			repeated := seen[f]
			seen[f] = true
			return repeated
		})
	}
	if len(d.faults) > 0 {
		return d.warnings, d.faults
	}
	return d.warnings, nil
}

// keyOrder numbers the variables and the flags in the order of their keys, from 1.
var keyOrder = func() map[string]int {
	order := map[string]int{}
	for i, k := range Keys() {
		order[k.Env], order["--"+k.Flag] = i+1, i+1
	}
	return order
}()

// compare orders positions in files by their lines, and variables and flags by their keys.
func (d *loader) compare(a, b Position) int {
	return cmp.Or(cmp.Compare(d.rank(a), d.rank(b)), cmp.Compare(keyOrder[a.Source], keyOrder[b.Source]),
		cmp.Compare(a.Source, b.Source), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}

// rank orders the kinds of sources.
func (d *loader) rank(p Position) int {
	switch {
	case p.Source == d.File && d.File != "":
		return 0
	case p.Line > 0:
		return 1
	case !strings.HasPrefix(p.Source, "--"):
		return 2
	default:
		return 3
	}
}
