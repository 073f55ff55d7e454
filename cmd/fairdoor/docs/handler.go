package docs

import (
	"bytes"
	_ "embed" // for the page
	"html/template"
	"net/http"
	"strings"
)

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// shown is what a browser is shown.
type shown struct {
	Title, Question string
	Body            template.HTML // of a page
	Answer          *Answer       // to a question
}

// Handler serves the pages at [PagePath]: /docs/ is the list of them, /docs/?q=words what there is
// to a question, and /docs/limits a page.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if question := q.FormValue("q"); question != "" {
			answer := Find(question)
			write(w, http.StatusOK, shown{Title: question, Question: question, Answer: &answer})
			return
		}
		name := strings.Trim(strings.TrimPrefix(q.URL.Path, strings.TrimSuffix(PagePath, "/")), "/")
		if name == "" {
			name = Index
		}
		page, found := Named(name)
		if !found {
			answer := Find(name)
			write(w, http.StatusNotFound, shown{Title: "There is no such page", Question: name, Answer: &answer})
			return
		}
		write(w, http.StatusOK, shown{Title: page.Title, Body: page.html()})
	})
}

func (p Page) html() template.HTML {
	var body bytes.Buffer
	_ = markdown.Convert(p.Markdown, &body) // a buffer takes everything
	return template.HTML(body.String())     //nolint:gosec // the pages are ours, and HTML in them is left out
}

func write(w http.ResponseWriter, status int, s shown) {
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, s); err != nil {
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // whoever asked may be gone
}
