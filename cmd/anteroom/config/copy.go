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

// copyKey returns what the decoder is to read for a key: of all that is given the strongest that is right, or else the default. It is
// nil where there is neither.
func (d *loader) copyKey(k *Key, path string, inFile *yaml.Node, outer bool) *yaml.Node {
	var n *yaml.Node
	switch {
	case k.Kind == "mapping" && (inFile == nil || inFile.Kind != yaml.MappingNode):
		n = d.copyMapping(&value{Place: Place{Key: path}, of: k, node: &yaml.Node{}, outer: outer})
	case k.Default != "":
		n = k.textNode(k.Default)
	}
	for _, v := range d.layers(k, path, inFile, outer) {
		d.given[path] = v
		if c := d.copy(v); c != nil {
			n = c
		}
	}
	return n
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
	case k.Kind == "mapping" && v.node.Kind == yaml.MappingNode:
		n = d.copyMapping(v)
	case k.item != nil || k.inner != nil || v.node.Kind != yaml.ScalarNode:
		// The decoder minds the kind, so that is all it has to see.
		n = &yaml.Node{Kind: v.node.Kind, Tag: map[yaml.Kind]string{yaml.ScalarNode: "!!str"}[v.node.Kind]}
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
		c := d.copy(item)
		switch {
		case c == nil:
		case v.of.Choices != nil && c.Kind == yaml.ScalarNode && slices.ContainsFunc(out.Content, func(o *yaml.Node) bool { return o.Value == c.Value }):
			d.problem(item, "is there already")
		default:
			out.Content = append(out.Content, c)
		}
	}
	if len(out.Content) == 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	return out
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
		if n := d.copyKey(child, join(v.Key, child.Field.Name), inFile[child], v.outer); n != nil {
			out.Content = append(out.Content, textNode(child.Field.Name), n)
		}
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
	var lines []line
	switch n := resolve(v); {
	case merges > maxMerges:
		d.fault(d.in(v, ""), "merges are nested too deeply")
	case !d.visit(v):
	case n.Kind == yaml.MappingNode:
		return d.linesOf(n, path, merges)
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			lines = append(lines, d.linesMerged(item, path, merges+1)...)
		}
	default:
		d.fault(d.in(v, ""), "only a mapping can be merged, this is %s", kindOf(n))
	}
	return lines
}
