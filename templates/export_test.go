package templates

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/cbroglie/mustache"
)

// Direct renders the page with a visitor's own values as any template would be.
func (p *Page) Direct(d Data, v Visitor) ([]byte, error) {
	d, o := plain(d, v)
	return p.execute(d, o, nil)
}

// DirectJSON encodes the answer with a visitor's own values in it.
func DirectJSON(d Data, v Visitor) ([]byte, error) {
	d, o := plain(d, v)
	return encode(d, o)
}

func plain(d Data, v Visitor) (Data, own) {
	d.Place = v.Place
	d = d.resolved()
	o := ownOf(d)
	o.lastUpdated = v.LastUpdated.UTC().Format("2006-01-02T15:04:05.000Z")
	o.address = cmp.Or(v.Address, "/")
	o.clock = v.LastUpdated.UTC().Format("15:04:05 UTC")
	if d.Refreshes() {
		o.refresh, o.refreshLeft = v.RefreshSeconds, v.LeftSeconds
		o.arrived = v.ArrivedAt.UTC().Format("2006-01-02T15:04:05.000Z")
		o.support = string(bytes.TrimRight(v.SupportCode[:], "\x00"))
	}
	if d.counts() {
		o.bucket = v.BucketID.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	if o.arrived != "" && d.ordersBuckets() && !(d.Event.Prequeueing && d.Event.Shuffle) {
		o.placed = v.PlacedAt.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	if d.Drawn {
		o.entry = v.Entry
	}
	return d, o
}

// Resolved is d as it is told.
func (d Data) Resolved() Data { return d.resolved() }

// Tags are the tags of the compiled template.
func (p *Page) Tags() []mustache.Tag { return p.template.Tags() }

// ScannedTag is a tag as the scanner found it.
type ScannedTag struct {
	Name string
	Type mustache.TagType
}

// Scanned lists the opening tags and variables of a template by the scanner.
func Scanned(source string) []ScannedTag {
	tags, _ := scan(source)
	types := map[kind]mustache.TagType{
		variable: mustache.Variable, rawVariable: mustache.Variable, section: mustache.Section,
		invertedSection: mustache.InvertedSection, partial: mustache.Partial,
	}
	var found []ScannedTag
	for _, t := range tags {
		if t.kind != sectionEnd {
			found = append(found, ScannedTag{t.name, types[t.kind]})
		}
	}
	return found
}

// Passes reports whether our own check finds nothing wrong.
func Passes(source []byte) bool { return len(check(source)) == 0 }

// Texts are the strings of each language.
func Texts() (map[string]text, error) { return readTexts() }

// Style is the style sheet that the built-in pages carry.
func Style() string { return squeezeStyle(styleSource) }

// SqueezeScript is what becomes of a script.
func SqueezeScript(source string) string { return squeezeScript(source) }

// Broken is a custom page that cannot be rendered, which Parse never returns.
func Broken() (*Page, error) {
	template, err := mustache.ParseStringPartials("half a page {{>x}}", failing{})
	return &Page{template: template}, err
}

type failing struct{}

func (failing) Get(string) (string, error) { return "", errors.New("no partials") }

// BuiltInPages are the pages of the waiting room and its answers to forms, by language.
func BuiltInPages() (pages, notSent map[string]*Page, err error) {
	b, err := builtIn()
	if err != nil {
		return nil, nil, err
	}
	return b.pages, b.notSent, nil
}
