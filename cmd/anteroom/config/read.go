package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/anteroom-gate/anteroom/templates/spelling"
)

// maxVisits bounds how many keys and list items are looked at: without aliases a file of 1 MiB stays far below, with them a small
// file could stand for a very large one.
const maxVisits = 1 << 19

// layer is where a value comes from; the higher wins.
type layer int

const (
	fromFile layer = iota + 1
	fromEnv
	fromFlag
)

// written is something that was written, and where.
type written struct {
	Place
	field *field     // that it is the value of; of an unknown key, the mapping that it is in
	node  *yaml.Node // aliases resolved
	from  layer
	list  place // whose item it is
	items []place
	isKey bool // that nobody knows
	wrong bool
}

// place is the number of something in loader.written, counted from 1. Copies of nodes carry it as their line, so that the decoder's
// errors lead back to it.
type place int

// loader reads values and reports what is wrong with them.
type loader struct {
	Options
	report
	src     []byte // the configuration file
	visits  int
	written []written
	given   map[string]place // by the key's path: the last layer's value, right or wrong
}

func (d *loader) at(p place) *written { return &d.written[p-1] }

func (d *loader) note(w written) place {
	d.written = append(d.written, w)
	return place(len(d.written))
}

// noteKey notes the value of a key.
func (d *loader) noteKey(w written) place {
	p := d.note(w)
	d.given[w.Key] = p
	return p
}

// in is the place of a node in the configuration file.
func (d *loader) in(n *yaml.Node, key string) Place {
	return Place{Source: d.file, Line: n.Line, Col: n.Column, Key: key}
}

// visit counts a key or a list item, and says whether to go on.
func (d *loader) visit(n *yaml.Node) bool {
	d.visits++
	if d.visits == maxVisits {
		d.fault(d.in(n, ""), "the file is too large once its aliases are followed: the rest is not looked at")
	}
	return d.visits < maxVisits
}

// decode has the library read a copy into a struct. What it finds is reported, all at once: keys that nobody knows, and values of
// another kind.
func (d *loader) decode(n *yaml.Node, dst any) {
	err := n.Load(dst, yaml.WithKnownFields())
	var all *yaml.LoadErrors
	var one *yaml.LoadError
	switch {
	case errors.As(err, &all):
		for _, e := range all.Errors {
			d.misfit(e)
		}
	case errors.As(err, &one):
		d.misfit(one)
	case err != nil:
		d.fault(Place{Source: d.file, Line: 1, Col: 1}, "cannot be read: %v", err)
	}
}

func (d *loader) misfit(e *yaml.LoadError) {
	p := place(e.Mark.Line)
	switch {
	case p < 1 || int(p) > len(d.written):
		d.fault(Place{Source: d.file, Line: 1, Col: 1}, "cannot be read: %s", e.Message)
	case d.at(p).isKey:
		d.unknown(p)
	default:
		d.otherKind(p)
	}
}

// plainName is what a key may look like to be repeated as it is.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func shownName(name string) string {
	if !plainName.MatchString(name) {
		return show(name)
	}
	return name
}

// join is the path of a key of the mapping that has the path.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (d *loader) unknown(p place) {
	w := d.at(p)
	name, known := w.node.Value, w.field.names()
	if d.stopped {
		return
	}
	meant := spelling.Nearest(name, known)
	if path := join(strings.TrimSuffix(strings.TrimSuffix(w.Key, shownName(name)), "."), meant); meant != "" && d.given[path] == 0 {
		w.wrong = true
		d.given[path] = p // wrong, and so not missing as well
	}
	switch {
	case w.field == top && roomField.child(name) != nil:
		d.fault(w.Place, "unknown key here: it belongs to a room, below rooms")
	case w.field.path == roomField.path && top.child(name) != nil:
		d.fault(w.Place, "unknown key here: it belongs at the top of the file")
	case meant != "":
		d.fault(w.Place, "unknown key (did you mean %q?)", meant)
	default:
		d.fault(w.Place, "unknown key; the keys here are %s", strings.Join(known, ", "))
	}
}

// spoil notes that a value is wrong, and so the list of texts that it is in.
func (d *loader) spoil(p place) {
	w := d.at(p)
	w.wrong = true
	if w.list > 0 && w.field.inner == nil {
		d.at(w.list).wrong = true
	}
}

// otherKind reports a value that is not what its key wants.
func (d *loader) otherKind(p place) {
	w := d.at(p)
	d.spoil(p)
	switch {
	case isNull(w.node) && !w.field.isList() && w.field.inner == nil:
		d.fault(w.Place, "has no value: expects %s (or take the line out)", w.field.wants())
	default:
		d.fault(w.Place, "expects %s, got %s", w.field.wants(), kindOf(w.node))
	}
}

// problem reports that a text is wrong. What is wrong continues a sentence that begins with the text.
func (d *loader) problem(p place, what string) {
	w, shown := d.at(p), "the value"
	// An address with a user in front may carry a password.
	if !w.field.isSecret() && w.node.Kind == yaml.ScalarNode && !strings.Contains(w.node.Value, "@") {
		shown = show(w.node.Value)
		if w.node.ShortTag() != "!!str" {
			shown = strings.Trim(shown, `"`) // a number looks like one
		}
	}
	if w.from == fromFile && strings.Contains(w.node.Value, "${") || len(what) > maxMessage/2 {
		// A suggestion would show what the variable stands for, or is of no help at such a length.
		what, _, _ = strings.Cut(what, " (did you mean")
	}
	d.spoil(p)
	d.fault(w.Place, "%s %s", shown, what)
}

// show quotes what was written, cut to a length that fits a line.
func show(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// take copies a value for the decoder, with its variables expanded and its merges followed. A value that is wrong in a way that the
// decoder does not mind is reported; the copy is then nil.
func (d *loader) take(p place) *yaml.Node {
	out := d.value(p)
	if out != nil {
		out.Line, out.Column = int(p), 0
	}
	return out
}

func (d *loader) value(p place) *yaml.Node {
	w := *d.at(p)
	switch f := w.field; {
	case w.from == fromFile && isNull(w.node):
		d.otherKind(p)
		return nil
	case f.isList() && w.from != fromFile:
		return d.list(p, pieces(w.node.Value))
	case f.isList() && w.node.ShortTag() == "!!str" && f.Tag.Get("single") != "":
		return d.list(p, []*yaml.Node{w.node})
	case f.isList() && w.node.Kind == yaml.SequenceNode:
		return d.list(p, w.node.Content)
	case f.isMapping() && w.node.Kind == yaml.MappingNode:
		return d.mapping(p)
	case f.isList() || f.isMapping() || w.node.Kind != yaml.ScalarNode:
		// The decoder minds the kind, so that is all it has to see.
		return &yaml.Node{Kind: w.node.Kind, Tag: map[yaml.Kind]string{yaml.ScalarNode: "!!str"}[w.node.Kind]}
	default:
		return d.scalar(p)
	}
}

// pieces takes the text of a list apart at its commas.
func pieces(text string) []*yaml.Node {
	var nodes []*yaml.Node
	for piece := range strings.SplitSeq(text, ",") {
		if piece = strings.TrimSpace(piece); piece != "" {
			nodes = append(nodes, textNode(piece))
		}
	}
	return nodes
}

func textNode(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

// list copies the items of a list. A list of texts is left out as a whole where one is wrong.
func (d *loader) list(p place, items []*yaml.Node) *yaml.Node {
	w := *d.at(p)
	out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	switch {
	case len(items) == 0 && w.field.Tag.Get("single") != "":
		d.spoil(p)
		d.fault(w.Place, "the list is empty: take the line out, or name a network")
		return nil
	case w.field.path == "rooms" && len(items) > maxRooms:
		d.spoil(p)
		d.fault(w.Place, "there are %d rooms: at most %d", len(items), maxRooms)
		return nil
	}
	element := w.field.element()
	for i, n := range items {
		item := written{Place: w.Place, field: element, node: resolve(n), from: w.from, list: p}
		if w.from == fromFile {
			if d.stopped || !d.visit(n) {
				break
			}
			if n != w.node {
				item.Place = d.in(n, fmt.Sprintf("%s[%d]", w.Key, i))
			}
		}
		at := d.note(item)
		d.at(p).items = append(d.at(p).items, at)
		if v := d.take(at); v == nil {
			continue
		} else if w.field.Choices != nil && v.Kind == yaml.ScalarNode && slices.ContainsFunc(out.Content, func(o *yaml.Node) bool { return o.Value == v.Value }) {
			d.problem(at, "is there already")
		} else {
			out.Content = append(out.Content, v)
		}
	}
	if d.at(p).wrong { // the decoder is to see no more than what it minds
		out.Content = slices.DeleteFunc(out.Content, func(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode })
	}
	switch {
	case d.at(p).wrong && len(out.Content) == 0:
		return nil
	case len(out.Content) == 0:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	return out
}

// mapping copies a mapping, each key once. The value of a key that nobody knows is left out: it may be anything.
func (d *loader) mapping(p place) *yaml.Node {
	w := *d.at(p)
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, pair := range d.pairs(w.node, w.Key) {
		name := pair.key.Value
		key, child := textNode(name), w.field.child(name)
		path := join(w.Key, shownName(name))
		if child == nil || child.outside() == "only" {
			at := d.note(written{Place: d.in(pair.key, path), field: w.field, node: pair.key, isKey: true})
			if child != nil { // the struct has it, for those who may set it
				d.unknown(at)
				continue
			}
			key.Line = int(at)
			out.Content = append(out.Content, key, textNode(""))
			continue
		}
		at := d.noteKey(written{Place: d.in(pair.val, path), field: child, node: resolve(pair.val), from: w.from})
		if v := d.take(at); v != nil {
			out.Content = append(out.Content, key, v)
		}
	}
	return out
}
