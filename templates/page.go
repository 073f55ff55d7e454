package templates

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/cbroglie/mustache"
)

// MaxSource is the size in bytes that the source of a template may have.
const MaxSource = 1 << 20

// Page is a compiled template. It is immutable and safe for concurrent use.
//
// A template that has the tag {{{client}}} gets the script of the built-in page: events,
// check-ins and the goodbye. Such a page is kept up to date in place: what has changed in it
// is taken from the page as it is rendered now. Any other page is loaded again.
type Page struct {
	template *mustache.Template
	client   bool // it has {{{client}}}
	notSent  bool // it asks whether it answers a form
}

// Parse checks and compiles a Mustache template, and renders it in every state of [States].
// Its error is of type [Faults] and has everything that is wrong with the template: syntax,
// unknown variables, partials, values without escaping, sections that are nested too deep.
func Parse(source []byte) (*Page, error) {
	page, err := read(source)
	if err != nil {
		return nil, err
	}
	for _, state := range States() {
		if _, err := page.Render(state.Data); err != nil {
			return nil, Faults{{Message: fmt.Sprintf("rendering the state %q: %v", state.Name, err)}}
		}
	}
	return page, nil
}

// read is Parse without rendering, which takes most of its time.
func read(source []byte) (*Page, error) {
	if faults := check(source); len(faults) > 0 {
		return nil, faults
	}
	page, err := compile(string(source))
	if err != nil {
		return nil, Faults{faultOf(err)}
	}
	tags, _ := scan(string(source))
	page.client = slices.ContainsFunc(tags, func(t tag) bool { return t.name == "client" })
	page.notSent = slices.ContainsFunc(tags, func(t tag) bool { return t.name == "notSent" })
	return page, nil
}

// compile compiles a template. It gives an empty provider for partials: the library's own
// would read files.
func compile(source string) (*Page, error) {
	template, err := mustache.ParseStringPartials(source, &mustache.StaticProvider{})
	if err != nil {
		return nil, fmt.Errorf("parsing the template: %w", err)
	}
	return &Page{template: template}, nil
}

// ParseMustache checks and compiles a Mustache template that is no page: it has these variables and
// no others, none of them raw. In HTML values are escaped. The error is of type [Faults].
func ParseMustache(source []byte, variables []string, html bool) (*mustache.Template, error) {
	if faults := (&checker{known: slices.Sorted(slices.Values(variables))}).faultsOf(source); len(faults) > 0 {
		return nil, faults
	}
	template, err := mustache.ParseStringPartialsRaw(string(source), &mustache.StaticProvider{}, !html)
	if err != nil {
		return nil, Faults{faultOf(err)}
	}
	return template, nil
}

func faultOf(err error) Fault {
	var parse mustache.ParseError
	if errors.As(err, &parse) {
		return Fault{Line: parse.Line, Message: parse.Error()}
	}
	return Fault{Message: err.Error()}
}

// Render renders the page in the state d, with gaps for a visitor's own values, and without the
// client. No d makes it fail for a page that Parse has returned. If it fails nevertheless,
// the result ends where it has failed.
func (p *Page) Render(d Data) (*Rendered, error) { return p.render(d, nil) }

// render is Render with a client.
func (p *Page) render(d Data, c *client) (*Rendered, error) {
	d = d.resolved()
	text, err := p.execute(d, marked(d), c)
	return split(text), err
}

// execute renders the page for d, which has to be resolved, with a client if there is one.
func (p *Page) execute(d Data, o own, c *client) ([]byte, error) {
	values := variables(d, o)
	if c != nil {
		values["client"] = c.tag(d, o)
	}
	var text bytes.Buffer
	if err := p.template.FRender(&text, values); err != nil {
		return text.Bytes(), fmt.Errorf("rendering a page: %w", err)
	}
	return text.Bytes(), nil
}
