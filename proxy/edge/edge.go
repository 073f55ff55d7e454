// Package edge lets the proxies of a site do without asking the gate: requests to the site are
// signed, so that it can tell that they come through the gate, and visitors who are in get an
// admission token, by which a proxy in front lets them in by itself. The public keys of both are
// published. Package assertion makes the signatures.
package edge

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy/assertion"
	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// Feature are the admission tokens of a gate, and its public keys.
type Feature struct{ gate feature.Gate }

// NewFeature returns the admission tokens of a gate, and its public keys.
func NewFeature(g feature.Gate) *Feature { return &Feature{g} }

// part is what a room has to give admission tokens.
type part struct {
	signer *assertion.Signer
	cookie string // without "__Host-"
}

// Part implements [feature.Feature].
func (*Feature) Part(_ context.Context, s *feature.Setup) (feature.Part, error) {
	return (&part{signer: s.Signer}).For(s)
}

// For implements [feature.Sharer].
func (p *part) For(s *feature.Setup) (feature.Part, error) {
	return &part{p.signer, cookie.Name("admission_" + s.CookieSuffix())}, nil
}

// Issue implements [feature.Issuer]: it appends the admission token of a visitor who is in. Answers
// to requests for parts of pages have none, so that browsers and caches can keep them. Who is
// thrown out loses the token, too.
func (p *part) Issue(to []string, r *http.Request, v *feature.Visit, d *room.Decision) []string {
	attributes := &v.Setup.Config.CookieAttributes
	if d.Drop && v.Room.Settings().EdgeAdmission > 0 {
		return append(to, attributes.SetCookie(p.cookie, "", 0, v.HTTPS))
	}
	if d.Outcome != room.Admitted || feature.Subresource(r) {
		return to
	}
	lasts := v.Room.Queue.EdgeAdmission(v.Now, d.Ticket)
	if lasts < time.Second {
		return to
	}
	token, err := p.signer.Admission(v.Setup.Config.Name, d.Ticket.ID, lasts)
	if err != nil { // which a key that was derived does not do: the visitor goes on by the gate
		v.Setup.Log.Error("admission token not signed", v.Setup.About(r, d.Ticket.ID), zap.Error(err))
		return to
	}
	return append(to, attributes.SetCookie(p.cookie, token, lasts, v.HTTPS))
}

// Header values of the answers with public keys.
var (
	jwksType   = []string{"application/jwk-set+json"}
	pemType    = []string{"application/x-pem-file"}
	forMinutes = []string{"public, max-age=300"}
)

// Paths implements [feature.Owner]: the public keys of what the gate signs are there, for programs
// and for those that read files.
func (f *Feature) Paths() []feature.Path {
	keys := func(contentType []string, of func(*assertion.Signer) []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { writeKeys(w, contentType, of(f.gate.Signer())) }
	}
	return []feature.Path{
		{Name: "jwks.json", Method: http.MethodGet, Serve: keys(jwksType, (*assertion.Signer).JWKS)},
		{Name: "jwks.pem", Method: http.MethodGet, Serve: keys(pemType, (*assertion.Signer).PEM)},
	}
}

func writeKeys(w http.ResponseWriter, contentType []string, keys []byte) {
	h := w.Header()
	h["Content-Type"], h["Cache-Control"], h["X-Content-Type-Options"] = contentType, forMinutes, feature.NoSniff
	h["Access-Control-Allow-Origin"] = feature.AnySite
	h["Content-Length"] = []string{strconv.Itoa(len(keys))}
	_, _ = w.Write(keys)
}
