package route

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxQueryLen   = 8 << 10 // of a query that is not in doubt, in bytes
	maxParameters = 100     // of the same; servers take a thousand and more
)

// parameter is the condition on a parameter of the query.
type parameter struct {
	named
	written string // "name=value"; with any value "name="
}

func compileQuery(key, text string, fault report) parameter {
	if text == "" {
		return parameter{}
	}
	name, value, found := strings.Cut(text, "=")
	if name == "" || strings.ContainsFunc(name+value, notInQuery) {
		fault(key, text, `is not "name=value", or "name" for any value, of letters, digits and - . _ ~: servers read other characters in different ways`)
	}
	return parameter{named: named{name: name, value: value, anyValue: !found}, written: name + "=" + value}
}

func notInQuery(r rune) bool { return notInName(r) && r != '.' && r != '~' }

// holds reports whether the condition on the query holds. It holds for sure if the parameter is
// there as it is written, and clear. It is in doubt if some server may find it.
func (p *parameter) holds(a *ask, doubt bool) bool {
	if p.name == "" {
		return true
	}
	if doubt {
		return p.mayBeIn(a.Target) || disputed(a.Target)
	}
	_, query, _ := strings.Cut(a.Target, "?")
	return p.isIn(query) && p.isClearIn(query) && a.known && !endsEarly(a.path) && !slices.ContainsFunc(a.odd, endsEarly)
}

// endsEarly reports whether some server begins the query within a reading of the path.
func endsEarly(path string) bool { return strings.ContainsAny(path, "?#") }

// isIn reports whether a query has the parameter as it is written.
func (p *parameter) isIn(query string) bool {
	for part := range strings.SplitSeq(query, "&") {
		if p.isWritten(part) {
			return true
		}
	}
	return false
}

// isWritten reports whether a part of a query is the parameter, byte for byte.
func (p *parameter) isWritten(part string) bool {
	return part == p.written || p.anyValue && (part == p.name || strings.HasPrefix(part, p.written))
}

// mayBeIn reports whether some server may find the parameter with its value in a target: with
// other bytes between parameters, decoded once more, or with a name that it takes for the same.
func (p *parameter) mayBeIn(target string) bool {
	for level := 0; level <= maxDecodings; level++ {
		for part := range strings.FieldsFuncSeq(target, betweenParameters) {
			name, value, _ := strings.Cut(part, "=")
			if p.mayBeCalled(name) && p.mayAccept(decodeQuery(decodeQuery(value))) {
				return true
			}
		}
		target = decodeQuery(target)
	}
	return false
}

func betweenParameters(r rune) bool { return strings.ContainsRune("?&;#", r) }

// mayBeCalled reports whether some server takes a name for that of the parameter: in any letter
// case, decoded, cut at a bracket or a NUL, and with underscores for dots and spaces, as PHP has
// them.
func (p *parameter) mayBeCalled(name string) bool {
	return looseName(decodeQuery(decodeQuery(name))) == looseName(p.name)
}

func looseName(name string) string {
	if end := strings.IndexAny(name, "[\x00"); end >= 0 {
		name = name[:end]
	}
	return fold(strings.NewReplacer(" ", "_", ".", "_").Replace(strings.TrimFunc(name, isSpace)))
}

// isClearIn reports whether all servers agree on the parameter of a query that has it: nothing
// else in the query may be taken for it, and it is the only one of its name, unless any value
// will do. Servers do not agree about queries that are long or have many parameters, or that some
// of them cannot read.
func (p *parameter) isClearIn(query string) bool {
	if len(query) > maxQueryLen || strings.Count(query, "&") >= maxParameters || strings.ContainsFunc(query, notPrintable) {
		return false
	}
	for level := 0; level <= maxDecodings; level++ {
		if !readable(query, level < maxDecodings) || !p.isAloneIn(query) {
			return false
		}
		query = decodeQuery(query)
	}
	return true
}

func notPrintable(r rune) bool { return r <= ' ' || r >= 0x7f }

// readable reports whether no server stumbles over a query, or cuts it off somewhere.
func readable(query string, encoded bool) bool {
	if strings.ContainsAny(query, ";?#") || strings.ContainsFunc(query, isControl) || !utf8.ValidString(query) {
		return false
	}
	for i := 0; encoded && i < len(query); i++ {
		if _, ok := escaped(query[i:]); query[i] == '%' && !ok {
			return false
		}
	}
	return true
}

// isAloneIn reports whether what may be taken for the parameter, in a query, is the parameter as it
// is written: once, unless any value will do.
func (p *parameter) isAloneIn(query string) bool {
	found := 0
	for part := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(part, "="); !p.mayBeCalled(name) {
			continue
		}
		if found++; !p.isWritten(part) || found > 1 && !p.anyValue {
			return false
		}
	}
	return found > 0
}

// decodeQuery decodes the escapes of a query once, as far as they are any.
func decodeQuery(s string) string { return decode(strings.ReplaceAll(s, "+", " "), true) }
