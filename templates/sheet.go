package templates

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"

	"github.com/cbroglie/mustache"
)

// Sheet is a page of another package in the style of the built-in one, in all of its languages.
// It is safe for concurrent use.
type Sheet struct {
	pages              map[string]*mustache.Template // by language
	words              map[string]map[string]string
	style, own, script string
}

//go:embed page/sheethead.html
var sheetHead string

// NewSheet compiles a page, which has a style and a script of its own besides the style of the
// built-in page. The source begins with what its head has besides that of all sheets. It is
// Mustache, with [[name]] where something of the language goes, or of all pages:
//
//   - the strings of the sections page, guests and passes of the language files, by their keys;
//   - later: when to try again;
//   - lang, dir, style, icon, theme and site, as in the built-in page;
//   - own and script: the page's own style and script.
//
// NewSheet fails if there is no such name, or if the source is no Mustache.
func NewSheet(source, style, script string) (*Sheet, error) {
	texts, err := readTexts()
	if err != nil {
		return nil, err
	}
	s := &Sheet{
		pages: make(map[string]*mustache.Template, len(texts)), words: make(map[string]map[string]string, len(texts)),
		style: squeezeStyle(styleSource), own: squeezeStyle(style), script: squeezeScript(script),
	}
	for code, t := range texts {
		values := t.values(code, s.style)
		values["own"], values["script"], values["later"] = s.own, s.script, mustacheOf(t.Problems["origin"].Detail)
		page, err := t.sheet(sheetHead+source, values)
		if err != nil {
			return nil, fmt.Errorf("making a page for %s: %w", code, err)
		}
		s.pages[code], s.words[code] = page.template, maps.Clone(t.Page)
		maps.Copy(s.words[code], t.Guests)
		maps.Copy(s.words[code], t.Passes)
	}
	return s, nil
}

// sheet compiles a source with these values and all strings.
func (t text) sheet(source string, values map[string]string) (*Page, error) {
	for _, section := range []map[string]string{t.Page, t.Guests, t.Passes} {
		for key, s := range section {
			values[key] = mustacheOf(s)
		}
	}
	source, err := fill(source, values)
	if err != nil {
		return nil, err
	}
	return compile(source)
}

// ContentSecurityPolicy is the value of that header for the page of a site. Besides what the
// built-in page may do, it sends forms to the same site.
func (s *Sheet) ContentSecurityPolicy(i Identity) string {
	return i.policyOf([]string{s.script}, s.style, s.own) + "; form-action 'self'"
}

// AppendTo appends the page of a site in a language of [LanguageCodes], with these values for its
// Mustache tags. It adds those of the identity, and as heading the string that has this key.
func (s *Sheet) AppendTo(buf []byte, code string, i Identity, heading string, values map[string]any) []byte {
	if _, ok := s.pages[code]; !ok {
		code = DefaultLanguage
	}
	all := i.variables()
	maps.Copy(all, values)
	all["heading"] = s.words[code][heading]
	text := bytes.NewBuffer(buf)
	// Plain values and writing to a buffer do not fail.
	_ = s.pages[code].FRender(text, all)
	return text.Bytes()
}
