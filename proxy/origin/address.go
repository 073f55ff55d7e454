package origin

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// An origin's scheme says how it is spoken to: http and https by HTTP/1.1, these by HTTP/2.
const (
	schemeTwo      = "h2"  // over TLS
	schemeTwoPlain = "h2c" // without TLS, and without asking first
)

// DefaultPort is the port of an address whose URL names none, "" for another scheme.
func DefaultPort(scheme string) string {
	switch scheme {
	case "http", schemeTwoPlain:
		return "80"
	case "https", schemeTwo:
		return "443"
	}
	return ""
}

// IsTwo reports whether an origin is spoken to by HTTP/2.
func IsTwo(u *url.URL) bool { return u.Scheme == schemeTwo || u.Scheme == schemeTwoPlain }

// schemeOf is the scheme of requests to an origin: http or https.
func schemeOf(u *url.URL) string {
	if DefaultPort(u.Scheme) == "443" {
		return "https"
	}
	return "http"
}

// ParseURL reads the address of an origin: a scheme and a host, with or without a port. It has
// nothing else, for requests go to the origin as they came. The problem is what is wrong, "" for
// nothing; it continues a sentence that begins with the text.
func ParseURL(text string) (u *url.URL, problem string) {
	if text == "" {
		return nil, "is empty: expects an URL such as http://127.0.0.1:3000"
	}
	if !strings.Contains(text, "://") {
		hint := ""
		if _, problem := ParseURL("http://" + text); problem == "" {
			hint = fmt.Sprintf(" (did you mean %q?)", "http://"+text)
		}
		return nil, "has no scheme" + hint
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, "is not an URL"
	}
	if problem := urlProblem(u, text); problem != "" {
		return nil, problem
	}
	return &url.URL{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Host)}, ""
}

// urlProblem says why a URL is not the address of an origin, "" for an address.
func urlProblem(u *url.URL, text string) string {
	switch {
	case u.User != nil:
		return "holds a user or a password: visitors bring their own"
	case DefaultPort(strings.ToLower(u.Scheme)) == "":
		return "has a scheme that is none of http, https, h2 and h2c"
	case u.Hostname() == "":
		return "has no host"
	case u.Path != "" && u.Path != "/", u.RawQuery != "", u.ForceQuery, strings.Contains(text, "#"):
		return "has a path, a query or a fragment: requests go to the origin under the path they came for"
	case !route.IsHost(u.Hostname()):
		return "has a host that is neither an IP address nor a name"
	case strings.HasSuffix(u.Host, ":") || u.Port() != "" && !isPort(u.Port()):
		return "has no port between 1 and 65535"
	}
	return ""
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}
