package templates

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
)

var (
	//go:embed page/page.html
	pageSource string
	//go:embed page/page.css
	styleSource string
	//go:embed page/page.js
	scriptSource string
	//go:embed page/error.html
	errorSource string
)

// icon keeps browsers from asking for /favicon.ico, which the room may guard.
const icon = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
	"%3Cpath fill='%23d9852b' d='M3 16V7a5 5 0 0 1 10 0v9z'/%3E%3C/svg%3E"

// builtInPages are the pages that are a part of this package. They are the same for every
// room.
type builtInPages struct {
	codes  []string // in alphabetical order
	pages  map[string]*Page
	errors map[string]map[problemKey][]byte // by language
	policy string
}

// builtIn compiles the built-in pages at the first use.
var builtIn = sync.OnceValues(func() (*builtInPages, error) {
	texts, err := readTexts()
	if err != nil {
		return nil, err
	}
	style, script := squeezeStyle(styleSource), squeezeScript(scriptSource)
	b := &builtInPages{
		codes:  slices.Sorted(maps.Keys(texts)),
		pages:  make(map[string]*Page, len(texts)),
		errors: make(map[string]map[problemKey][]byte, len(texts)),
		policy: policyOf(style, script),
	}
	for code, t := range texts {
		values := t.values(code, style)
		values["script"] = script
		if b.pages[code], err = t.page(values); err != nil {
			return nil, fmt.Errorf("making the page for %s: %w", code, err)
		}
		if b.errors[code], err = t.errorPages(t.values(code, style)); err != nil {
			return nil, fmt.Errorf("making the error pages for %s: %w", code, err)
		}
	}
	return b, nil
})

// values are what all pages of a language have in common.
func (t text) values(code, style string) map[string]string {
	return map[string]string{"lang": code, "dir": t.Dir, "icon": icon, "style": style}
}

// page compiles the page of the waiting room, in the same way as a custom page.
func (t text) page(values map[string]string) (*Page, error) {
	for key, s := range t.Page {
		values[key] = mustacheOf(s)
	}
	values["data"] = t.attributes()
	source, err := fill(pageSource, values)
	if err != nil {
		return nil, err
	}
	return Parse([]byte(source))
}

// errorPages writes the page for each problem.
func (t text) errorPages(values map[string]string) (map[problemKey][]byte, error) {
	pages := make(map[problemKey][]byte, len(problems))
	for _, p := range problems {
		words, ok := t.Problems[p.words]
		if !ok {
			return nil, fmt.Errorf("no words for the problem %q", p.words)
		}
		if p.kind == SlotKept {
			words.Detail = t.Page["failing"]
		}
		values["title"], values["detail"] = mustacheOf(words.Title), mustacheOf(words.Detail)
		values["status"] = strconv.Itoa(p.status)
		page, err := fill(errorSource, values)
		if err != nil {
			return nil, err
		}
		pages[p.key()] = []byte(page)
	}
	return pages, nil
}

// policyOf is the Content-Security-Policy with which the built-in pages work. It allows their
// own style and script by hash, check-ins to the same site, a timer's worker and the icon.
// It does not say who may frame the page, because rooms are embedded in other sites.
func policyOf(style, script string) string {
	return "default-src 'none'; script-src " + hashOf(script) + "; style-src " + hashOf(style) +
		"; connect-src 'self'; worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
}

func hashOf(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
