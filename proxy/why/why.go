// Package why answers those who wait and ask why, and whether it is fair: by a page with the rules
// that are true for their room now, in the style and the languages of the waiting page.
package why

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

var (
	//go:embed page.html
	pageSource string
	//go:embed page.css
	styleSource string
)

// sheet is the page of all rooms, compiled at the first use.
var sheet = sync.OnceValues(func() (*templates.Sheet, error) {
	return templates.NewSheet(pageSource, styleSource, "")
})

// Feature answers the visitors of a gate.
type Feature struct{ gate feature.Gate }

// NewFeature returns what answers the visitors of a gate.
func NewFeature(g feature.Gate) *Feature { return &Feature{g} }

// part is what a room has to answer its visitors.
type part struct{ sheet *templates.Sheet }

// Part implements [feature.Feature].
func (*Feature) Part(context.Context, *feature.Setup) (feature.Part, error) {
	compiled, err := sheet()
	if err != nil {
		return nil, fmt.Errorf("making the page of the rules: %w", err)
	}
	return &part{compiled}, nil
}

// For implements [feature.Sharer].
func (p *part) For(*feature.Setup) (feature.Part, error) { return p, nil }

// Paths implements [feature.Owner].
func (f *Feature) Paths() []feature.Path {
	return []feature.Path{{Name: "why", Method: http.MethodGet, Serve: f.serve}}
}

func (f *Feature) serve(w http.ResponseWriter, r *http.Request) {
	of := f.gate.Room(r.URL.Query().Get("room"))
	if of == nil || !of.Setup().IsOn(r.Host) {
		f.gate.Problem(w, r, http.StatusNotFound)
		return
	}
	s := of.Setup()
	p, _ := feature.PartOf[*part](s)
	settings, heading := of.Settings(), "why"
	if settings.RejectsAll() {
		heading = "rejectHeading"
	}
	language, h := s.Languages().Match(feature.HeaderValue(r.Header["Accept-Language"])), w.Header()
	h.Set("Content-Security-Policy", p.sheet.ContentSecurityPolicy(s.Identity)+"; frame-ancestors 'none'")
	h.Set("Content-Language", language)
	reply.ForOne(w, r, http.StatusOK, feature.HTMLType[0], p.sheet.AppendTo(nil, language, s.Identity, heading, rules(s, &settings, of.Overrides.Favoured(f.gate.Now()))))
}

// rules are what decides who is let in, and when: the values of the page. So many people were put
// ahead by operators lately.
func rules(s *feature.Setup, settings *queue.Settings, putAhead int) map[string]any {
	method, everyone := settings.Method, settings.Method.EveryoneEnters() || settings.Method.NobodyEnters()
	shuffled := settings.Event.Shuffle && method.KeepsOrder()
	return map[string]any{
		"closed":           settings.RejectsAll(),
		"paused":           everyone && settings.HoldsNew() || settings.HeldByOperators(),
		"shuffled":         shuffled,
		"random":           method.Draws(),
		"ordered":          method.KeepsOrder() && !shuffled,
		"passes":           !everyone && prefers(s, method),
		"waits":            !everyone,
		"putAhead":         putAhead,
		"placeKeptMinutes": int(settings.PlaceKept() / time.Minute),
	}
}

// prefers says whether some of those who wait may be let in before others who came earlier.
func prefers(s *feature.Setup, method queue.Method) bool {
	signed := s.Config.Subject.TokenHeader != "" || s.Config.Subject.TokenCookie != "" // they may have a priority in an exact line
	return signed && method.HasExactLine() || slices.ContainsFunc(s.Parts, func(p feature.Part) bool {
		by, ok := p.(feature.Preferrer)
		return ok && by.PrefersSome(method)
	})
}
