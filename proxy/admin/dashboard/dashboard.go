// Package dashboard renders the pages that operators see in a browser, and keeps who is logged in.
// What is on the pages comes from package admin, which serves them, and from features.
//
//	dashboard.go  the pages, as templates, and their headers
//	frame.go      what all pages have around them, and the pages of features
//	words.go      times, waits and settings in words
//	overview.go   what the overview shows
//	room.go       what the pages of a room show
//	visitor.go    what the pages of visitors show
//	change.go     what the form of a room and the question before a change show
//	sessions.go   who is logged in
//	page/         the templates, the style and the script
//
// Each page has an address that can be sent to a colleague. The pages load nothing from elsewhere
// and have no inline script. Without script they are complete, and tell times in UTC: the script
// tells them as the viewer's clock does, reads the page again every few seconds and puts what has
// changed in place.
package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
)

//go:embed page/*
var files embed.FS

// asset is a file that a page loads.
type asset struct {
	contentType string
	text        []byte
}

// assets are the style and the script, by the names that the pages have for them, and pages are the
// templates.
var assets, pages = load()

func load() (map[string]asset, *template.Template) {
	loaded, names := map[string]asset{}, map[string]string{}
	for file, contentType := range map[string]string{"dashboard.css": "text/css; charset=utf-8", "dashboard.js": "text/javascript; charset=utf-8"} {
		text, _ := files.ReadFile("page/" + file) // it is embedded
		if strings.HasSuffix(file, ".css") {
			text = append([]byte(chart.Style), text...)
		}
		sum := sha256.Sum256(text)
		name := hex.EncodeToString(sum[:6]) + "-" + file
		names[file], loaded[name] = AssetPath+name, asset{contentType, text}
	}
	assets := template.FuncMap{"asset": func(file string) string { return names[file] }}
	return loaded, template.Must(template.New("").Funcs(words).Funcs(assets).ParseFS(files, "page/*.html"))
}

// Section is the template of what a feature has on a page: on the overview, or on a page of rooms. It
// has the functions of the pages that write words.
type Section struct{ of *template.Template }

// NewSection reads the template of a section.
func NewSection(source string) Section {
	return Section{template.Must(template.New("section").Funcs(words).Parse(source))}
}

// Show returns a section with what its template is about.
func (s Section) Show(what any) (template.HTML, error) {
	var text strings.Builder
	if err := s.of.Execute(&text, what); err != nil {
		return "", err
	}
	return template.HTML(text.String()), nil //nolint:gosec // the template escapes what it is about
}

// DocsPath begins the paths of the documentation.
const DocsPath = "/docs/"

// AssetPath begins the paths of what the pages load.
const AssetPath = "/assets/"

// ServeAsset answers with a file that a page loads. Its name has the hash of its text.
func ServeAsset(w http.ResponseWriter, r *http.Request) {
	a, found := assets[strings.TrimPrefix(r.URL.Path, AssetPath)]
	if !found {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.contentType)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_ = pack(w, r, http.StatusOK, a.text) // whoever asked may be gone
}

// policy lets a page load the style and the script from the gate alone, and be framed by nobody.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-src 'self'; img-src 'self' data:; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// SetHeaders sets what all pages for operators have, and what a page may do: a
// Content-Security-Policy.
func SetHeaders(h http.Header, policy string) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}

// write answers with one of the pages.
func write(w http.ResponseWriter, r *http.Request, status int, name string, data any) error {
	var text bytes.Buffer
	if err := pages.ExecuteTemplate(&text, name, data); err != nil {
		return err
	}
	h := w.Header()
	SetHeaders(h, policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	return pack(w, r, status, text.Bytes())
}

// pack answers with a text, compressed for those who take that.
func pack(w http.ResponseWriter, r *http.Request, status int, text []byte) error {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.WriteHeader(status)
		_, err := w.Write(text)
		return err
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	packed := gzip.NewWriter(w)
	if _, err := packed.Write(text); err != nil {
		return err
	}
	return packed.Close()
}

// Login is the form that asks for the token.
type Login struct {
	To    string // the path that was asked for
	Wrong bool
}

// Write answers with the form. The status is that of a request that lacks the token.
func (l Login) Write(w http.ResponseWriter, r *http.Request) error {
	return write(w, r, http.StatusUnauthorized, "login.html", l)
}
