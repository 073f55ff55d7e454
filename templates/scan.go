package templates

import "strings"

// kind is the kind of a tag: the character that the tag begins with, or zero for a variable,
// which begins with none.
type kind byte

const (
	variable        kind = 0
	rawVariable     kind = '&'
	section         kind = '#'
	invertedSection kind = '^'
	sectionEnd      kind = '/'
	partial         kind = '>'
)

// A tag is a Mustache tag at an offset of the source.
type tag struct {
	kind kind
	name string
	at   int
}

// scanner finds the tags of a template. Mustache's own Tags have no positions and do not show
// which are raw, and there are none for a template that does not compile. So it takes a
// scanner to report every fault at once, with its position. It reads tags as the library
// does, which FuzzTemplate checks. It reports a fault where the library would silently read
// a tag as something else than it looks like.
type scanner struct {
	report
	open, close string // the delimiters
	next        int    // start of what is not yet read
	tags        []tag
}

// scan lists the tags of source, and reports the faults of their syntax.
func scan(source string) ([]tag, report) {
	s := &scanner{report: report{source: source}, open: "{{", close: "}}"}
	for s.scanTag() {
	}
	return s.tags, s.report
}

// scanTag reads one tag, and reports whether there may be another.
func (s *scanner) scanTag() bool {
	skipped := strings.Index(s.source[s.next:], s.open)
	if skipped < 0 {
		return false
	}
	at := s.next + skipped
	inside := s.source[at+len(s.open):]
	closing := s.close
	if strings.HasPrefix(inside, "{") {
		closing = "}" + closing
	}
	length := strings.Index(inside, closing)
	if length < 0 {
		s.fault(at, "the tag %s is not closed by %s", quote(s.source[at:]), closing)
		return false
	}
	length += len(closing)
	s.next = at + len(s.open) + length
	s.readTag(at, strings.TrimSpace(inside[:length-len(s.close)]))
	return true
}

// readTag reads a tag from its text between the delimiters.
func (s *scanner) readTag(at int, text string) {
	if text == "" {
		s.fault(at, "empty tag")
		return
	}
	switch text[0] {
	case '!':
	case '=':
		s.setDelimiters(at, text)
	case '{':
		name, ok := strings.CutSuffix(text[1:], "}")
		if !ok {
			s.fault(at, "the tag %s does not end with }", quote(text))
			return
		}
		s.add(at, rawVariable, name)
	case '#', '^', '/', '>', '&':
		s.add(at, kind(text[0]), text[1:])
	default:
		s.add(at, variable, text)
	}
}

func (s *scanner) add(at int, kind kind, name string) {
	s.tags = append(s.tags, tag{kind: kind, name: strings.TrimSpace(name), at: at})
}

// setDelimiters reads a tag such as {{=<% %>=}}.
func (s *scanner) setDelimiters(at int, text string) {
	var pair []string
	if len(text) >= 3 && strings.HasSuffix(text, "=") {
		pair = strings.Split(strings.TrimSpace(text[1:len(text)-1]), " ")
	}
	if len(pair) != 2 || strings.ContainsAny(pair[0]+pair[1], "=\t\r\n\v\f\u0085\u00a0") {
		s.fault(at, "new delimiters are written as {{=<%% %%>=}}, with one space between them")
		return
	}
	s.open, s.close = pair[0], pair[1]
}

// quote returns a part of a template for a message, shortened.
func quote(text string) string {
	const most = 24
	line, _, _ := strings.Cut(text, "\n")
	if runes := []rune(strings.TrimSpace(line)); len(runes) > most {
		return `"` + string(runes[:most]) + `…"`
	}
	return `"` + strings.TrimSpace(line) + `"`
}
