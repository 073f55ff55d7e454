package proxy

import (
	"net/http"
	"slices"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// logoPath begins the paths of the sites' logos.
const logoPath = feature.Paths + "logo/"

// serveLogo sends the picture of a site. Its name changes with it, so that browsers may keep it. A
// picture that is a document, as SVG is, may do nothing.
func (g *Gate) serveLogo(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, logoPath)
	setups := g.current.Load().setups
	i := slices.IndexFunc(setups, func(s *feature.Setup) bool { return s.Config.Logo != nil && s.Config.Logo.Name == name })
	if i < 0 {
		g.problem(w, r, http.StatusNotFound, g.languages)
		return
	}
	l, h := setups[i].Config.Logo, w.Header()
	h["Content-Type"], h["X-Content-Type-Options"] = []string{l.Type}, feature.NoSniff
	h["Cache-Control"] = []string{"public, max-age=31536000, immutable"}
	h["Content-Security-Policy"] = []string{"default-src 'none'; style-src 'unsafe-inline'; sandbox"}
	_, _ = w.Write(l.Source)
}

// icon answers a browser that waits and asks for the site's icon: with the site's logo, or with
// that of the built-in page. It is not kept: the site's own is shown once the visitor is in.
func icon(rs *feature.Setup, w http.ResponseWriter, r *http.Request) {
	picture := rs.Config.Logo
	if picture == nil {
		picture = templates.Icon()
	}
	h := w.Header()
	h["Cache-Control"], h["X-Content-Type-Options"], h["Content-Type"] = feature.NoStore, feature.NoSniff, []string{picture.Type}
	if r.Method != http.MethodHead {
		_, _ = w.Write(picture.Source)
	}
}
