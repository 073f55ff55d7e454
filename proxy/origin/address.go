package origin

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/anteroom-gate/anteroom/proxy/route"
)

// ParseURL reads the address of an origin: a scheme and a host with or without a port, and nothing else, for requests go to the origin
// as they came. The problem is "", or what is wrong; it continues a sentence that begins with the text.
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
	switch {
	case err != nil:
		return nil, "is not an URL"
	case u.User != nil:
		return nil, "holds a user or a password: visitors bring their own"
	case !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https"):
		return nil, "has a scheme that is neither http nor https"
	case u.Hostname() == "":
		return nil, "has no host"
	case u.Path != "" && u.Path != "/", u.RawQuery != "", u.ForceQuery, u.Fragment != "", strings.Contains(text, "#"):
		return nil, "has a path, a query or a fragment: requests go to the origin under the path they came for"
	case !route.IsHost(u.Hostname()):
		return nil, "has a host that is neither an IP address nor a name"
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); strings.HasSuffix(u.Host, ":") || u.Port() != "" && (err != nil || n == 0) {
		return nil, "has no port between 1 and 65535"
	}
	return &url.URL{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Host)}, ""
}
