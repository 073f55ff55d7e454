package proxy

import (
	"net/http"
	"strings"

	"github.com/fairdoor-gate/fairdoor/templates"
)

// logoPath begins the paths of the sites' logos.
const logoPath = ownPaths + "logo/"

// logo is a site's picture, as the gate serves it.
type logo templates.Logo

// logo returns the picture at a path; nil for none.
func (s *setup) logo(path string) *logo {
	name, found := strings.CutPrefix(path, logoPath)
	if !found {
		return nil
	}
	for _, rs := range s.setups {
		if l := rs.cfg.Logo; l != nil && l.Name == name {
			return (*logo)(l)
		}
	}
	return nil
}

// serve sends the picture. Its name changes with it, so that browsers may keep it. A picture
// that is a document, as SVG is, may do nothing.
func (l *logo) serve(w http.ResponseWriter, _ *http.Request, _ *setup) {
	h := w.Header()
	h["Content-Type"], h["X-Content-Type-Options"] = []string{l.Type}, noSniff
	h["Cache-Control"] = []string{"public, max-age=31536000, immutable"}
	h["Content-Security-Policy"] = []string{"default-src 'none'; style-src 'unsafe-inline'; sandbox"}
	_, _ = w.Write(l.Source)
}

// asksForIcon says whether a browser asks for the site's icon by itself.
func asksForIcon(r *http.Request) bool {
	return r.URL.Path == "/favicon.ico" && (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength == 0
}

// icon answers a browser that waits and asks for the site's icon: with the site's logo, or with
// that of the built-in page. It is not kept: the site's own is shown once the visitor is in.
func (rs *roomSetup) icon(w http.ResponseWriter, r *http.Request) {
	picture := rs.cfg.Logo
	if picture == nil {
		picture = templates.Icon()
	}
	h := w.Header()
	h["Cache-Control"], h["X-Content-Type-Options"], h["Content-Type"] = noStore, noSniff, []string{picture.Type}
	if r.Method != http.MethodHead {
		_, _ = w.Write(picture.Source)
	}
}
