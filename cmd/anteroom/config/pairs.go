package config

import "go.yaml.in/yaml/v4"

// pair is one line of a mapping.
type pair struct{ key, val *yaml.Node }

// maxMerges bounds how deep merges may be nested: an alias can merge a mapping into itself.
const maxMerges = 16

// pairs are the lines of a mapping, those that `<<` merges into it included where it has no line of that name itself. Duplicate
// names, and names that are no plain strings, are reported.
func (d *loader) pairs(n *yaml.Node, path string) []pair {
	m := merger{loader: d, path: path, first: map[string]*yaml.Node{}}
	m.take(n, 0)
	return m.pairs
}

type merger struct {
	*loader
	path  string
	first map[string]*yaml.Node
	pairs []pair
}

// take adds the mapping's own lines, and then what it merges: what is there already wins.
func (m *merger) take(n *yaml.Node, depth int) {
	var merges []*yaml.Node
	own := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := resolve(n.Content[i]), n.Content[i+1]
		switch {
		case !m.visit(n.Content[i]):
			return
		case k.ShortTag() == "!!merge":
			merges = append(merges, v)
		case k.Kind != yaml.ScalarNode:
			m.fault(m.in(n.Content[i], ""), "a key has to be a plain name, this one is %s", kindOf(k))
		case own[k.Value] != nil:
			m.fault(m.in(n.Content[i], join(m.path, shownName(k.Value))), "the key is given twice: first on line %d", own[k.Value].Line)
		default:
			own[k.Value] = n.Content[i]
			if m.first[k.Value] == nil {
				m.first[k.Value] = n.Content[i]
				m.pairs = append(m.pairs, pair{key: &yaml.Node{
					Kind: yaml.ScalarNode, Value: k.Value, Line: n.Content[i].Line, Column: n.Content[i].Column,
				}, val: v})
			}
		}
	}
	for _, v := range merges {
		m.merge(v, depth+1)
	}
}

// merge adds the lines of a mapping, or of each mapping of a list.
func (m *merger) merge(v *yaml.Node, depth int) {
	switch n := resolve(v); {
	case depth > maxMerges:
		m.fault(m.in(v, ""), "merges are nested too deeply")
	case !m.visit(v):
	case n.Kind == yaml.MappingNode:
		m.take(n, depth)
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			m.merge(item, depth+1)
		}
	default:
		m.fault(m.in(v, ""), "only a mapping can be merged, this is %s", kindOf(n))
	}
}
