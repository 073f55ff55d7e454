package admin

import (
	"net"
	"net/http"
	"strings"
	"unicode"
)

// asHeader is the header by which operators say who they are. Package main sends it.
const asHeader = "Fairdoor-As"

// maxName is how many characters the name of an operator has at most.
const maxName = 60

// by says who asks, for what is kept and logged of operators: the address that the request came
// from, behind the name that they give themselves, if they do. The name is a claim: everybody who
// may use the API can give any. It has no brackets, so that nothing in it looks like an address.
func (a *api) by(r *http.Request) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	name := cleanName(r.Header.Get(asHeader))
	if name == "" {
		name = cleanName(a.sessions.Name(r))
	}
	if name == "" {
		return address
	}
	return name + " (" + address + ")"
}

// cleanName is a name on one line, in characters that can be seen, and cut to maxName of them.
func cleanName(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r), r == unicode.ReplacementChar, r == '(', r == ')':
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	name := []rune(strings.Join(strings.Fields(text), " "))
	return strings.TrimSpace(string(name[:min(len(name), maxName)]))
}
