// Package quit lets somebody who waits leave the line for good.
package quit

import (
	"context"
	"fmt"
	"net/http"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
	"github.com/fairdoor-gate/fairdoor/templates/passpage"
)

// Feature lets the visitors of a gate leave.
type Feature struct{ gate feature.Gate }

// NewFeature returns what lets the visitors of a gate leave.
func NewFeature(g feature.Gate) *Feature { return &Feature{g} }

// part is what a room has to let its visitors leave.
type part struct{ pages *passpage.Pages }

// Part implements [feature.Feature].
func (*Feature) Part(_ context.Context, s *feature.Setup) (feature.Part, error) {
	pages, err := passpage.New(s.Config.Language, s.Identity)
	if err != nil {
		return nil, fmt.Errorf("making the page of those who have left: %w", err)
	}
	return &part{pages}, nil
}

// For implements [feature.Sharer].
func (p *part) For(*feature.Setup) (feature.Part, error) { return p, nil }

// Paths implements [feature.Owner].
func (f *Feature) Paths() []feature.Path {
	return []feature.Path{{Name: "quit", Method: http.MethodPost, Serve: f.serve}}
}

// serve takes the place of a visitor who gives it up: nobody counts it, nobody is called for it, and
// their browser forgets it. Who is in stays in.
func (f *Feature) serve(w http.ResponseWriter, r *http.Request) {
	of := f.gate.Room(r.URL.Query().Get("room"))
	if of == nil || !of.Setup().IsOn(r.Host) {
		f.gate.Problem(w, r, http.StatusNotFound)
		return
	}
	if feature.Foreign(r) {
		f.gate.Problem(w, r, http.StatusBadRequest)
		return
	}
	var v feature.Visit
	s := of.Setup()
	if err := v.Read(r, of, s, f.gate.Now()); err == nil && v.Ticket.State == queue.Waiting {
		for _, k := range s.Keepers {
			k.LetGo(&v)
		}
		of.Leave(v.Now, v.Ticket)
		v.SetCookies(w.Header(), r, &room.Decision{Drop: true})
	}
	p, _ := feature.PartOf[*part](s)
	language, h := p.pages.Match(feature.HeaderValue(r.Header["Accept-Language"])), w.Header()
	h.Set("Content-Security-Policy", p.pages.ContentSecurityPolicy())
	h.Set("Content-Language", language)
	body := p.pages.AppendTo(nil, language, passpage.View{State: passpage.Left, Enter: feature.WayIn(f.gate, of, r, "")})
	reply.ForOne(w, r, http.StatusOK, feature.HTMLType[0], body)
}
