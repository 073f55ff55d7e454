package route

import "strings"

// fold returns a path with letter case removed, more thoroughly than origins
// that ignore case do it: İ, ı, I and i all become the same.
func fold(path string) string {
	return strings.ToLower(strings.ToUpper(path))
}

// covers says whether path is prefix or lies below it, by whole segments. The
// prefix is folded and has no slash at its end; the path is ASCII in any case,
// or folded.
func covers(prefix, path string) bool {
	if len(path) < len(prefix) || len(path) > len(prefix) && path[len(prefix)] != '/' {
		return false
	}
	for i := range len(prefix) {
		if lower(path[i]) != prefix[i] {
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// roomPath returns the canonical form of a configured path: decoded, folded
// and without a slash at its end.
func roomPath(path string) string {
	return strings.TrimSuffix(fold(decode(path, true)), "/")
}

// cutBraces splits a configured path at its segment in braces, whose name is ""
// where there is none.
func cutBraces(path string) (head, name, tail string) {
	head, rest, found := strings.Cut(path, "/{")
	if !found {
		return path, "", ""
	}
	name, tail, _ = strings.Cut(rest, "}")
	return head, name, tail
}

// maxValueLen is the length of the longest value that braces stand for.
const maxValueLen = 64

// isValue says whether a segment can be the value of braces.
func isValue(segment string) bool {
	return segment != "" && len(segment) <= maxValueLen && !strings.ContainsFunc(segment, notInName)
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// checkRoomPath returns what is wrong with the configured path of a room, or "".
func checkRoomPath(path string) string {
	head, name, tail := cutBraces(path)
	if strings.ContainsAny(head+tail, "{}") || strings.ContainsFunc(name, notInName) ||
		name == "" && head != path || tail != "" && tail[0] != '/' {
		return "braces hold a name and stand for a whole segment, once: /room/{id}"
	}
	return checkPath(path)
}

// checkPath returns what is wrong with a configured path, or "". A path that
// has other readings than itself and itself decoded would cover what nobody
// sees in it.
func checkPath(path string) string {
	if path == "" {
		return ""
	}
	decoded := decode(path, true)
	switch {
	case path[0] != '/':
		return "a path begins with /"
	case strings.Contains(path, "*"):
		return "wildcards do not exist; a path covers everything below it"
	case strings.Contains(path, "?"):
		return "a path has no query"
	case strings.ContainsFunc(decoded, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "a path has no control characters"
	case strings.ContainsAny(decoded, `;\#?`):
		return `a path with ; \ # or ? is read differently by different servers and cannot be guarded`
	case decode(path, false) != decoded:
		return "a path has no encoded slash: to some servers it is a slash, to others it is not"
	case mergeSlashes(decoded) != decoded || resolveDots(decoded) != decoded:
		return "a path has no empty, . or .. segments"
	case trimDots(decoded) != decoded:
		return "no segment of a path ends in a dot or a space: to some servers it is the one without"
	case decode(decoded, true) != decoded:
		return "a path is encoded at most once"
	case disputed(decoded):
		return "a path is encoded as UTF-8, in %XX"
	case len(path) > maxPathLen:
		return "this path is too long"
	}
	return ""
}
