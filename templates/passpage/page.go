// Package passpage writes the pages on which people use a pass, by the button of a link or by
// typing a code, and those on which they move their place to another device. They are in the style
// and the languages of the waiting page, and have no script.
package passpage

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/fairdoor-gate/fairdoor/templates"
)

var (
	//go:embed page/page.html
	pageSource string
	//go:embed page/page.css
	styleSource string
)

// State says which page it is. It is also the key of the page's heading.
type State string

// The states.
const (
	Code        State = "code"        // a form to type a code in
	Link        State = "invited"     // a button that uses the pass of a link
	Gone        State = "gone"        // the pass of a link does not work any more
	Unavailable State = "unavailable" // the record does not answer
	Carry       State = "carry"       // a link by which the place moves to another device
	Take        State = "take"        // the button of such a link
	Moved       State = "moved"       // the place is on another device
	Left        State = "leftLine"    // the place was given up
)

// View is what a page tells.
type View struct {
	State   State
	Path    string // that the form posts to
	Token   string // of the link: the field token of the form
	To      string // where the link leads then: the field to
	Once    string // the field form of the form, which tells one that is sent twice from another
	Only    bool   // nobody gets in without a pass
	Wrong   bool   // the code that was typed does not work
	Message string // the operator's
	Link    string // by which the place moves
	Picture string // the same as a QR code: a URL with the scheme data; "" for none
	Enter   string // the path of the room
}

// Pages are the pages of a room's passes. They are safe for concurrent use.
type Pages struct {
	*templates.Languages
	sheet    *templates.Sheet
	identity templates.Identity
}

// compiled is the page of all rooms, compiled at the first use.
var compiled = sync.OnceValues(func() (*templates.Sheet, error) {
	return templates.NewSheet(pageSource, styleSource, "")
})

// New returns the pages of a site. It fails if the default language is unknown.
func New(language string, i templates.Identity) (*Pages, error) {
	languages, err := templates.NewLanguages(language)
	if err != nil {
		return nil, err
	}
	sheet, err := compiled()
	if err != nil {
		return nil, err
	}
	return &Pages{Languages: languages, sheet: sheet, identity: i}, nil
}

// ContentSecurityPolicy is the value of that header for the pages.
func (p *Pages) ContentSecurityPolicy() string {
	return p.sheet.ContentSecurityPolicy(p.identity) + "; frame-ancestors 'none'"
}

// AppendTo appends the page that tells v, in a language that [templates.Languages.Match] has
// returned.
func (p *Pages) AppendTo(buf []byte, language string, v View) []byte {
	heading := v.State
	if v.State == Take {
		heading = Carry
	}
	clean := func(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
	return p.sheet.AppendTo(buf, language, p.identity, string(heading), map[string]any{
		"path": v.Path, "token": clean(v.Token), "to": clean(v.To), "once": v.Once, "message": clean(v.Message),
		"link": clean(v.Link), "picture": v.Picture, "back": clean(v.Enter), "carries": v.State == Carry, "takes": v.State == Take, "moved": v.State == Moved || v.State == Left,
		"form": v.State == Code || v.State == Link || v.State == Take, "gone": v.State == Gone, "unavailable": v.State == Unavailable,
		"closed": v.State == Left || v.State == Gone || v.State == Unavailable, "only": v.Only && v.State == Code && !v.Wrong, "wrong": v.Wrong,
	})
}
