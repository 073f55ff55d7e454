package templates

// Options says which templates a room has. The zero value is the built-in page
// in [DefaultLanguage] and all others.
type Options struct {
	// Custom is the room's own page; nil means the built-in one. A custom page
	// is not translated.
	Custom *Page
	// DefaultLanguage is the code of the built-in page's language for visitors
	// who want none of the others; "" means [DefaultLanguage].
	DefaultLanguage string
}

// Set is the templates of one room. It is safe for concurrent use.
type Set struct {
	*Languages
	custom  *Page
	builtIn *builtInPages
}

// NewSet returns the templates of a room. It fails if the default language is
// unknown.
func NewSet(o Options) (*Set, error) {
	b, err := builtIn()
	if err != nil {
		return nil, err
	}
	languages, err := NewLanguages(o.DefaultLanguage)
	if err != nil {
		return nil, err
	}
	return &Set{Languages: languages, custom: o.Custom, builtIn: b}, nil
}

// Custom reports whether the room has a page of its own. Only such a page needs a Refresh
// header: the built-in one refreshes itself.
func (s *Set) Custom() bool { return s.custom != nil }

// ContentSecurityPolicy is the value of that header for the room's page; ""
// for a custom page, which may load what it likes.
func (s *Set) ContentSecurityPolicy() string {
	if s.Custom() {
		return ""
	}
	return s.builtIn.policy
}

// Page renders the room's page in the state d, in a language that [Languages.Match] has
// returned. A custom page is the same in every language. If it fails, although Parse has
// rendered it, visitors see the built-in page.
func (s *Set) Page(code string, d Data) *Rendered {
	if s.custom != nil {
		if r, err := s.custom.Render(d); err == nil {
			return r
		}
	}
	page, ok := s.builtIn.pages[code]
	if !ok {
		page = s.builtIn.pages[s.Default()]
	}
	// Compiling the built-in pages has rendered them in every state.
	r, _ := page.Render(d)
	return r
}

// JSON renders the answer for programs in the state d.
func (s *Set) JSON(d Data) *Rendered {
	d = d.resolved()
	// Plain values can always be encoded.
	text, _ := encode(d, marked(d))
	return split(text)
}
