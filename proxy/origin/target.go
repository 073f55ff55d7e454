package origin

import (
	"net/http"
	"strings"
)

// passable tells whether a request can be written to an HTTP/1.1 connection such that the origin reads back the very
// same one. HTTP/1.1 requests have been checked by net/http; HTTP/2 lets spaces into the path, and a target with a
// space in it would be read as a target and a version.
func passable(r *http.Request) bool {
	return isToken(r.Method) && isPrintable(r.Host, 0x7e) && isPrintable(r.RequestURI, 0xff) && target(r) != ""
}

// isPrintable tells whether s holds neither spaces, control characters nor bytes above top.
func isPrintable(s string, top byte) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] == 0x7f || s[i] > top {
			return false
		}
	}
	return true
}

// isToken tells whether s is a token of RFC 9110, section 5.6.2, as a method has to be.
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// target is the request target that the origin is sent: what the visitor sent, byte for byte, with an absolute form
// (RFC 9112, section 3.2.2) reduced to its origin form. It is empty for a target of neither form.
func target(r *http.Request) string {
	t := r.RequestURI
	if strings.HasPrefix(t, "/") {
		return t
	}
	if t == "*" {
		if r.Method == http.MethodOptions {
			return t
		}
		return ""
	}
	rest, ok := withoutScheme(t)
	if !ok {
		return ""
	}
	i := strings.IndexAny(rest, "/?")
	switch {
	case i == 0: // an absolute form that names no host
		return ""
	case i < 0 && r.Method == http.MethodOptions: // RFC 9112, section 3.2.4
		return "*"
	case i < 0:
		return "/"
	case rest[i] == '?':
		return "/" + rest[i:]
	}
	return rest[i:]
}

func withoutScheme(t string) (rest string, ok bool) {
	for _, scheme := range []string{"http://", "https://"} {
		if len(t) > len(scheme) && strings.EqualFold(t[:len(scheme)], scheme) {
			return t[len(scheme):], true
		}
	}
	return "", false
}

// setTarget makes the transport write the target as it is. URL.Opaque does that for every target but one that begins
// with two slashes, to which URL.RequestURI would give a scheme. Most of those come out right from the parsed path; the
// rest is marked, and carrier sends it over a connection that takes the mark out again.
func setTarget(out, in *http.Request) {
	t := target(in)
	if strings.HasPrefix(t, "//") {
		out.URL.RawQuery = in.URL.RawQuery
		if out.URL.RequestURI() == t {
			return
		}
		t = marker + t
	}
	out.URL.Opaque, out.URL.RawQuery, out.URL.ForceQuery = t, "", false
}
