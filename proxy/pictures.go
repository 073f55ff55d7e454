package proxy

import (
	"net/http"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// logoPath begins the paths of the sites' pictures.
const logoPath = feature.Paths + "logo/"

// addressOf is where the gate has a picture; "" for none.
func addressOf(p *templates.Picture) string {
	if p == nil {
		return ""
	}
	return logoPath + p.Name
}

// pictureNamed is a picture of one of the rooms; nil for none.
func (g *Gate) pictureNamed(name string) *templates.Picture {
	for _, s := range g.current.Load().setups {
		for _, p := range []*templates.Picture{s.Config.Logo, s.Config.Hero} {
			if p != nil && p.Name == name {
				return p
			}
		}
	}
	return nil
}

// servePicture sends a picture of a site. Its name changes with it, so that browsers may keep it. A
// picture that is a document, as SVG is, may do nothing.
func (g *Gate) servePicture(w http.ResponseWriter, r *http.Request) {
	p, h := g.pictureNamed(strings.TrimPrefix(r.URL.Path, logoPath)), w.Header()
	if p == nil {
		g.problem(w, r, http.StatusNotFound, g.languages)
		return
	}
	h["Content-Type"], h["X-Content-Type-Options"] = []string{p.Type}, feature.NoSniff
	h["Cache-Control"] = []string{"public, max-age=31536000, immutable"}
	h["Content-Security-Policy"] = []string{"default-src 'none'; style-src 'unsafe-inline'; sandbox"}
	_, _ = w.Write(p.Source)
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
