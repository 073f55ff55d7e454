package route

import (
	"strings"
	"unicode"
)

// decode decodes percent escapes once. Unless slashes is true it leaves those of slash and
// backslash, as servers do that tell an encoded slash from a separator. What is not a valid
// escape stays.
func decode(path string, slashes bool) string {
	return unescape(path, func(c byte) bool { return slashes || c != '/' && c != '\\' })
}

// mustBeEscaped reports whether a path can have a byte as an escape only, and no step of
// reading changes it. There is one way to write such a byte, so its escape is no spelling
// that somebody has chosen.
func mustBeEscaped(c byte) bool { return c >= 0x80 || strings.IndexByte(" \"<>^`{|}", c) >= 0 }

// unescape decodes the percent escapes of some bytes, once.
func unescape(path string, of func(byte) bool) string {
	if strings.IndexByte(path, '%') < 0 {
		return path
	}
	var b strings.Builder
	b.Grow(len(path))
	for i := 0; i < len(path); i++ {
		c, ok := escaped(path[i:])
		if !ok || !of(c) {
			b.WriteByte(path[i])
			continue
		}
		b.WriteByte(c)
		i += 2
	}
	return b.String()
}

// escaped returns the byte that s begins with as a percent escape.
func escaped(s string) (c byte, ok bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	high, ok1 := hexDigit(s[1])
	low, ok2 := hexDigit(s[2])
	return high<<4 | low, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// resolveDots removes "." and ".." segments by RFC 3986, section 5.2.4: an
// empty segment is a segment, which ".." takes away like any other.
func resolveDots(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	var kept []string
	rest := strings.TrimPrefix(path, "/")
	for more := true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		switch segment {
		case ".", "..":
			if segment == ".." && len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
			if !more {
				kept = append(kept, "") // what ends in a dot segment is a folder
			}
		default:
			kept = append(kept, segment)
		}
	}
	return "/" + strings.Join(kept, "/")
}

// mergeSlashes makes every run of slashes one.
func mergeSlashes(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

// cutParams cuts ";" and what follows it off every segment.
func cutParams(path string) string {
	at := strings.IndexByte(path, ';')
	if at < 0 {
		return path
	}
	var b strings.Builder
	b.Grow(len(path))
	for at >= 0 {
		b.WriteString(path[:at])
		path = path[at:]
		end := strings.IndexByte(path, '/')
		if end < 0 {
			return b.String()
		}
		path = path[end:]
		at = strings.IndexByte(path, ';')
	}
	b.WriteString(path)
	return b.String()
}

// trimSpace cuts the white space and control characters off the end of every
// segment, as programs do that trim their input.
func trimSpace(path string) string {
	return trimSegments(path, func(segment string) string { return strings.TrimRightFunc(segment, isSpace) })
}

// trimDots cuts dots and white space off the end of every segment but the dot segments.
func trimDots(path string) string {
	return trimSegments(path, func(segment string) string {
		if isDots(segment) {
			return segment
		}
		return strings.TrimRightFunc(segment, func(r rune) bool { return r == '.' || isSpace(r) })
	})
}

// trimNames cuts dots and blanks off the end of every segment, as Windows does with the
// names of files: of a dot segment with blanks it leaves the dots.
func trimNames(path string) string {
	return trimSegments(path, func(segment string) string {
		if bare := strings.TrimRight(segment, " "); isDots(bare) {
			return bare
		}
		return strings.TrimRight(segment, ". ")
	})
}

func isDots(segment string) bool { return segment == "." || segment == ".." }

// isSpace reports whether some language takes a character for white space. Only JavaScript
// takes U+FEFF for it.
func isSpace(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\ufeff' }

// trimSegments has the end of every segment cut off. It copies only what follows a segment
// that gets shorter.
func trimSegments(path string, trim func(segment string) string) string {
	var b strings.Builder
	copied, start := 0, 0
	for start <= len(path) {
		end := len(path)
		if i := strings.IndexByte(path[start:], '/'); i >= 0 {
			end = start + i
		}
		if kept := trim(path[start:end]); len(kept) < end-start {
			b.WriteString(path[copied : start+len(kept)])
			copied = end
		}
		start = end + 1
	}
	if copied == 0 {
		return path
	}
	return b.String() + path[copied:]
}

// dropHost takes what follows a leading "//" for a host and removes it.
func dropHost(path string) string {
	rest, found := strings.CutPrefix(path, "//")
	if !found {
		return path
	}
	if end := strings.IndexByte(rest, '/'); end >= 0 {
		return rest[end:]
	}
	return "/"
}

// disputed reports whether servers read a path in too many ways to list: it has %uXXXX, or a
// character below U+0800 in more bytes of UTF-8 than it needs, which lenient decoders take
// for that character.
func disputed(path string) bool {
	for i := range len(path) {
		switch c := path[i]; {
		case c == '%':
			if isUnicodeEscape(path[i:]) {
				return true
			}
		case c >= 0xc0:
			if isOverlong(path[i:]) {
				return true
			}
		}
	}
	return false
}

func isUnicodeEscape(s string) bool {
	if len(s) < 6 || s[1] != 'u' && s[1] != 'U' {
		return false
	}
	for i := 2; i < 6; i++ {
		if _, ok := hexDigit(s[i]); !ok {
			return false
		}
	}
	return true
}

// isOverlong reports whether s begins with a character in more bytes than it needs. The lead
// byte and the first continuation byte show it (RFC 3629, section 4).
func isOverlong(s string) bool {
	if len(s) < 2 || s[1] < 0x80 || s[1] > 0xbf {
		return false
	}
	switch s[0] {
	case 0xc0, 0xc1:
		return true
	case 0xe0:
		return s[1] < 0xa0
	case 0xf0:
		return s[1] < 0x90
	}
	return false
}
