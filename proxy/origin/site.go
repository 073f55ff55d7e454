package origin

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

// ParseSite reads the origin of a site as browsers send it in the header Origin (RFC 6454): a
// scheme and a host, with a port if it is not the scheme's own; or "*" for all sites. Apps have
// schemes of their own, such as capacitor://localhost. The problem is what is wrong, "" for
// nothing; it continues a sentence that begins with the text.
func ParseSite(text string) (site, problem string) {
	switch {
	case text == "*":
		return text, ""
	case text == "":
		return text, "is empty: expects an origin such as https://app.example.com"
	case text == "null":
		return text, "is what browsers send for pages that have no origin: it could be anybody's"
	case strings.Contains(text, "*"):
		return text, `cannot be a pattern: name each origin, or "*" alone for all, without cookies`
	case !strings.Contains(text, "://"):
		return text, "has no scheme" + siteHint("https://"+text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return text, "is not an origin: expects one such as https://app.example.com"
	}
	if problem := siteProblem(u, text); problem != "" {
		return text, problem
	}
	return strings.ToLower(text), ""
}

// siteProblem says why a URL is not the origin of a site, "" for one.
func siteProblem(u *url.URL, text string) string {
	bare := u.Scheme + "://" + u.Host
	switch {
	case u.User != nil:
		return "holds a user or a password, which browsers never send"
	case u.Hostname() == "":
		return "has no host"
	case !strings.EqualFold(text, bare):
		return "has a path, a query or a fragment, which an origin has not" + siteHint(bare)
	case !route.IsHost(u.Hostname()):
		return "has a host that is neither an IP address nor a name; names that are not ASCII are written in their xn-- form"
	case strings.HasSuffix(u.Host, ":") || u.Port() != "" && !isPort(u.Port()):
		return "has no port between 1 and 65535"
	case strings.EqualFold(u.Scheme, "https") && u.Port() == "443", strings.EqualFold(u.Scheme, "http") && u.Port() == "80":
		return "has the port that browsers leave out" + siteHint(strings.TrimSuffix(bare, ":"+u.Port()))
	}
	return ""
}

// siteHint suggests an origin, if it is one.
func siteHint(text string) string {
	if site, problem := ParseSite(text); problem == "" {
		return fmt.Sprintf(" (did you mean %q?)", site)
	}
	return ""
}
