package route

import "strings"

// maxPathLen is the length of the longest path that is read, in bytes.
const maxPathLen = 8 << 10

// pathOf returns the path of a request target as it came on the wire. The target may have
// the origin form (/path?query), the absolute form (http://host/path?query) or the asterisk
// form, which is about the whole host. ok is false for every other target, and for a path
// that is too long.
func pathOf(target string) (path string, ok bool) {
	path, _, _ = strings.Cut(target, "?")
	switch {
	case path == "" || path == "*":
		return "/", true
	case path[0] != '/':
		path, ok = absolutePath(path)
	default:
		ok = true
	}
	return path, ok && len(path) <= maxPathLen
}

// absolutePath returns what follows scheme://host.
func absolutePath(target string) (path string, ok bool) {
	scheme, rest, found := strings.Cut(target, "://")
	if !found || strings.ContainsAny(scheme, `/\%#`) {
		return "", false
	}
	end := strings.IndexAny(rest, `/\#`)
	switch {
	case end < 0:
		return "/", true
	case rest[end] == '/':
		return rest[end:], true
	}
	return "/" + rest[end:], true
}

// isPlain reports whether a path is the only reading of itself: it has no byte that some
// step of reading changes, no empty segment, and no segment that ends in a dot.
func isPlain(path string) bool {
	segment := 0 // where the segment begins that path[i] is in
	for i := range len(path) {
		if c := path[i]; plainByte(c) {
			continue
		} else if c != '/' || i > 0 && oddSegment(path[segment:i]) {
			return false
		}
		segment = i + 1
	}
	return !strings.HasSuffix(path, ".")
}

func oddSegment(segment string) bool { return segment == "" || strings.HasSuffix(segment, ".") }

// plainByte accepts what RFC 3986 allows in a segment, without "%" and ";".
func plainByte(c byte) bool {
	const letters = 1<<26 - 1
	const (
		below64 = 1<<'!' | 1<<'$' | 1<<'&' | 1<<'\'' | 1<<'(' | 1<<')' | 1<<'*' | 1<<'+' | 1<<',' |
			1<<'-' | 1<<'.' | (1<<10-1)<<'0' | 1<<':' | 1<<'='
		from64 = 1<<('@'-64) | letters<<('A'-64) | 1<<('_'-64) | letters<<('a'-64) | 1<<('~'-64)
	)
	if c < 64 {
		return uint64(below64)>>c&1 != 0
	}
	return c < 128 && uint64(from64)>>(c-64)&1 != 0
}
