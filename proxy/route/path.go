package route

import (
	"fmt"
	"strings"
)

// fold removes the letter case of a path. It does so more thoroughly than origins that
// ignore case: İ, ı, I and i all become the same.
func fold(path string) string {
	return strings.ToLower(strings.ToUpper(path))
}

// covers reports whether path is prefix or lies below it, by whole segments. The prefix is
// folded and has no slash at its end. The path is folded, or it is ASCII in any letter case.
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

// cutBraces splits a configured path at its segment in braces. Without one the name is "".
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

// IsValue reports whether a segment can be the value of braces.
func IsValue(segment string) bool {
	return segment != "" && len(segment) <= maxValueLen && !strings.ContainsFunc(segment, notInName)
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// maxConfigured is the length of the longest path of a room, in bytes.
const maxConfigured = 4096

// CheckPath returns what is wrong with the configured path of a room, or ""; it continues a
// sentence that begins with the path.
func CheckPath(path string) string {
	switch problem := checkPath(path); {
	case problem != "":
		return problem
	case strings.Contains(path, "*"):
		return "cannot be a pattern: a path covers everything below it as it is"
	case strings.ContainsFunc(path, func(r rune) bool { return r == ' ' || isControl(r) }):
		return "holds white space or control characters"
	case len(path) > maxConfigured:
		return fmt.Sprintf("is too long: at most %d bytes", maxConfigured)
	}
	return checkBraces(path)
}

// checkPath returns what is wrong with a path, or "". A path may have no readings but itself
// and itself decoded: it would cover paths that nobody sees in it.
func checkPath(path string) string {
	if problem := checkWritten(path); problem != "" {
		return problem
	}
	return checkDecoded(path, decode(path, true))
}

// checkWritten returns what is wrong with a path as it is written, or "".
func checkWritten(path string) string {
	switch {
	case !strings.HasPrefix(path, "/"):
		return "does not begin with a slash" + slashHint(path)
	case strings.ContainsAny(path, "?#"):
		return "holds a query or a fragment: only the path counts"
	case strings.Contains(path, `\`):
		return "holds a backslash: paths have slashes"
	case strings.ContainsFunc(decode(path, true), isControl):
		return "holds white space or control characters"
	case len(path) > maxPathLen:
		return fmt.Sprintf("is too long: at most %d bytes", maxPathLen)
	case hasOddSegment(path):
		return "has an empty, . or .. segment"
	}
	return ""
}

// checkDecoded returns what is wrong with a path that is right as it is written, or "".
func checkDecoded(path, decoded string) string {
	switch {
	case strings.ContainsAny(decoded, `;\#?`):
		return `has ; \ # or ?, which different servers read differently: it cannot be guarded`
	case decode(path, false) != decoded:
		return "has an encoded slash: to some servers it is a slash, to others it is not"
	case hasOddSegment(decoded):
		return "has an empty, . or .. segment once it is decoded"
	case trimDots(decoded) != decoded:
		return "has a segment that ends in a dot or a space: to some servers it is the one without"
	case decode(decoded, true) != decoded:
		return "is encoded twice"
	case disputed(decoded):
		return "is not encoded as UTF-8, in %XX"
	}
	return ""
}

// hasOddSegment reports whether a path has an empty, . or .. segment.
func hasOddSegment(path string) bool { return mergeSlashes(path) != path || resolveDots(path) != path }

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func slashHint(path string) string {
	if path == "" || CheckPath("/"+path) != "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", "/"+path)
}
