package templates

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/anteroom-gate/anteroom/templates/spelling"
)

const (
	// maxNesting is how deep sections may be nested. Rendering costs the
	// square of it, and nobody can read a page that needs more.
	maxNesting = 32
	// maxFaults is how many faults are told of one template.
	maxFaults = 50
)

// Fault is one thing that is wrong with a template. Line and Col count from 1,
// Col in characters; they are 0 where the place is not known.
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

// Error tells one fault a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// check finds what is wrong with the source of a template.
func check(source []byte) Faults {
	switch {
	case len(source) > MaxSource:
		return Faults{{Message: fmt.Sprintf("the template has %d bytes; at most %d are allowed", len(source), MaxSource)}}
	case len(bytes.TrimSpace(source)) == 0:
		return Faults{{Message: "the template is empty"}}
	case !utf8.Valid(source):
		return Faults{{Line: invalidLine(source), Message: "the template is not valid UTF-8"}}
	}
	tags, faults := scan(string(source))
	c := checker{known: Variables(), faults: faults}
	for _, t := range tags {
		c.check(t)
	}
	for _, t := range c.open {
		c.fault(t, "the section %q is never closed by {{/%s}}", t.name, t.name)
	}
	slices.SortStableFunc(c.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	if more := len(c.faults) - maxFaults; more > 0 {
		c.faults = append(c.faults[:maxFaults], Fault{Message: fmt.Sprintf("… and %d more", more)})
	}
	return c.faults
}

func invalidLine(source []byte) int {
	line := 1
	for len(source) > 0 {
		r, size := utf8.DecodeRune(source)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		source = source[size:]
	}
	return line
}

// checker checks the tags of a template one after another.
type checker struct {
	known  []string
	open   []tag // the sections around the tag
	faults Faults
}

func (c *checker) check(t tag) {
	switch t.kind {
	case partial:
		c.fault(t, "partials such as {{>%s}} are not supported: put their text into the template", t.name)
		return
	case sectionEnd:
		c.close(t)
		return
	}
	if t.kind == rawVariable && t.name != "turnstile" {
		c.fault(t, "%q would be put in without escaping; write {{%s}} (only turnstile is raw)", t.name, t.name)
	}
	c.name(t)
	if t.kind == section || t.kind == invertedSection {
		c.open = append(c.open, t)
		if len(c.open) == maxNesting+1 {
			c.fault(t, "sections are nested more than %d deep", maxNesting)
		}
	}
}

// name checks that the variable of a tag exists.
func (c *checker) name(t tag) {
	if t.name == "." {
		if !c.inSection() {
			c.fault(t, "{{.}} stands for the value of a section, and there is none around it")
		}
		return
	}
	if _, found := slices.BinarySearch(c.known, t.name); found {
		return
	}
	if near := spelling.Nearest(t.name, c.known); near != "" {
		c.fault(t, "unknown variable %q; did you mean %q?", t.name, near)
		return
	}
	c.fault(t, "unknown variable %q", t.name)
}

// inSection reports whether {{.}} has a value here. An inverted section has
// none of its own: there it is what it is around that section, or all
// variables at once.
func (c *checker) inSection() bool {
	return slices.ContainsFunc(c.open, func(t tag) bool { return t.kind == section })
}

func (c *checker) close(t tag) {
	n := len(c.open)
	if n > 0 && c.open[n-1].name == t.name {
		c.open = c.open[:n-1]
		return
	}
	opened := slices.ContainsFunc(c.open, func(o tag) bool { return o.name == t.name })
	switch {
	case !opened:
		c.fault(t, "{{/%s}} closes a section that is not open", t.name)
	default:
		inner := c.open[n-1]
		c.fault(t, "{{/%s}} comes before the end of the section %q of line %d", t.name, inner.name, inner.line)
		for c.open[len(c.open)-1].name != t.name {
			c.open = c.open[:len(c.open)-1]
		}
		c.open = c.open[:len(c.open)-1]
	}
}

func (c *checker) fault(t tag, format string, args ...any) {
	c.faults = append(c.faults, Fault{Line: t.line, Col: t.col, Message: fmt.Sprintf(format, args...)})
}
