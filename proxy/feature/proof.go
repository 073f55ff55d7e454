package feature

import (
	"context"
	"net/netip"
)

// Proof is what strangers bring before they get a place or sign up: the answer to a challenge.
type Proof interface {
	// Widget is what a page asks for the answer with.
	Widget() Widget
	// Widen returns a Content-Security-Policy under which the widget works, too.
	Widen(policy string) string
	// Prove says whether an answer from an address counts, and if not, whether its sender is to try
	// again later.
	Prove(ctx context.Context, answer string, addr netip.Addr) (proven, later bool)
}

// Widget is an element of a page that gets the answer from a provider.
type Widget struct {
	SiteKey   string `json:"siteKey"`
	ScriptURL string `json:"scriptUrl"`
	Class     string `json:"widgetClass"`
}

// AnswerFields are the fields of forms in which providers' widgets send answers; the first is the
// gate's own.
func AnswerFields() []string {
	return []string{"response", "cf-turnstile-response", "h-captcha-response", "g-recaptcha-response"}
}
