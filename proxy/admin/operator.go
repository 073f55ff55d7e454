package admin

import (
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/fairdoor-gate/fairdoor/proxy/bearer"
)

// Operator is somebody who may use the API, by a token of their own.
type Operator struct {
	Name  string // "" for those with the admin token
	Views bool   // they see everything, and change nothing
	Token string
}

// The roles of operators in a configuration.
const (
	roleOperator = "operator"
	roleViewer   = "viewer"
)

var operatorLine = regexp.MustCompile(`^([A-Za-z0-9._@-]{1,60})[ \t]+(` + roleOperator + `|` + roleViewer + `)[ \t]+(\S{16,})$`)

// ParseOperator reads an operator: a name, a role, which is operator or viewer, and a token. The error
// says nothing of the token.
func ParseOperator(line string) (Operator, error) {
	parts := operatorLine.FindStringSubmatch(line)
	if parts == nil {
		return Operator{}, fmt.Errorf("an operator is a name, %s or %s, and a token of 16 characters or more, with spaces between them", roleOperator, roleViewer)
	}
	return Operator{Name: parts[1], Views: parts[2] == roleViewer, Token: parts[3]}, nil
}

// operators are those whose tokens count now. Without any, nobody is asked for one.
func (a *api) operators() []Operator {
	var all []Operator
	if a.Token != "" {
		all = append(all, Operator{Token: a.Token})
	}
	if a.Operators != nil {
		all = append(all, a.Operators()...)
	}
	return all
}

// operatorOf is the operator who sends a request, by the token or the cookie of who has logged in.
// Where there are none, everybody is one who says to be nobody else.
func (a *api) operatorOf(r *http.Request) (Operator, bool) {
	all := a.operators()
	if len(all) == 0 {
		return Operator{}, r.Header.Get("Authorization") == ""
	}
	if o, found := holder(all, bearer.Token(r)); found {
		return o, true
	}
	_, token, found := a.sessions.Of(r)
	if !found {
		return Operator{}, false
	}
	return holder(all, token)
}

// holder is the operator who has a token.
func holder(all []Operator, token string) (Operator, bool) {
	i := slices.IndexFunc(all, func(o Operator) bool { return bearer.Is(token, o.Token) })
	if i < 0 {
		return Operator{}, false
	}
	return all[i], true
}

// tokens are the tokens by which sessions are sealed: that of nobody where there are no operators.
func (a *api) tokens() []string {
	var list []string
	for _, o := range a.operators() {
		list = append(list, o.Token)
	}
	if list == nil {
		return []string{""}
	}
	return list
}

// asHeader is the header by which operators say who they are. Package main sends it.
const asHeader = "Fairdoor-As"

// maxName is how many characters the name of an operator has at most.
const maxName = 60

// by says who asks, for what is kept and logged of operators: the address that the request came
// from, behind the name of whose token it is, or else the name that they give themselves, if they
// do. That is a claim: everybody with the admin token can give any. It has no brackets, so that
// nothing in it looks like an address.
func (a *api) by(r *http.Request) string {
	o, _ := a.operatorOf(r)
	name := o.Name
	if name == "" {
		name = cleanName(r.Header.Get(asHeader))
	}
	if name == "" {
		session, _, _ := a.sessions.Of(r)
		name = cleanName(session)
	}
	return signed(name, r)
}

// signed is a name, which may be empty, with the address that a request came from.
func signed(name string, r *http.Request) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
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
