package admin

import (
	_ "embed" // for the document
	"net/http"
	"regexp"
	"strings"
)

// document describes the API without its features in OpenAPI 3.1. A test holds it and the resources
// to each other.
//
//go:embed openapi.yaml
var document string

// heading is the line that begins a section: of the whole document, or of its components.
var heading = regexp.MustCompile(`(?m)^(?:[a-z]+|  [a-z][A-Za-z]+):\n`)

// compose adds to each section what the parts describe in it.
func compose(parts []Part) []byte {
	more := map[string]string{}
	for _, part := range parts {
		for name, lines := range sections(part.Document) {
			more[name] += lines
		}
	}
	var all strings.Builder
	for name, lines := range sections(document) {
		all.WriteString(name + lines + more[name])
	}
	return []byte(all.String())
}

// sections yields the sections of a document by their headings, and first what is above all.
func sections(text string) func(yield func(heading, lines string) bool) {
	return func(yield func(heading, lines string) bool) {
		name := ""
		for {
			at := heading.FindStringIndex(text)
			if at == nil {
				yield(name, text)
				return
			}
			if !yield(name, text[:at[0]]) {
				return
			}
			name, text = text[at[0]:at[1]], text[at[1]:]
		}
	}
}

func (a *api) getDocument(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(a.document) // whoever asked may be gone
}
