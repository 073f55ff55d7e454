package origin

import (
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// passable reports whether the origin reads the very same request from an HTTP/1.1 connection.
// net/http has checked requests that came by HTTP/1.1. HTTP/2 allows spaces in the path: the origin
// would read a target with a space as a target and a version.
func passable(r *http.Request) bool {
	return httpguts.ValidHeaderFieldName(r.Method) && isPrintable(r.Host, 0x7e) && isPrintable(r.RequestURI, 0xff) && target(r) != ""
}

// isPrintable reports whether s has no spaces, no control characters and no bytes above top.
func isPrintable(s string, top byte) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] == 0x7f || s[i] > top {
			return false
		}
	}
	return true
}

// target is the request target for the origin: what the visitor sent, byte for byte, but an
// absolute form (RFC 9112, section 3.2.2) is reduced to its origin form. It is empty for a target
// of neither form.
func target(r *http.Request) string {
	t := r.RequestURI
	switch {
	case strings.HasPrefix(t, "/"), t == "*" && r.Method == http.MethodOptions:
		return t
	case t == "*":
		return ""
	}
	rest, ok := withoutScheme(t)
	if !ok {
		return ""
	}
	return originForm(r.Method, rest)
}

// originForm is the origin form of what follows the scheme of an absolute form.
func originForm(method, rest string) string {
	i := strings.IndexAny(rest, "/?")
	switch {
	case i == 0: // the absolute form names no host
		return ""
	case i < 0 && method == http.MethodOptions: // RFC 9112, section 3.2.4
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

// needsMarker reports whether net/http would spell the target of a request in another way.
func needsMarker(in *http.Request, target string) bool {
	return strings.HasPrefix(target, "//") && in.URL.RequestURI() != target
}

// setTarget makes the transport write the target as it is. URL.Opaque does that, except for a
// target that begins with two slashes, to which URL.RequestURI would give a scheme. Most of these
// come out right from the parsed path. The others get the marker, and carrier sends them over a
// connection that takes the marker out again.
func setTarget(out, in *http.Request) {
	t := target(in)
	switch {
	case needsMarker(in, t):
		t = marker + t
	case strings.HasPrefix(t, "//"):
		out.URL.RawQuery = in.URL.RawQuery
		return
	}
	out.URL.Opaque, out.URL.RawQuery, out.URL.ForceQuery = t, "", false
}
