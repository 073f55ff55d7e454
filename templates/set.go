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
	// Identity is what the pages show of the site.
	Identity Identity
	// CallBack is the public key for web push with which the pages offer to call their visitors
	// when it is their turn; "" where they do not.
	CallBack string
}

// Set is the templates of one room. It is safe for concurrent use.
type Set struct {
	*Languages
	custom   *Page
	clients  map[string]*client // of the built-in pages, by language
	client   *client            // of the custom page
	identity Identity
	builtIn  *builtInPages
	policy   string // of the built-in pages
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
	clients, policy := b.clients, b.policyFor(o.Identity)
	if o.CallBack != "" {
		clients, policy = b.calling(o.CallBack), b.callingPolicyFor(o.Identity)
	}
	c := clients[languages.Default()]
	return &Set{
		Languages: languages, custom: o.Custom, builtIn: b, identity: o.Identity, policy: policy, clients: clients,
		client: &client{words: c.words, calls: c.calls, script: c.script + ownScript(), own: true},
	}, nil
}

// Custom reports whether the room has a page of its own.
func (s *Set) Custom() bool { return s.custom != nil }

// Reloads reports whether the room's page needs a Refresh header. The built-in one refreshes
// itself, and so does one with the client.
func (s *Set) Reloads() bool { return s.custom != nil && !s.custom.client }

// ContentSecurityPolicy is the value of that header for the room's page; ""
// for a custom page, which may load what it likes.
func (s *Set) ContentSecurityPolicy() string {
	if s.Custom() {
		return ""
	}
	return s.policy
}

// Page renders the room's page in the state d, in a language that [Languages.Match] has
// returned. A custom page is the same in every language. If it fails, although Parse has
// rendered it, visitors see the built-in page; so do those who have sent a form, if the
// custom page does not ask for that.
func (s *Set) Page(code string, d Data) *Rendered {
	d.Identity = s.identity
	if s.custom != nil && (s.custom.notSent || !d.NotSent) {
		if r, err := s.custom.render(d, s.client); err == nil {
			return s.builtIn.packer.pack(r)
		}
	}
	if _, ok := s.builtIn.pages[code]; !ok {
		code = s.Default()
	}
	page := s.builtIn.pages[code]
	if d.NotSent {
		page = s.builtIn.notSent[code]
	}
	// Compiling the built-in pages has rendered them in every state.
	r, _ := page.render(d, s.clients[code])
	return s.builtIn.packer.pack(r)
}

// JSON renders the answer for programs in the state d.
func (s *Set) JSON(d Data) *Rendered {
	d.Identity = s.identity
	d = d.resolved()
	// Plain values can always be encoded.
	text, _ := encode(d, marked(d))
	return split(text)
}

// Problem renders the problem+json for a program whose request was not passed on, in the
// state d.
func (s *Set) Problem(d Data) *Rendered {
	d.Identity = s.identity
	d = d.resolved()
	text, _ := encodeLine(struct {
		problemFields
		Room fields `json:"cfWaitingRoom"`
	}{waitingProblem, newRoom(d, marked(d))})
	return split(text)
}
