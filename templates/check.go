package templates

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairdoor-gate/fairdoor/templates/spelling"
)

// maxNesting is how deep sections may be nested. Rendering costs its square, and nobody can
// read a page that needs more.
const maxNesting = 32

// mostListed is how many variables a fault lists. Those of pages are more.
const mostListed = 25

// check finds what is wrong with the source of a page.
func check(source []byte) Faults {
	c := pageChecker()
	return c.faultsOf(source)
}

// Doubts lists what the source of a page has that renders as nothing: variables of Cloudflare's
// Waiting Room that have no value here. They do no harm, so that pages that were made for
// Cloudflare can be used unchanged, and they are no faults of [Parse].
func Doubts(source []byte) Faults {
	c := pageChecker()
	_ = c.faultsOf(source) // they are what Parse tells
	return c.listed(c.doubtful)
}

func pageChecker() checker {
	return checker{known: Variables(), raw: []string{"turnstile", "client"}, theirs: CloudflareVariables()}
}

// faultsOf finds what is wrong with the source of a template.
func (c *checker) faultsOf(source []byte) Faults {
	switch {
	case len(source) > MaxSource:
		return Faults{{Message: fmt.Sprintf("the template has %d bytes; at most %d are allowed", len(source), MaxSource)}}
	case len(bytes.TrimSpace(source)) == 0:
		return Faults{{Message: "the template is empty"}}
	case !utf8.Valid(source):
		return Faults{{Line: invalidLine(source), Message: "the template is not valid UTF-8"}}
	}
	tags, syntax := scan(string(source))
	c.report = syntax
	for _, t := range tags {
		c.check(t)
	}
	for _, t := range c.open {
		c.fault(t.at, "the section %q is never closed by {{/%s}}", t.name, t.name)
	}
	return c.listed(c.found)
}

// invalidLine is the number of the first line that is not UTF-8.
func invalidLine(source []byte) int {
	line := 0
	for text := range bytes.Lines(source) {
		line++
		if !utf8.Valid(text) {
			break
		}
	}
	return line
}

// checker checks the tags of a template one after another.
type checker struct {
	report
	known  []string // the variables, in alphabetical order
	raw    []string // those of them that are HTML, which is put in without escaping
	theirs []string // those that Cloudflare has, too
	open   []tag    // the sections around the tag
}

func (c *checker) check(t tag) {
	switch t.kind {
	case partial:
		c.fault(t.at, "partials such as {{>%s}} are not supported: put their text into the template", t.name)
	case sectionEnd:
		c.closeSection(t)
	case section, invertedSection:
		c.checkName(t)
		c.openSection(t)
	case rawVariable:
		if !slices.Contains(c.raw, t.name) && !c.isLacking(t.name) {
			c.fault(t.at, "%q would be put in without escaping; write {{%s}}%s", t.name, t.name, c.onlyRaw())
		}
		c.checkName(t)
	default:
		if t.name == "client" && slices.Contains(c.raw, t.name) {
			c.fault(t.at, "the client is HTML; write {{{client}}}")
		}
		c.checkName(t)
	}
}

// checkName checks that the variable of a tag exists.
func (c *checker) checkName(t tag) {
	if t.name == "." {
		if !c.inSection() {
			c.fault(t.at, "{{.}} stands for the value of a section, and there is none around it")
		}
		return
	}
	if _, found := slices.BinarySearch(c.known, t.name); found {
		c.doubtName(t)
		return
	}
	if c.isLacking(t.name) {
		c.doubt(t.at, "%q is not among the variables here; it looks like one of Cloudflare's, so it is empty", t.name)
		return
	}
	if near := spelling.Nearest(t.name, c.known); near != "" {
		c.fault(t.at, "unknown variable %q; did you mean %q?", t.name, near)
		return
	}
	if len(c.known) <= mostListed {
		c.fault(t.at, "unknown variable %q; there are %s", t.name, strings.Join(c.known, ", "))
		return
	}
	c.fault(t.at, "unknown variable %q", t.name)
}

// onlyRaw continues the fault of a variable that is not raw.
func (c *checker) onlyRaw() string {
	if len(c.raw) == 0 {
		return ""
	}
	return fmt.Sprintf(" (only %s are raw)", strings.Join(c.raw, " and "))
}

// inSection reports whether {{.}} has a value here. An inverted section gives it none: there
// it has its value from around the section, or is all variables at once.
func (c *checker) inSection() bool {
	return slices.ContainsFunc(c.open, func(t tag) bool { return t.kind == section })
}

func (c *checker) openSection(t tag) {
	c.open = append(c.open, t)
	if len(c.open) == maxNesting+1 {
		c.fault(t.at, "sections are nested more than %d deep", maxNesting)
	}
}

// closeSection closes the innermost section with the tag's name, and the sections in it.
func (c *checker) closeSection(t tag) {
	last := len(c.open) - 1
	opened := last
	for opened >= 0 && c.open[opened].name != t.name {
		opened--
	}
	switch {
	case opened < 0:
		c.fault(t.at, "{{/%s}} closes a section that is not open", t.name)
		return
	case opened < last:
		inner := c.open[last]
		c.fault(t.at, "{{/%s}} comes before the end of the section %q of line %d", t.name, inner.name, c.line(inner.at))
	}
	c.open = c.open[:opened]
}
