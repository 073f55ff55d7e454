// Package dashboard renders the pages that operators see in a browser, and keeps who is logged in.
// What is on the pages comes from package admin, which serves them.
//
//	dashboard.go  the pages, as templates, and their headers
//	overview.go   what the overview shows
//	change.go     what the form of a room and the question before a change show
//	sessions.go   who is logged in
//	page/         the templates, the style and the script
//
// The pages load nothing from elsewhere and have no inline script. Without script they are
// complete: the script reads the overview again every few seconds and puts its numbers in place.
package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"strings"
	"time"

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
	return loaded, template.Must(template.New("").Funcs(times).Funcs(assets).ParseFS(files, "page/*.html"))
}

// times are the functions that write times.
var times = template.FuncMap{
	"time":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"age":   formatAge,
}

// Section is the template of a section that a feature has on the overview. It has the functions of
// the pages that write times.
type Section struct{ of *template.Template }

// NewSection reads the template of a section.
func NewSection(source string) Section {
	return Section{template.Must(template.New("section").Funcs(times).Parse(source))}
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
	_, _ = w.Write(a.text) // whoever asked may be gone
}

// policy lets a page load the style and the script from the gate alone, and be framed by nobody.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// write answers with the page of a template.
func write(w http.ResponseWriter, status int, name string, data any) error {
	var text bytes.Buffer
	if err := pages.ExecuteTemplate(&text, name, data); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	w.WriteHeader(status)
	_, err := text.WriteTo(w)
	return err
}

// Login is the form that asks for the token.
type Login struct{ Wrong bool }

// Write answers with the form. The status is that of a request that lacks the token.
func (l Login) Write(w http.ResponseWriter) error {
	return write(w, http.StatusUnauthorized, "login.html", l)
}
