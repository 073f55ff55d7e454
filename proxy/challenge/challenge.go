package challenge

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
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

// sheet is the page of all challenges, compiled at the first use.
var sheet = sync.OnceValues(func() (*templates.Sheet, error) { return templates.NewSheet(pageSource, styleSource, scriptSource) })

// Path is where answers are sent to.
const Path = feature.Paths + name

// Challenge is that of a room. It is safe for concurrent use.
type Challenge struct {
	cfg      Config
	sheet    *templates.Sheet
	identity templates.Identity
	policy   string
	silent   atomic.Bool // the provider has not said whether the last answer was right
}

// New returns a challenge that shows what other pages of the room show of the site.
func New(c Config, identity templates.Identity) (*Challenge, error) {
	c = c.WithDefaults()
	for what, text := range map[string]string{"verify_url": c.VerifyURL, "script_url": c.ScriptURL} {
		if problem := CheckURL(text); problem != "" {
			return nil, fmt.Errorf("%s: %q %s", what, text, problem)
		}
	}
	s, err := sheet()
	if err != nil {
		return nil, err
	}
	return &Challenge{cfg: c, sheet: s, identity: identity, policy: widened(s.ContentSecurityPolicy(identity), c.Sources)}, nil
}

// ContentSecurityPolicy is the value of that header for the page.
func (c *Challenge) ContentSecurityPolicy() string { return c.policy }

// Widen returns the policy of a page of the site, with what the widget needs.
func (c *Challenge) Widen(policy string) string { return widened(policy, c.cfg.Sources) }

// Widget returns what shows the challenge.
func (c *Challenge) Widget() feature.Widget {
	return feature.Widget{SiteKey: c.cfg.SiteKey, ScriptURL: c.cfg.ScriptURL, Class: c.cfg.WidgetClass}
}

// Heard notes whether the provider has verified an answer, and says whether that differs from the
// one before.
func (c *Challenge) Heard(of Outcome) (differs bool) {
	switch of {
	case Passed:
		return c.silent.Swap(false)
	case Unavailable:
		return !c.silent.Swap(true)
	default:
		return false
	}
}

// answerTo is where answers for a room are sent to.
func answerTo(room string) string { return Path + "?room=" + url.QueryEscape(room) }

// AppendPage appends the page of a room in a language. Who has passed goes on to the address.
func (c *Challenge) AppendPage(buf []byte, language, room, address, message string) []byte {
	return c.sheet.AppendTo(buf, language, c.identity, "oneStep", map[string]any{
		"to": answerTo(room), "address": address, "message": message,
		"siteKey": c.cfg.SiteKey, "scriptUrl": c.cfg.ScriptURL, "widgetClass": c.cfg.WidgetClass,
	})
}

// JSON tells a program what it has to do for a place in a room.
func (c *Challenge) JSON(room string) []byte {
	type challenge struct {
		feature.Widget

		AnswerTo string `json:"answerTo"`
	}
	type waitingRoom struct {
		In        bool      `json:"inWaitingRoom"`
		Required  bool      `json:"challengeRequired"`
		Challenge challenge `json:"challenge"`
	}
	text, _ := json.Marshal(map[string]waitingRoom{"cfWaitingRoom": { // plain values can always be written
		Required: true, Challenge: challenge{c.Widget(), answerTo(room)},
	}})
	return append(text, '\n')
}
