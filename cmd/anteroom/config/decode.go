package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxVisits bounds how many keys and list items are looked at: without aliases a file of 1 MiB stays far below, with them a small
// file could stand for a very large one.
const maxVisits = 1 << 19

// decoder reads values and reports what is wrong with them.
type decoder struct {
	Options
	report
	src    []byte // the configuration file
	visits int
}

// layer is where a value comes from; the higher wins.
type layer int

const (
	fromDefault layer = iota
	fromFile
	fromEnv
	fromFlag
)

// value is what a key is set to.
type value struct {
	Place
	node   *yaml.Node // aliases resolved
	from   layer
	loose  bool // text without a type of its own: from a flag, a variable or a ${…}
	secret bool // never shown
}

// text makes a value of a flag's or a variable's text, or of a default.
func text(p Place, from layer, s string) value {
	return value{Place: p, from: from, loose: true, node: scalarNode(s)}
}

func scalarNode(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}

// problem reports that the value is wrong. What is wrong continues a sentence that begins with the value.
func (d *decoder) problem(v value, what string) bool {
	shown := "the value"
	// An address with a user in front may carry a password.
	if !v.secret && v.node.Kind == yaml.ScalarNode && !strings.Contains(v.node.Value, "@") {
		shown = show(v.node.Value)
		if tag := v.node.ShortTag(); tag != "!!str" {
			shown = strings.Trim(shown, `"`) // a number looks like one
		}
	}
	if v.from == fromFile && strings.Contains(v.node.Value, "${") || len(what) > maxMessage/2 {
		// A suggestion would show what the variable stands for, or is of no help at such a length.
		what, _, _ = strings.Cut(what, " (did you mean")
	}
	d.fault(v.Place, "%s %s", shown, what)
	return false
}

// show quotes what was written, cut to a length that fits a line.
func show(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// at is the place of a node in the configuration file.
func (d *decoder) at(n *yaml.Node, path string) Place {
	return Place{Source: d.file, Line: n.Line, Col: n.Column, Key: path}
}

// visit counts a key or a list item, and says whether to go on.
func (d *decoder) visit(n *yaml.Node) bool {
	d.visits++
	if d.visits == maxVisits {
		d.fault(d.at(n, ""), "the file is too large once its aliases are followed: the rest is not looked at")
	}
	return d.visits < maxVisits
}

// scope is a mapping that is read into one T: the top of the file, a room, a rule.
type scope[T any] struct {
	*decoder
	keys []key[T]
	dst  *T
	path string           // of the mapping, "" for the top
	node *yaml.Node       // of the mapping, nil without one
	got  map[string]value // what was given for a key, right or wrong, last layer
	good map[string]bool  // whether that was right
	// misplaced are the keys of another scope, and belongs says which that is.
	misplaced []string
	belongs   string
}

// newScope reads defaults into dst.
func newScope[T any](d *decoder, keys []key[T], dst *T, path string) *scope[T] {
	s := &scope[T]{decoder: d, keys: keys, dst: dst, path: path, got: map[string]value{}, good: map[string]bool{}}
	for _, k := range keys {
		if k.def != "" {
			k.read(d, text(Place{Source: "the default", Key: k.name}, fromDefault, k.def), dst)
		}
	}
	return s
}

// set reads one value; a lower layer's value stays where it is wrong.
func (s *scope[T]) set(k key[T], v value) {
	v.secret = k.secret
	s.got[k.name] = v
	s.good[k.name] = k.read(s.decoder, v, s.dst)
}

// given says whether a key was given at all.
func (s *scope[T]) given(name string) bool {
	_, ok := s.got[name]
	return ok
}

// fine says whether all of the keys are as they should be: given and right, or left to their defaults.
func (s *scope[T]) fine(names ...string) bool {
	for _, name := range names {
		if s.given(name) && !s.good[name] {
			return false
		}
	}
	return true
}

// place is where a key was given, or where it could have been.
func (s *scope[T]) place(name string) Place {
	if v, ok := s.got[name]; ok {
		return v.Place
	}
	if s.node != nil {
		return s.at(s.node, s.key(name))
	}
	return Place{Source: "--" + flagName(name), Key: s.key(name)}
}

// key is the path of a key of this scope.
func (s *scope[T]) key(name string) string {
	if s.path == "" {
		return name
	}
	return s.path + "." + name
}

// file reads a mapping of the file.
func (s *scope[T]) file(n *yaml.Node) {
	s.node = n
	s.walk(n, "")
}

// walk reads the keys of a mapping whose names begin with prefix.
func (s *scope[T]) walk(n *yaml.Node, prefix string) {
	for _, p := range s.pairs(n, s.key(prefix)) {
		name := prefix + p.key.Value
		place := s.at(p.val, s.key(name))
		inner := resolve(p.val)
		if k := s.find(name); k != nil {
			s.set(*k, value{Place: place, node: inner, from: fromFile})
			continue
		}
		switch {
		case !s.isPrefix(name + "."):
			s.unknown(p.key, prefix)
		case inner.Kind != yaml.MappingNode:
			s.fault(place, "expects a mapping of %s, got %s", strings.Join(s.names(name+"."), ", "), kindOf(inner))
		default:
			s.walk(inner, name+".")
		}
	}
}

func (s *scope[T]) find(name string) *key[T] {
	for i := range s.keys {
		if k := &s.keys[i]; k.name == name && !k.fileless {
			return k
		}
	}
	return nil
}

func (s *scope[T]) isPrefix(prefix string) bool { return len(s.names(prefix)) > 0 }

// names lists the keys one level below a prefix.
func (s *scope[T]) names(prefix string) []string {
	var names []string
	for _, k := range s.keys {
		rest, ok := strings.CutPrefix(k.name, prefix)
		if !ok || k.fileless {
			continue
		}
		name, _, _ := strings.Cut(rest, ".")
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

// plainName is what a key may look like to be repeated as it is.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (s *scope[T]) unknown(k *yaml.Node, prefix string) {
	if s.stopped {
		return
	}
	name := k.Value
	if !plainName.MatchString(name) {
		name = show(name)
	}
	place := s.at(k, s.key(prefix+name))
	hint := DidYouMean(k.Value, s.names(prefix))
	if meant := prefix + nearest(k.Value, s.names(prefix)); hint != "" && !s.given(meant) {
		s.got[meant] = value{Place: place, from: fromFile} // wrong, and so not missing as well
	}
	switch {
	case prefix == "" && slices.Contains(s.misplaced, k.Value):
		s.fault(place, "unknown key here: it belongs %s", s.belongs)
	case hint != "":
		s.fault(place, "unknown key%s", hint)
	default:
		s.fault(place, "unknown key; the keys here are %s", strings.Join(s.names(prefix), ", "))
	}
}

// items are the elements of a list, each as a value of its own; ok is false, and a fault reported, for what is no list. A flag's or
// a variable's text is taken apart at its commas.
func (d *decoder) items(v value, want string) (items []value, ok bool) {
	if v.loose && v.node.Kind == yaml.ScalarNode {
		for piece := range strings.SplitSeq(v.node.Value, ",") {
			if piece = strings.TrimSpace(piece); piece != "" {
				items = append(items, value{Place: v.Place, node: scalarNode(piece), from: v.from, loose: true, secret: v.secret})
			}
		}
		return items, true
	}
	if v.node.Kind != yaml.SequenceNode {
		d.fault(v.Place, "expects a list of %s, got %s", want, kindOf(v.node))
		return nil, false
	}
	for i, n := range v.node.Content {
		if v.from == fromFile && !d.visit(n) {
			break
		}
		item := v
		item.node = resolve(n)
		if v.from == fromFile {
			item.Place = d.at(n, fmt.Sprintf("%s[%d]", v.Key, i))
		}
		items = append(items, item)
	}
	return items, true
}
