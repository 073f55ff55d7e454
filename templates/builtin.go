package templates

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var (
	//go:embed page/page.html
	pageSource string
	//go:embed page/page.css
	styleSource string
	// page.min.js is made from page.js: see TestTheScriptOfThePageIsMadeFromItsSource.
	//go:embed page/page.min.js
	pageScript string
	//go:embed page/count.js
	countSource string
	//go:embed page/own.js
	ownSource string
	//go:embed page/call.js
	callSource string
	//go:embed page/worker.js
	workerSource string
	//go:embed page/notsent.html
	notSentSource string
	//go:embed page/error.html
	errorSource string
	//go:embed page/theme.html
	themeSource string
	//go:embed page/site.html
	siteSource string
)

// picture is a door. The built-in pages have it as an icon in them, which keeps browsers from
// asking for /favicon.ico.
const picture = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path fill='#d9852b' d='M3 16V7a5 5 0 0 1 10 0v9z'/></svg>"

// Icon is the icon of the built-in pages.
func Icon() *Picture {
	return &Picture{Name: "icon.svg", Type: "image/svg+xml", Source: []byte(picture)}
}

// icon is the address that has the icon in it.
func icon() string {
	return "data:image/svg+xml," + strings.NewReplacer("<", "%3C", ">", "%3E", "#", "%23", " ", "%20").Replace(picture)
}

// builtInPages are the pages that are a part of this package, by language. They are the same
// for every room.
type builtInPages struct {
	codes         []string // in alphabetical order
	pages         map[string]*Page
	notSent       map[string]*Page
	clients       map[string]*client
	texts         map[string]text
	errors        map[string]map[problemKey][]byte // by language
	style, script string
	packer        *packer
}

// builtIn compiles the built-in pages at the first use.
var builtIn = sync.OnceValues(func() (*builtInPages, error) {
	texts, err := readTexts()
	if err != nil {
		return nil, err
	}
	style, script := squeezeStyle(styleSource), pageScript
	b := &builtInPages{
		codes:   slices.Sorted(maps.Keys(texts)),
		pages:   make(map[string]*Page, len(texts)),
		notSent: make(map[string]*Page, len(texts)),
		clients: make(map[string]*client, len(texts)),
		errors:  make(map[string]map[problemKey][]byte, len(texts)),
		style:   style, script: script, packer: newPacker(), texts: texts,
	}
	for code, t := range texts {
		t.Page["siteDown"] = t.Problems["origin"].Title
		b.clients[code] = &client{words: t.attributes(), script: script}
		if b.pages[code], err = t.page(pageSource, t.values(code, style)); err != nil {
			return nil, fmt.Errorf("making the page for %s: %w", code, err)
		}
		if b.notSent[code], err = t.page(notSentSource, t.values(code, style)); err != nil {
			return nil, fmt.Errorf("making the answer to a form for %s: %w", code, err)
		}
		if b.errors[code], err = t.errorPages(t.values(code, style)); err != nil {
			return nil, fmt.Errorf("making the error pages for %s: %w", code, err)
		}
	}
	return b, nil
})

// values are what all pages of a language have in common.
func (t text) values(code, style string) map[string]string {
	return map[string]string{
		"lang": code, "dir": t.Dir, "icon": icon(), "style": style,
		"theme": strings.TrimSpace(themeSource), "site": strings.TrimSpace(siteSource),
	}
}

// countScript is the part of the script that only pages before an event have.
var countScript = sync.OnceValue(func() string { return squeezeScript(countSource) })

// ownScript is the part of the script that only pages of the room's own have.
func ownScript() string { return squeezeScript(ownSource) }

// page compiles a page of the waiting room, in the same way as a custom page. That it can be rendered
// in every state is for a test to show, and not for each start of the program.
func (t text) page(source string, values map[string]string) (*Page, error) {
	for key, s := range t.Page {
		values[key] = mustacheOf(s)
	}
	values["words"] = t.attributes()
	values["startsAt"] = html.EscapeString(t.Page["startsAt"]) // for the script
	for key, of := range map[string]string{"untilMinutes": "minutes", "untilHours": "hours"} {
		values[key] = mustacheOf(strings.ReplaceAll(t.Page[of], "{waitTime", "{timeUntilEventStart"))
	}
	source, err := fill(source, values)
	if err != nil {
		return nil, err
	}
	return read([]byte(source))
}

// errorPages writes the page for each problem.
func (t text) errorPages(values map[string]string) (map[problemKey][]byte, error) {
	pages := make(map[problemKey][]byte, len(problems))
	for _, p := range problems {
		words, ok := t.Problems[p.words]
		if !ok {
			return nil, fmt.Errorf("no words for the problem %q", p.words)
		}
		values["code"] = ""
		if p.kind == SlotKept {
			words.Detail = t.Page["failing"]
			values["code"] = " · " + html.EscapeString(t.Page["support"]) + ` <code dir="ltr">` + string(noCode[:]) + "</code>"
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

// policyFor is the Content-Security-Policy with which the built-in pages work. It allows their
// own styles and script by hash, check-ins to the same site, a timer's worker, the icon and
// the site's pictures. It does not say who may frame the page, because rooms are embedded in
// other sites.
func (b *builtInPages) policyFor(i Identity) string {
	return i.policyOf(variants(b.script), b.style) + "; worker-src blob:; form-action 'self'"
}

// variants are what a script becomes in the states of a room.
func variants(script string) []string { return []string{script, script + countScript()} }

// policyOf is what the policies of all pages of a site have in common: their script, their
// styles, requests to the same site, the icon and the site's pictures.
func (i Identity) policyOf(scripts []string, styles ...string) string {
	if theme := i.theme(); theme != "" {
		styles = append(styles, theme)
	}
	pictures := "data:"
	if i.Logo != "" || i.Hero != "" {
		pictures += " 'self'"
	}
	return "default-src 'none'; script-src" + hashesOf(scripts) + "; style-src" + hashesOf(styles) +
		"; connect-src 'self'; img-src " + pictures + "; base-uri 'none'"
}

func hashesOf(sources []string) (hashes string) {
	for _, source := range sources {
		sum := sha256.Sum256([]byte(source))
		hashes += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return hashes
}
