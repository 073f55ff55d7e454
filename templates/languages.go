package templates

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/text/language"

	"github.com/fairdoor-gate/fairdoor/templates/spelling"
)

const (
	// maxAcceptLanguage is how much of an Accept-Language header is read, in
	// bytes; browsers send some tens.
	maxAcceptLanguage = 256
	// remembered is the number of headers whose language is kept; a power of two.
	remembered = 512
)

// DefaultLanguage is the language of rooms that name none.
const DefaultLanguage = "en-US"

// Languages chooses among the languages of the built-in page. It is safe for
// concurrent use.
type Languages struct {
	matcher language.Matcher
	codes   []string // as the matcher counts them; the first is the default
	seed    maphash.Seed
	cache   [remembered]atomic.Pointer[choice]
}

// choice is the language that was chosen for a header.
type choice struct {
	header, code string
}

// LanguageCodes lists the codes of the built-in page's languages, such as
// "en-US", in alphabetical order.
func LanguageCodes() ([]string, error) {
	files, err := languageFiles.ReadDir("lang")
	if err != nil {
		return nil, fmt.Errorf("listing the languages: %w", err)
	}
	codes := make([]string, len(files))
	for i, file := range files {
		codes[i] = strings.TrimSuffix(file.Name(), ".json")
	}
	return codes, nil
}

// LanguageNames are the names of the built-in page's languages, each in itself, by their codes.
func LanguageNames() (map[string]string, error) {
	b, err := builtIn()
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, code := range b.codes {
		names[code] = b.texts[code].Language
	}
	return names, nil
}

// Read reports whether somebody who speaks a language of the built-in page has read all that it says.
func Read(code string) (bool, error) {
	b, err := builtIn()
	if err != nil {
		return false, err
	}
	return b.texts[code].Read, nil
}

// NewLanguages returns the languages of the built-in page. The default is for visitors who
// want none of them; "" means [DefaultLanguage]. NewLanguages fails if the default is not
// one of the languages.
func NewLanguages(defaultCode string) (*Languages, error) {
	b, err := builtIn()
	if err != nil {
		return nil, err
	}
	if defaultCode == "" {
		defaultCode = DefaultLanguage
	}
	if !slices.Contains(b.codes, defaultCode) {
		return nil, unknownLanguage(defaultCode, b.codes)
	}
	others := slices.DeleteFunc(slices.Clone(b.codes), func(code string) bool { return code == defaultCode })
	l := &Languages{codes: append([]string{defaultCode}, others...), seed: maphash.MakeSeed()}
	tags := make([]language.Tag, len(l.codes))
	for i, code := range l.codes {
		if tags[i], err = language.Parse(code); err != nil {
			return nil, fmt.Errorf("reading the language code %q: %w", code, err)
		}
	}
	l.matcher = language.NewMatcher(tags)
	return l, nil
}

// unknownLanguage is the error for a code that does not exist. It suggests a code with a
// similar spelling, or else the same language in another region.
func unknownLanguage(code string, codes []string) error {
	near := spelling.Nearest(code, codes)
	prefix, _, _ := strings.Cut(strings.ToLower(code), "-")
	if same := slices.IndexFunc(codes, func(c string) bool { return strings.HasPrefix(c, prefix+"-") }); same >= 0 && near == "" {
		near = codes[same]
	}
	if near != "" {
		return fmt.Errorf("unknown language %q; did you mean %q?", code, near)
	}
	return fmt.Errorf("unknown language %q; there are %s", code, strings.Join(codes, ", "))
}

// Default is the code of the language for visitors who want none of the others.
func (l *Languages) Default() string { return l.codes[0] }

// Match is the code of the language for an Accept-Language header: the first one that fits
// with high confidence, or the default. It remembers headers of common length, so that a
// repeated one costs no allocation and no search. Several header lines have to be joined by
// commas.
func (l *Languages) Match(acceptLanguage string) string {
	if acceptLanguage == "" {
		return l.Default()
	}
	if len(acceptLanguage) > maxAcceptLanguage {
		return l.match(wholeElements(acceptLanguage))
	}
	entry := &l.cache[maphash.String(l.seed, acceptLanguage)%remembered]
	if known := entry.Load(); known != nil && known.header == acceptLanguage {
		return known.code
	}
	code := l.match(acceptLanguage)
	entry.Store(&choice{header: strings.Clone(acceptLanguage), code: code})
	return code
}

// wholeElements cuts a long header after the last element that is read.
func wholeElements(header string) string {
	header = header[:maxAcceptLanguage]
	return header[:max(strings.LastIndexByte(header, ','), 0)]
}

func (l *Languages) match(header string) string {
	// The index counts: the tag that the matcher returns is not always one of ours.
	if _, index, confidence := l.matcher.Match(wanted(header)...); confidence >= language.High {
		return l.codes[index]
	}
	return l.Default()
}

// wanted returns the tags of a header, the best first. It reads each element by itself, so that
// an element that cannot be read does not spoil the others.
func wanted(header string) []language.Tag {
	type weighted struct {
		tag    language.Tag
		weight float32
	}
	var list []weighted
	for element := range strings.SplitSeq(header, ",") {
		tags, weights, err := language.ParseAcceptLanguage(element)
		if err != nil || len(tags) == 0 || !(weights[0] > 0) {
			continue
		}
		list = append(list, weighted{tags[0], weights[0]})
	}
	slices.SortStableFunc(list, func(a, b weighted) int { return cmp.Compare(b.weight, a.weight) })
	tags := make([]language.Tag, len(list))
	for i, w := range list {
		tags[i] = w.tag
	}
	return tags
}
