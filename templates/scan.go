package templates

import (
	"strings"
	"unicode/utf8"
)

// kind tells the tags of a template apart.
type kind byte

const (
	variable kind = iota
	rawVariable
	section
	invertedSection
	sectionEnd
	partial
)

// A tag is a Mustache tag with its place in the source; line and col count
// from 1, col in characters.
type tag struct {
	kind      kind
	name      string
	line, col int
}

// scanner finds the tags of a template with their places, which the Mustache
// library does not tell. It follows that library's reading, quirks included,
// and reports as a fault whatever the library would silently take for
// something else than it looks like.
type scanner struct {
	source      string
	open, close string
	pos         int // start of what is not yet read
	counted     int // line and lineStart are right up to here
	line        int
	lineStart   int
	tags        []tag
	faults      Faults
}

// scan lists the tags of source, and the faults of their syntax.
func scan(source string) ([]tag, Faults) {
	s := &scanner{source: source, open: "{{", close: "}}", line: 1}
	for s.next() {
	}
	return s.tags, s.faults
}

// next reads one tag and reports whether there can be another.
func (s *scanner) next() bool {
	found := strings.Index(s.source[s.pos:], s.open)
	if found < 0 {
		return false
	}
	start := s.pos + found
	at := s.place(start)
	inside := start + len(s.open)
	closing := s.close
	if strings.HasPrefix(s.source[inside:], "{") {
		closing = "}" + closing
	}
	length := strings.Index(s.source[inside:], closing)
	if length < 0 {
		s.fault(at, "the tag "+quote(s.source[start:])+" is not closed by "+closing)
		return false
	}
	s.pos = inside + length + len(closing)
	text := strings.TrimSpace(s.source[inside : s.pos-len(s.close)])
	if text == "" {
		s.fault(at, "empty tag")
		return true
	}
	s.read(text, at)
	return true
}

// read takes in a tag by its text between the delimiters.
func (s *scanner) read(text string, at tag) {
	rest := strings.TrimSpace(text[1:])
	switch text[0] {
	case '!':
		return
	case '=':
		s.delimiters(text, at)
		return
	case '#':
		at.kind, at.name = section, rest
	case '^':
		at.kind, at.name = invertedSection, rest
	case '/':
		at.kind, at.name = sectionEnd, rest
	case '>':
		at.kind, at.name = partial, rest
	case '&':
		at.kind, at.name = rawVariable, rest
	case '{':
		if !strings.HasSuffix(text, "}") {
			s.fault(at, "the tag "+quote(text)+" does not end with }")
			return
		}
		at.kind, at.name = rawVariable, strings.TrimSpace(strings.TrimSuffix(rest, "}"))
	default:
		at.kind, at.name = variable, text
	}
	s.tags = append(s.tags, at)
}

// delimiters reads a tag such as {{=<% %>=}}.
func (s *scanner) delimiters(text string, at tag) {
	var pair []string
	if len(text) >= 3 && strings.HasSuffix(text, "=") {
		pair = strings.Split(strings.TrimSpace(text[1:len(text)-1]), " ")
	}
	if len(pair) != 2 || strings.ContainsAny(pair[0]+pair[1], "=\t\r\n\v\f\u0085\u00a0") {
		s.fault(at, "new delimiters are written as {{=<% %>=}}, with one space between them")
		return
	}
	s.open, s.close = pair[0], pair[1]
}

// place is a tag without kind and name at this offset. Offsets only grow from
// one call to the next.
func (s *scanner) place(offset int) tag {
	passed := s.source[s.counted:offset]
	if n := strings.Count(passed, "\n"); n > 0 {
		s.line += n
		s.lineStart = s.counted + strings.LastIndexByte(passed, '\n') + 1
	}
	s.counted = offset
	return tag{line: s.line, col: utf8.RuneCountInString(s.source[s.lineStart:offset]) + 1}
}

func (s *scanner) fault(at tag, message string) {
	s.faults = append(s.faults, Fault{Line: at.line, Col: at.col, Message: message})
}

// quote shortens what is cited from a template in a message.
func quote(text string) string {
	const most = 24
	line, _, _ := strings.Cut(text, "\n")
	if runes := []rune(strings.TrimSpace(line)); len(runes) > most {
		return `"` + string(runes[:most]) + `…"`
	}
	return `"` + strings.TrimSpace(line) + `"`
}
