package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"
)

const (
	// maxVisits bounds how many keys and list items are looked at: without aliases a file of 1 MiB stays far below, with them a small
	// file could stand for a very large one.
	maxVisits = 1 << 19
	// maxMerges bounds how deep merges may be nested: an alias can merge a mapping into itself.
	maxMerges = 16
	// maxRooms is the most rooms that one gate takes.
	maxRooms = 1000
)

// visit counts a key or a list item, and says whether to go on.
func (d *loader) visit(n *yaml.Node) bool {
	d.visits++
	if d.visits == maxVisits {
		d.fault(d.in(n, ""), "the file is too large once its aliases are followed: the rest is not looked at")
	}
	return d.visits < maxVisits
}

// copyKey adds to the copy of a mapping what the decoder is to read for a key: the default, and whatever is given, the strongest last.
// The decoder takes the last, and minds them all.
func (d *loader) copyKey(out *yaml.Node, k *Key, path string, inFile *yaml.Node, outer bool) {
	add := func(n *yaml.Node) {
		if n != nil {
			out.Content = append(out.Content, textNode(k.Field.Name), n)
		}
	}
	switch {
	case k.inner != nil && (inFile == nil || resolve(inFile).Kind != yaml.MappingNode):
		add(d.copyMapping(&value{Place: Place{Key: path}, of: k, node: &yaml.Node{}, outer: outer}))
	case k.Default != "":
		add(k.textNode(k.Default))
	}
	for _, v := range d.layers(k, path, inFile, outer) {
		d.given[path] = v
		add(d.copy(v))
	}
}

// copy copies a value for the decoder, with its variables expanded and its merges followed. A value that is wrong in a way that the
// decoder does not mind is reported; the copy is then nil.
func (d *loader) copy(v *value) *yaml.Node {
	var n *yaml.Node
	switch k := v.of; {
	case isNull(v.node):
		d.otherKind(v)
	case k.item != nil && v.node.Kind == yaml.SequenceNode:
		n = d.copyList(v, v.node.Content)
	case k.item != nil && k.Tag.Get("single") != "" && v.node.ShortTag() == "!!str":
		n = d.copyList(v, []*yaml.Node{v.node})
	case k.inner != nil && v.node.Kind == yaml.MappingNode:
		n = d.copyMapping(v)
	case k.item != nil || k.inner != nil || v.node.Kind != yaml.ScalarNode:
		// The decoder minds the kind, so that is all it has to see.
		n = &yaml.Node{Kind: v.node.Kind, Tag: "!!str"}
	default:
		n = d.copyScalar(v)
	}
	if n != nil {
		n.Line = v.number
	}
	v.copied = n
	return n
}

// copyList copies the items of a list.
func (d *loader) copyList(v *value, items []*yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	switch {
	case len(items) == 0 && v.of.Tag.Get("single") != "":
		d.wrong(v, "the list is empty: take the line out, or name a network")
		return nil
	case v.of.item == roomKey && len(items) > maxRooms:
		d.wrong(v, "there are %d rooms: at most %d", len(items), maxRooms)
		return nil
	}
	for i, n := range items {
		if d.stopped || !d.visit(n) {
			break
		}
		item := d.note(&value{Place: v.Place, of: v.of.item, node: resolve(n), from: v.from, list: v, outer: v.of.item == roomKey && len(items) == 1})
		if n != v.node {
			item.Key, item.Line, item.Col = fmt.Sprintf("%s[%d]", v.Key, i), n.Line, n.Column
		}
		v.items = append(v.items, item)
		if c := d.copy(item); c != nil && d.isNew(item, c, out.Content) {
			out.Content = append(out.Content, c)
		}
	}
	if len(out.Content) == 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	return out
}

// isNew says whether a list of choices does not have an item yet, and reports one that it has.
func (d *loader) isNew(item *value, c *yaml.Node, others []*yaml.Node) bool {
	same := func(o *yaml.Node) bool { return o.Kind == yaml.ScalarNode && o.Kind == c.Kind && o.Value == c.Value }
	if item.of.Choices == nil || !slices.ContainsFunc(others, same) {
		return true
	}
	d.problem(item, "is there already")
	return false
}

// copyMapping copies a mapping, each key once, and adds what it does not have. The value of a key that nobody knows is left out: it may
// be anything.
func (d *loader) copyMapping(v *value) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	inFile := map[*Key]*yaml.Node{}
	for _, l := range d.linesOf(v.node, v.Key, 0) {
		child := v.of.child(l.name)
		if child != nil && child.File {
			inFile[child] = l.value
			continue
		}
		unknown := d.note(&value{Place: d.in(l.key, join(v.Key, shownName(l.name))), of: v.of, node: resolve(l.key), isKey: true})
		if child != nil { // the struct has it, for those who may set it
			d.unknown(unknown)
			continue
		}
		out.Content = append(out.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: l.name, Line: unknown.number}, &yaml.Node{})
	}
	if rooms := topKey.child("rooms"); v.of == topKey && inFile[rooms] == nil && d.describesRoom(v) {
		inFile[rooms] = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	for _, child := range v.of.inner {
		d.copyKey(out, child, join(v.Key, child.Field.Name), inFile[child], v.outer)
	}
	return out
}

// line is a line of a mapping.
type line struct {
	name       string
	key, value *yaml.Node
}

// linesOf are the lines of a mapping, those that `<<` merges into it included where it has no line of that name itself. Duplicate
// names, and names that are no plain strings, are reported.
func (d *loader) linesOf(n *yaml.Node, path string, merges int) []line {
	var own, merged []line
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content) && d.visit(n.Content[i]); i += 2 {
		written, k := n.Content[i], resolve(n.Content[i])
		switch {
		case k.ShortTag() == "!!merge":
			merged = append(merged, d.linesMerged(n.Content[i+1], path, merges+1)...)
		case k.Kind != yaml.ScalarNode:
			d.fault(d.in(written, ""), "a key has to be a plain name, this one is %s", kindOf(k))
		case first[k.Value] != nil:
			d.fault(d.in(written, join(path, shownName(k.Value))), "the key is given twice: first on line %d", first[k.Value].Line)
		default:
			first[k.Value] = written
			own = append(own, line{k.Value, written, n.Content[i+1]})
		}
	}
	for _, l := range merged {
		if first[l.name] == nil {
			first[l.name] = l.key
			own = append(own, l)
		}
	}
	return own
}

// linesMerged are the lines of a mapping, or of each mapping of a list, that are merged into another.
func (d *loader) linesMerged(v *yaml.Node, path string, merges int) []line {
	sources := []*yaml.Node{v}
	if n := resolve(v); n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	var lines []line
	for _, source := range sources {
		switch n := resolve(source); {
		case n.Kind != yaml.MappingNode:
			d.fault(d.in(source, ""), "only a mapping can be merged, this is %s", kindOf(n))
		case merges > maxMerges:
			d.fault(d.in(source, ""), "merges are nested too deeply")
		case d.visit(source):
			lines = append(lines, d.linesOf(n, path, merges)...)
		}
	}
	return lines
}
