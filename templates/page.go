package templates

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cbroglie/mustache"
)

// MaxSource is the size in bytes that the source of a template may have.
const MaxSource = 1 << 20

// Page is a compiled template. It is immutable and safe for concurrent use.
type Page struct {
	template *mustache.Template
}

// Parse checks and compiles a Mustache template, and renders it in every state of [States].
// Its error is of type [Faults] and has everything that is wrong with the template: syntax,
// unknown variables, partials, values without escaping, sections that are nested too deep.
func Parse(source []byte) (*Page, error) {
	if faults := check(source); len(faults) > 0 {
		return nil, faults
	}
	page, err := compile(string(source))
	if err != nil {
		return nil, Faults{faultOf(err)}
	}
	for _, state := range States() {
		if _, err := page.Render(state.Data); err != nil {
			return nil, Faults{{Message: fmt.Sprintf("rendering the state %q: %v", state.Name, err)}}
		}
	}
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

func faultOf(err error) Fault {
	var parse mustache.ParseError
	if errors.As(err, &parse) {
		return Fault{Line: parse.Line, Message: parse.Error()}
	}
	return Fault{Message: err.Error()}
}

// Render renders the page in the state d, with gaps for a visitor's own values. No d makes it
// fail for a page that Parse has returned. If it fails nevertheless, the result ends where
// it has failed.
func (p *Page) Render(d Data) (*Rendered, error) {
	d = d.resolved()
	text, err := p.execute(d, marked(d))
	return split(text), err
}

// execute renders the page for d, which has to be resolved.
func (p *Page) execute(d Data, o own) ([]byte, error) {
	var text bytes.Buffer
	if err := p.template.FRender(&text, variables(d, o)); err != nil {
		return text.Bytes(), fmt.Errorf("rendering a page: %w", err)
	}
	return text.Bytes(), nil
}
