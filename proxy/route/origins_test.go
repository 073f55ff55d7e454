package route_test

import (
	"net/url"
	"path"
	"strings"
)

// origin reads the path of a request target in the way some kind of server
// does, and returns the path of what it would serve. ok is false where it
// would answer with an error.
type origin struct {
	name string
	read func(target string) (served string, ok bool)
}

// origins are models of servers, written apart from the code under test.
var origins = []origin{
	{"a handler that takes the path as it came", func(target string) (string, bool) { return target, true }},
	{"a mux that decodes and cleans", func(target string) (string, bool) {
		decoded, err := url.PathUnescape(target)
		return path.Clean(decoded), err == nil
	}},
	{"a servlet container", servlet},
	{"nginx", func(target string) (string, bool) {
		target, _, _ = strings.Cut(target, "#")
		decoded, err := url.PathUnescape(target)
		return path.Clean(decoded), err == nil && !strings.Contains(decoded, "\x00")
	}},
	{"IIS", func(target string) (string, bool) {
		decoded, err := url.PathUnescape(target)
		decoded = strings.ReplaceAll(decoded, `\`, "/")
		return strings.ToLower(path.Clean(decoded)), err == nil
	}},
	{"a proxy that decodes before an application that decodes", func(target string) (string, bool) {
		once, err1 := url.PathUnescape(target)
		twice, err2 := url.PathUnescape(path.Clean(once))
		return path.Clean(twice), err1 == nil && err2 == nil
	}},
	{"an application that decodes twice and ignores backslashes and case", func(target string) (string, bool) {
		once, err1 := url.PathUnescape(target)
		twice, err2 := url.PathUnescape(once)
		return strings.ToUpper(path.Clean(strings.ReplaceAll(twice, `\`, "/"))), err1 == nil && err2 == nil
	}},
	{"Apache, which keeps encoded slashes", func(target string) (string, bool) {
		hidden := strings.NewReplacer("%2f", "\xff", "%2F", "\xff").Replace(target)
		decoded, err := url.PathUnescape(hidden)
		return strings.ReplaceAll(path.Clean(decoded), "\xff", "%2f"), err == nil
	}},
	{"Node, which parses the target as a URL", node},
	{"a CGI program, whose strings end at a NUL", func(target string) (string, bool) {
		decoded, err := url.PathUnescape(target)
		decoded, _, _ = strings.Cut(decoded, "\x00")
		return path.Clean(decoded), err == nil
	}},
	{"a rewriter that pastes the decoded path into a URL", func(target string) (string, bool) {
		decoded, err := url.PathUnescape(target)
		if end := strings.IndexAny(decoded, "?#"); end >= 0 {
			decoded = decoded[:end]
		}
		return path.Clean(decoded), err == nil
	}},
	{"a lenient decoder that leaves bad escapes", func(target string) (string, bool) {
		return path.Clean(decodeLeniently(target)), true
	}},
	{"two lenient decoders", func(target string) (string, bool) {
		return path.Clean(decodeLeniently(decodeLeniently(target))), true
	}},
	{"IIS, whose names of files end before dots and spaces", windows},
	{"an application that trims what it decodes", func(target string) (string, bool) {
		decoded, err := url.PathUnescape(target)
		segments := strings.Split(path.Clean(decoded), "/")
		for i, segment := range segments {
			segments[i] = strings.TrimRight(segment, "\t\n\v\f\r\x1c\x1d\x1e\x1f\x7f \u0085\u00a0\u2028\u3000\ufeff")
		}
		return path.Clean(strings.Join(segments, "/")), err == nil
	}},
	{"two servers, of which the second trims", func(target string) (string, bool) {
		once, err1 := url.PathUnescape(target)
		twice, err2 := url.PathUnescape(once)
		return strings.TrimRight(twice, " .\t"), err1 == nil && err2 == nil
	}},
	{"RFC 3986 to the letter", func(target string) (string, bool) { return removeDotSegments(target), true }},
}

// windows does what the system does with the name of a file: of each element that
// is no dot segment, the dots and spaces at its end do not count.
func windows(target string) (string, bool) {
	target, _, _ = strings.Cut(target, ";")
	decoded, err := url.PathUnescape(target)
	decoded, _, _ = strings.Cut(decoded, "\x00")
	elements := strings.FieldsFunc(decoded, func(r rune) bool { return r == '/' || r == '\\' })
	for i, element := range elements {
		if element = strings.TrimRight(element, " "); element != "." && element != ".." {
			element = strings.TrimRight(element, " .")
		}
		elements[i] = element
	}
	return path.Clean("/" + strings.Join(elements, "/")), err == nil
}

// servlet cuts parameters, decodes, takes backslashes for slashes, normalises.
func servlet(target string) (string, bool) {
	segments := strings.Split(target, "/")
	for i, segment := range segments {
		segments[i], _, _ = strings.Cut(segment, ";")
	}
	decoded, err := url.PathUnescape(strings.Join(segments, "/"))
	return path.Clean(strings.ReplaceAll(decoded, `\`, "/")), err == nil
}

// node does what new URL(target, base).pathname does, then decodes.
func node(target string) (string, bool) {
	target, _, _ = strings.Cut(target, "#")
	target = strings.ReplaceAll(target, `\`, "/")
	if rest, found := strings.CutPrefix(target, "//"); found {
		_, rest, _ = strings.Cut(rest, "/")
		target = "/" + rest
	}
	segments := strings.Split(target, "/")
	for i, segment := range segments {
		if dots := strings.NewReplacer("%2e", ".", "%2E", ".").Replace(segment); dots == "." || dots == ".." {
			segments[i] = dots
		}
	}
	decoded, err := url.PathUnescape(removeDotSegments(strings.Join(segments, "/")))
	return decoded, err == nil
}

// removeDotSegments is the algorithm of RFC 3986, section 5.2.4, as written.
func removeDotSegments(in string) string {
	var out string
	for in != "" {
		switch {
		case strings.HasPrefix(in, "/./"):
			in = in[2:]
		case in == "/.":
			in = "/"
		case strings.HasPrefix(in, "/../"), in == "/..":
			in = "/" + strings.TrimPrefix(in[3:], "/")
			out = out[:max(0, strings.LastIndexByte(out, '/'))]
		default:
			end := strings.IndexByte(in[1:], '/') + 1
			if end == 0 {
				end = len(in)
			}
			out, in = out+in[:end], in[end:]
		}
	}
	return out
}

func decodeLeniently(target string) string {
	var b strings.Builder
	for target != "" {
		if len(target) >= 3 && target[0] == '%' {
			if c, err := url.PathUnescape(target[:3]); err == nil {
				b.WriteString(c)
				target = target[3:]
				continue
			}
		}
		b.WriteByte(target[0])
		target = target[1:]
	}
	return b.String()
}

// serves says whether what an origin serves is the path or below it.
func serves(served, path string) bool {
	served = strings.ToLower(served)
	return served == path || strings.HasPrefix(served, path+"/")
}
