package templates

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"path"
	"regexp"
	"strings"
)

//go:embed lang/*.json
var languageFiles embed.FS

// text is one language of the built-in pages, as its file in lang has it.
type text struct {
	// Language is the language's own name for itself.
	Language string `json:"language"`
	// Dir is the direction of its script, "ltr" or "rtl".
	Dir string `json:"dir"`
	// Read says whether somebody who speaks the language has read all of it.
	Read bool `json:"read"`
	// Page has the strings of the page by key. Names in single braces are variables of
	// the template. A part in brackets is left out while the variable in it is zero.
	Page map[string]string `json:"page"`
	// Guests has the strings of the pages of a waitlist, in the same way. No key is one of Page.
	Guests map[string]string `json:"guests"`
	// Passes has the strings of the pages of passes that the other sections do not have.
	Passes map[string]string `json:"passes"`
	// Problems has the words for each kind of problem.
	Problems map[string]struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
	} `json:"problems"`
}

// readTexts reads all languages by their codes, which name their files.
func readTexts() (map[string]text, error) {
	codes, err := LanguageCodes()
	if err != nil {
		return nil, err
	}
	texts := make(map[string]text, len(codes))
	for _, code := range codes {
		source, err := languageFiles.ReadFile(path.Join("lang", code+".json"))
		if err != nil {
			return nil, fmt.Errorf("reading a language: %w", err)
		}
		var t text
		decoder := json.NewDecoder(bytes.NewReader(source))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&t); err != nil {
			return nil, fmt.Errorf("reading the language %s: %w", code, err)
		}
		texts[code] = t
	}
	return texts, nil
}

// scriptKeys are the keys of the strings that the script writes into the page. The script reads
// them from data attributes.
var scriptKeys = [...]string{
	"heading", "rejectHeading",
	"soon", "minutes", "hours", "long", "range", "unknown", "all", "full", "reject",
	"exact", "about", "pause", "resume", "paused", "turn", "enter", "lost",
	"kept", "by", "offline", "cookies", "failing",
	"soldOutHeading", "soldOut", "onHoldHeading", "onHold", "siteDown",
	"since", "tellSound", "tellNotify", "soldOutWord",
}

// attributes returns the strings for the script as data attributes. Their names have dashes in
// the place of capitals, because HTML ignores letter case.
func (t text) attributes() string { return t.attributesOf(scriptKeys[:]) }

// attributesOf returns the strings with these keys.
func (t text) attributesOf(keys []string) string {
	var b strings.Builder
	for _, key := range keys {
		name := upper.ReplaceAllStringFunc(key, func(s string) string { return "-" + strings.ToLower(s) })
		fmt.Fprintf(&b, "\ndata-%s=\"%s\"", name, html.EscapeString(t.Page[key]))
	}
	return b.String()
}

var (
	upper       = regexp.MustCompile(`[A-Z]`)
	inBrackets  = regexp.MustCompile(`\[([^\]]*\{\{(\w+)\}\}[^\]]*)\]`)
	inBraces    = regexp.MustCompile(`\{(\w+)\}`)
	placeholder = regexp.MustCompile(`\[\[(\w+)\]\]`)
)

// mustacheOf returns a string as HTML, with Mustache tags for its variables and its optional
// parts.
func mustacheOf(s string) string {
	s = inBraces.ReplaceAllString(html.EscapeString(s), "{{$1}}")
	return inBrackets.ReplaceAllString(s, "{{#$2}}$1{{/$2}}")
}

// fill puts values in place of [[name]] in an HTML file of our own. The values
// are HTML already.
func fill(source string, values map[string]string) (string, error) {
	var missing []string
	filled := placeholder.ReplaceAllStringFunc(source, func(match string) string {
		name := match[2 : len(match)-2]
		value, ok := values[name]
		if !ok {
			missing = append(missing, name)
		}
		return value
	})
	if len(missing) > 0 {
		return "", fmt.Errorf("no text for %s", strings.Join(missing, ", "))
	}
	return filled, nil
}
