package cookie

import (
	"iter"
	"strings"
)

const (
	maxHeaderLen = 16 << 10 // of all Cookie header lines together, in bytes
	maxCookies   = 3000     // as in net/http, which reports no cookie at all if there are more
)

// readable reports whether the Cookie header lines of a request have a size and bytes that
// cookies can have.
func readable(lines []string) bool {
	size, cookies := 0, 0
	for _, line := range lines {
		size += len(line)
		cookies += strings.Count(line, ";") + 1
		if size > maxHeaderLen || cookies > maxCookies || hasControl(line) {
			return false
		}
	}
	return true
}

// hasControl reports whether s has a control byte. The tab counts as none: browsers keep it
// in cookie values. hasControl looks at eight bytes at once, because it reads every Cookie
// header: a byte at a time, as in httpguts.ValidHeaderFieldValue, 460 bytes of cookies take
// 0.6 µs instead of 0.3 (BenchmarkReadNone).
func hasControl(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		if mayHaveControl(word) && hasControlByte(s[:8]) {
			return true
		}
	}
	return hasControlByte(s)
}

// mayHaveControl is true if one of the eight bytes is below ' ', the tab included, or is
// DEL: then a subtraction borrows from its highest bit.
func mayHaveControl(word uint64) bool {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	del := word ^ 0x7f*ones
	return ((word-' '*ones)&^word|(del-ones)&^del)&highs != 0
}

func hasControlByte(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

// values yields, in their order, the values of the cookies with the name, and of those with
// "__Host-" and the name, for which host is true. It searches for the name and does not look
// at every cookie, because most of a Cookie header is other people's.
func values(lines []string, name string) iter.Seq2[string, bool] {
	return func(yield func(value string, host bool) bool) {
		for _, line := range lines {
			for from := 0; ; {
				at := strings.Index(line[from:], name)
				if at < 0 {
					break
				}
				at += from
				from = at + len(name)
				if from == len(line) || line[from] != '=' {
					continue
				}
				before := line[:at]
				bare := strings.TrimSuffix(before, hostPrefix)
				if startsCookie(bare) && !yield(valueAt(line, from+1), len(bare) < len(before)) {
					return
				}
			}
		}
	}
}

// startsCookie reports whether a cookie begins right after before.
func startsCookie(before string) bool {
	before = strings.TrimRight(before, " \t")
	return before == "" || before[len(before)-1] == ';'
}

// valueAt returns the cookie value that begins at the index. Some clients put
// a value that ends in "=" between quotes; these are dropped, as net/http
// does.
func valueAt(line string, at int) string {
	value, _, _ := strings.Cut(line[at:], ";")
	value = strings.Trim(value, " \t")
	if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
		value = value[1 : len(value)-1]
	}
	return value
}
