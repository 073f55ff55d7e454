package cloudflare

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// match are conditions of a rule, all of which have to hold.
type match []condition

// condition is a key of a rule's match with its values. Only cidr has several.
type condition struct {
	key      string
	values   []string
	narrower bool // it holds for less here than at Cloudflare
	negated  bool // it must not hold
}

// mostMatches is how many matches an expression may become.
const mostMatches = 64

// keyOf are the keys for what an expression compares.
var keyOf = map[string]string{"http.request.uri.path": "path", "http.request.method": "method", "ip.src": "cidr"}

var (
	// token is a part of an expression: a text, an operator or bracket, or a word.
	token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|==|!=|&&|\|\||[(){},!]|[^\s(){},"=&|!]+|\S`)

	// parameter is a name and a value, or a name, that conditions on the query can have.
	parameter = regexp.MustCompile(`^[0-9A-Za-z._~-]+(=[0-9A-Za-z._~-]+)?$`)
)

// parser reads an expression of Cloudflare's rules language, as far as it can be said in
// conditions. As there, not goes before and, and that before or.
type parser struct {
	tokens []string
}

// matchesOf are the matches that an expression stands for, any of which exempts. They exempt
// nothing that it does not.
func matchesOf(expression string) ([]match, error) {
	p := &parser{token.FindAllString(expression, -1)}
	matches, err := p.any()
	if err == nil && len(p.tokens) > 0 {
		err = p.strange()
	}
	if err != nil {
		return nil, err
	}
	return matches, checkNegated(matches)
}

// checkNegated checks that no condition is negated that holds for less here: its opposite holds for
// more.
func checkNegated(matches []match) error {
	for _, c := range slices.Concat(matches...) {
		if c.negated && c.narrower {
			return fmt.Errorf("%s holds for less here, and its opposite for more", c)
		}
	}
	return nil
}

// any reads parts with or between them.
func (p *parser) any() ([]match, error) {
	matches, err := p.all()
	for err == nil && p.takes("or", "||") {
		var more []match
		more, err = p.all()
		matches = append(matches, more...)
	}
	return matches, err
}

// all reads parts with and between them.
func (p *parser) all() ([]match, error) {
	matches, err := p.part()
	for err == nil && p.takes("and", "&&") {
		var others []match
		if others, err = p.part(); err == nil {
			matches, err = both(matches, others)
		}
	}
	return matches, err
}

// both are the matches in which one of each list holds.
func both(some, others []match) ([]match, error) {
	if len(some)*len(others) > mostMatches {
		return nil, errors.New("it stands for too many conditions")
	}
	var matches []match
	for _, one := range some {
		for _, other := range others {
			matches = append(matches, slices.Concat(one, other))
		}
	}
	return matches, nil
}

// not are the matches that hold where none of these does: of each of them, one condition does not
// hold.
func not(matches []match) ([]match, error) {
	negated := []match{nil}
	var err error
	for _, m := range matches {
		var others []match
		for _, c := range m {
			c.negated = !c.negated
			others = append(others, match{c})
		}
		if negated, err = both(negated, others); err != nil {
			return nil, err
		}
	}
	return negated, nil
}

// part reads a comparison, or an expression in brackets.
func (p *parser) part() ([]match, error) {
	switch {
	case p.takes("not", "!"):
		matches, err := p.part()
		if err != nil {
			return nil, err
		}
		return not(matches)
	case p.takes("("):
		matches, err := p.any()
		if err == nil && !p.takes(")") {
			err = p.strange()
		}
		return matches, err
	case p.takes("cf.client.bot"):
		return crawlers, nil
	case p.takes("starts_with"):
		return p.function("path_prefix")
	case p.takes("ends_with"):
		return p.function("path_suffix")
	case p.takes("any"):
		return p.argument()
	case p.takes("http.request.uri.query"):
		return p.query()
	}
	return p.comparison()
}

// crawlers are those that are verified: of fewer operators than at Cloudflare.
var crawlers = []match{{{key: "verified_bot", narrower: true}}}

// one is a single condition.
func one(key string, values ...string) []match { return []match{{{key: key, values: values}}} }

// argument reads what is behind any: (http.request.uri.args["a"][*] == "b").
func (p *parser) argument() ([]match, error) {
	if !p.takes("(") || !p.takes("http.request.uri.args[") {
		return nil, p.strange()
	}
	name, ok := p.text()
	if !ok || !p.takes("][*]") || !p.takes("eq", "==") {
		return nil, p.strange()
	}
	value, ok := p.text()
	if !ok || !p.takes(")") {
		return nil, p.strange()
	}
	if !parameter.MatchString(name + "=" + value) {
		return nil, fmt.Errorf("the parameter %q has no condition here", name+"="+value)
	}
	return one("query", name+"="+value), nil
}

// query reads what is behind the query as a whole: contains "a=b". At Cloudflare that holds for
// za=bz, too.
func (p *parser) query() ([]match, error) {
	if !p.takes("contains") {
		return nil, p.strange()
	}
	text, ok := p.text()
	if !ok {
		return nil, p.strange()
	}
	if !parameter.MatchString(text) || !strings.Contains(text, "=") {
		return nil, fmt.Errorf("http.request.uri.query contains %q has no condition here", text)
	}
	return []match{{{key: "query", values: []string{text}, narrower: true}}}, nil
}

// function reads what is behind the name of a function: (http.request.uri.path, "/a").
func (p *parser) function(key string) ([]match, error) {
	if !p.takes("(") || !p.takes("http.request.uri.path") || !p.takes(",") {
		return nil, p.strange()
	}
	text, ok := p.text()
	if !ok || !p.takes(")") {
		return nil, p.strange()
	}
	narrower := key == "path_prefix" && !strings.HasSuffix(text, "/")
	return []match{{{key: key, values: []string{text}, narrower: narrower}}}, nil
}

// comparison reads a field, an operator and what it is compared with.
func (p *parser) comparison() ([]match, error) {
	key := ""
	for field, of := range keyOf {
		if p.takes(field) {
			key = of
		}
	}
	switch {
	case key == "":
		return nil, p.strange()
	case p.takes("eq", "=="):
		return p.equal(key)
	case p.takes("ne", "!="):
		matches, err := p.equal(key)
		if err != nil {
			return nil, err
		}
		return not(matches)
	case p.takes("in") && p.takes("{"):
		return p.list(key)
	}
	return nil, p.strange()
}

// equal reads the one value that something is compared with.
func (p *parser) equal(key string) ([]match, error) {
	value, ok := p.value(key)
	if !ok {
		return nil, p.strange()
	}
	return one(key, value), nil
}

// list reads values until the bracket that ends them.
func (p *parser) list(key string) ([]match, error) {
	var values []string
	var matches []match
	for !p.takes("}") {
		value, ok := p.value(key)
		if !ok {
			return nil, p.strange()
		}
		values, matches = append(values, value), append(matches, one(key, value)...)
	}
	switch {
	case len(values) == 0:
		return nil, errors.New("it compares with nothing")
	case key == "cidr":
		return one(key, values...), nil
	}
	return matches, nil
}

// value reads an address or a network for cidr, and else a text.
func (p *parser) value(key string) (string, bool) {
	if key != "cidr" {
		return p.text()
	}
	if len(p.tokens) == 0 || !regexp.MustCompile(`^[0-9a-fA-F.:/]+$`).MatchString(p.tokens[0]) {
		return "", false
	}
	value := p.tokens[0]
	p.tokens = p.tokens[1:]
	return value, true
}

// text reads a text in quotes that has something in it: an empty condition is none.
func (p *parser) text() (string, bool) {
	if len(p.tokens) == 0 || !strings.HasPrefix(p.tokens[0], `"`) || len(p.tokens[0]) < 3 {
		return "", false
	}
	text := p.tokens[0]
	p.tokens = p.tokens[1:]
	return regexp.MustCompile(`\\(.)`).ReplaceAllString(text[1:len(text)-1], "$1"), true
}

// takes reads the next token if it is one of these.
func (p *parser) takes(tokens ...string) bool {
	if len(p.tokens) == 0 || !slices.Contains(tokens, p.tokens[0]) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

// strange says that the next token is not understood.
func (p *parser) strange() error {
	if len(p.tokens) == 0 {
		return errors.New("it ends too early")
	}
	return fmt.Errorf("%s has no condition here", p.tokens[0])
}
