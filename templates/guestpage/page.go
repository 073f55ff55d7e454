// Package guestpage writes the pages of a waitlist: to sign up, to see one's place, to confirm an
// address, to accept an invite, to leave. They are in the style and the languages of the waiting
// page, and show the same of the site. They are forms and links, and work without script. With
// script a page writes numbers and times as the visitor's region does, copies the referral
// link, and puts a new rank in place without being loaded again.
//
// The package knows nothing of the waitlist; it is given plain values in a [View].
package guestpage

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/templates"
)

var (
	//go:embed page/page.html
	pageSource string
	//go:embed page/page.css
	styleSource string
	//go:embed page/page.js
	scriptSource string
)

// refreshInterval is how long after it was loaded, or has last asked, a page asks for the rank
// anew.
const refreshInterval = 2 * time.Minute

// Options says whose pages they are.
type Options struct {
	// DefaultLanguage is the code of the language for visitors who want none of the others; ""
	// means [templates.DefaultLanguage].
	DefaultLanguage string
	// Identity is what the pages show of the site.
	Identity templates.Identity
}

// Pages are the pages of a waitlist. They are safe for concurrent use.
type Pages struct {
	*templates.Languages
	sheet    *templates.Sheet
	identity templates.Identity
	policy   string
}

// compiled is the page of all waitlists, compiled at the first use.
var compiled = sync.OnceValues(func() (*templates.Sheet, error) { return templates.NewSheet(pageSource, styleSource, scriptSource) })

// New returns the pages of a waitlist. It fails if the default language is unknown.
func New(o Options) (*Pages, error) {
	languages, err := templates.NewLanguages(o.DefaultLanguage)
	if err != nil {
		return nil, err
	}
	sheet, err := compiled()
	if err != nil {
		return nil, err
	}
	return &Pages{Languages: languages, sheet: sheet, identity: o.Identity, policy: sheet.ContentSecurityPolicy(o.Identity)}, nil
}

// ContentSecurityPolicy is the value of that header for the pages.
func (p *Pages) ContentSecurityPolicy() string { return p.policy }

// AppendTo appends the page that tells v, in a language that [templates.Languages.Match] has
// returned.
func (p *Pages) AppendTo(buf []byte, language string, v View) []byte {
	v = v.resolved()
	return p.sheet.AppendTo(buf, language, p.identity, string(v.State), v.variables())
}

// variables are the values that the template has.
func (v View) variables() map[string]any {
	values := map[string]any{
		"state": string(v.State), "path": v.Path, "way": v.Way, "taken": v.Taken, "closed": v.closed(), "message": v.Message, "full": v.Full, "back": v.back(), "mayLeave": v.mayLeave(),
		"form": v.HasForm(), "named": v.Named, "mails": !v.Named && !v.Direct, "email": v.Email, "referral": v.Referral,
		"problem": v.Problem != "", "noAddress": v.Problem == NoAddress, "tooMany": v.Problem == TooMany, "unproven": v.Problem == Unproven,
		"siteKey": v.SiteKey, "widgetClass": v.WidgetClass, "scriptUrl": v.ScriptURL,
		"token": v.Token, "enter": v.Enter, "until": "", "untilTime": "", "refreshSeconds": 0,
		"position": v.Rank, "positionOrdinal": templates.Ordinal(v.Rank), "usersQueued": v.Total,
		"referralLink": v.ReferralLink, "referralsMade": strconv.Itoa(v.ReferralsMade),
	}
	moves := make([]map[string]any, len(v.Moves))
	for i, m := range v.Moves {
		moves[i] = map[string]any{"title": strings.ToValidUTF8(m.Title, "\uFFFD"), "points": strconv.Itoa(m.Points)}
	}
	values["moves"], values["moved"] = moves, len(moves) > 0
	for _, state := range states {
		values[string(state)] = state == v.State
	}
	if !v.ExpiresAt.IsZero() {
		values["until"], values["untilTime"] = v.ExpiresAt.UTC().Format(time.RFC3339), v.ExpiresAt.UTC().Format("2006-01-02 15:04 MST")
	}
	if v.State == Waiting && !v.Once {
		values["refreshSeconds"] = int(refreshInterval.Seconds())
	}
	for name, value := range values {
		if text, ok := value.(string); ok {
			values[name] = strings.ToValidUTF8(text, "\uFFFD")
		}
	}
	return values
}
