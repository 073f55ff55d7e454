package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"
)

const (
	// maxVisits bounds how many keys and list items are looked at: without aliases a file of 1 MiB
	// stays far below, with them a small file could stand for a very large one.
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
	return d.visits < maxVisits && !d.stopped
}

// copy copies a value for the decoder, with its variables expanded and its merges followed. A value
// that is wrong in a way that the decoder does not mind is reported; the copy is then nil.
func (v *value) copy() *yaml.Node {
	switch n := v.node; {
	case isNull(n):
		v.otherKind()
	case v.of.isSingle(n):
		v.copied = v.copyList([]*yaml.Node{n})
	case v.of.Kind == "json" && (n.Kind == yaml.SequenceNode || v.layer != fromFile):
		v.copied = v.copyJSON()
	case v.of.Kind == "json":
		v.otherKind()
	case n.Kind != cmp.Or(nodeKinds[v.of.Kind], yaml.ScalarNode): // The decoder minds the kind, so that is all it has to see.
		v.copied = &yaml.Node{Kind: n.Kind, Tag: "!!str"}
	case n.Kind == yaml.SequenceNode:
		v.copied = v.copyList(n.Content)
	case n.Kind == yaml.MappingNode:
		v.copied = v.copyMapping()
	default:
		v.copied = v.copyScalar()
	}
	if v.copied != nil {
		v.copied.Line = v.number
	}
	return v.copied
}

// copyJSON copies a list of mappings as the text that it is in JSON, which it is already outside of
// the file.
func (v *value) copyJSON() *yaml.Node {
	text := v.node.Value
	if v.node.Kind == yaml.SequenceNode {
		var list []any
		err := v.node.Load(&list)
		written, unwritable := json.Marshal(list)
		if err != nil || unwritable != nil {
			v.reject("cannot be read as JSON: expects %s", v.of.wants())
			return nil
		}
		text = string(written)
	}
	text, ok := v.canonical(text)
	if !ok {
		return nil
	}
	return v.of.textNode(text)
}

// isSingle says whether a text, or a mapping, may stand for the list of itself alone.
func (k *Key) isSingle(n *yaml.Node) bool {
	return k.item != nil && k.Tag.Get("single") != "" && (n.ShortTag() == "!!str" && k.item.inner == nil || n.Kind == yaml.MappingNode && k.item.inner != nil)
}

// copyList copies the items of a list.
func (v *value) copyList(items []*yaml.Node) *yaml.Node {
	if !v.hasLength(len(items)) {
		return nil
	}
	out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i, n := range items {
		if !v.visit(n) {
			break
		}
		item := v.itemAt(i, n, len(items) == 1)
		if c := item.copy(); item.isNew(c, out.Content) {
			out.Content = append(out.Content, c)
		}
	}
	if len(out.Content) == 0 {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	return out
}

// hasLength says whether a list may have so many items, and reports it otherwise.
func (v *value) hasLength(n int) bool {
	switch {
	case n == 0 && v.of.Tag.Get("single") != "":
		v.reject("the list is empty: take the line out, or name %s", v.of.Tag.Get("single"))
	case n > maxRooms && v.of.item == roomKey:
		v.reject("there are %d rooms: at most %d", n, maxRooms)
	default:
		return true
	}
	return false
}

// itemAt is an item of a list. It has the position of the list where it has no line of its own, as
// in a variable, and where it stands for the list of itself alone.
func (v *value) itemAt(i int, n *yaml.Node, alone bool) *value {
	item := v.note(&value{Position: v.Position, of: v.of.item, node: resolve(n), layer: v.layer, list: v, overridable: alone && v.of.item == roomKey})
	if n != v.node && n.Line > 0 {
		item.Key, item.Line, item.Col = fmt.Sprintf("%s[%d]", v.Key, i), n.Line, n.Column
	}
	if item.node.Kind == yaml.MappingNode {
		item.Key = fmt.Sprintf("%s[%d]", v.Key, i)
		v.given[item.Key] = item
		v.items = append(v.items, item)
	}
	return item
}

// isNew says whether an item was copied that its list does not have yet, and reports a choice that
// it has.
func (v *value) isNew(c *yaml.Node, others []*yaml.Node) bool {
	same := func(o *yaml.Node) bool { return o.Value != "" && o.Value == c.Value }
	if c == nil || v.of.Choices == nil || !slices.ContainsFunc(others, same) {
		return c != nil
	}
	v.problem("is there already")
	return false
}

// copyMapping copies a mapping, each key once, and adds what it does not have.
func (v *value) copyMapping() *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	inFile := v.known(out)
	if rooms := topKey.child("rooms"); v.of == topKey && inFile[rooms] == nil && v.describesRoom() {
		inFile[rooms] = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	for _, child := range v.of.inner {
		for _, n := range v.copyKey(child, inFile[child]) {
			out.Content = append(out.Content, textNode(child.Field.Name), n)
		}
	}
	return out
}

// known returns what a mapping has for keys that are known. The others it copies for the decoder to
// tell of, without their values, which may be anything.
func (v *value) known(out *yaml.Node) map[*Key]*yaml.Node {
	known := map[*Key]*yaml.Node{}
	lines := v.linesOf(v.node, 0)
	for i := 0; i < len(lines); i += 2 {
		name := resolve(lines[i]).Value
		child := v.of.child(name)
		if child != nil && child.File {
			known[child] = lines[i+1]
			continue
		}
		unknown := v.note(&value{Position: v.in(lines[i], v.pathOf(shownName(name))), of: v.of, node: resolve(lines[i]), isKey: true})
		if child != nil { // the struct has it, for those who may set it
			unknown.unknown()
		} else {
			out.Content = append(out.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: unknown.number}, &yaml.Node{})
		}
	}
	return known
}

// copyKey returns what the decoder is to read for a key of a mapping: the default, and whatever is
// given, the strongest last. The decoder minds them all, and takes the last.
func (v *value) copyKey(k *Key, inFile *yaml.Node) (copies []*yaml.Node) {
	switch {
	case k.inner != nil && !isMapping(inFile):
		empty := &value{loader: v.loader, Position: Position{Key: v.pathOf(k.Field.Name)}, of: k, node: &yaml.Node{}, overridable: v.overridable}
		copies = append(copies, empty.copyMapping())
	case k.Default != "":
		copies = append(copies, k.textNode(k.Default))
	}
	for _, given := range v.layers(k, inFile) {
		v.given[given.Key] = given
		if n := given.copy(); n != nil {
			copies = append(copies, n)
		}
	}
	return copies
}

// linesOf are the keys of a mapping, each followed by its value, those that `<<` merges into it
// included where it has no such key itself. Duplicate keys, and keys that are no plain strings, are
// reported.
func (v *value) linesOf(n *yaml.Node, merges int) []*yaml.Node {
	var own, merged []*yaml.Node
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content) && v.visit(n.Content[i]); i += 2 {
		key, k := n.Content[i], resolve(n.Content[i])
		switch {
		case k.ShortTag() == "!!merge":
			merged = append(merged, v.linesMerged(n.Content[i+1], merges+1)...)
		case k.Kind != yaml.ScalarNode:
			v.fault(v.in(key, ""), "a key has to be a plain name, this one is %s", kindOf(k))
		case first[k.Value] != nil:
			v.fault(v.in(key, v.pathOf(shownName(k.Value))), "the key is given twice: first on line %d", first[k.Value].Line)
		default:
			first[k.Value] = key
			own = append(own, n.Content[i:i+2]...)
		}
	}
	for i := 0; i < len(merged); i += 2 {
		if k := resolve(merged[i]); first[k.Value] == nil {
			first[k.Value] = merged[i]
			own = append(own, merged[i:i+2]...)
		}
	}
	return own
}

// linesMerged are the keys and values of a mapping, or of each mapping of a list, that are merged
// into another.
func (v *value) linesMerged(from *yaml.Node, merges int) []*yaml.Node {
	sources := []*yaml.Node{from}
	if n := resolve(from); n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	var lines []*yaml.Node
	for _, source := range sources {
		switch n := resolve(source); {
		case n.Kind != yaml.MappingNode:
			v.fault(v.in(source, ""), "only a mapping can be merged, this is %s", kindOf(n))
		case merges > maxMerges:
			v.fault(v.in(source, ""), "merges are nested too deeply")
		case v.visit(source):
			lines = append(lines, v.linesOf(n, merges)...)
		}
	}
	return lines
}
