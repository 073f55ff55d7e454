package config

import (
	"bytes"
	"cmp"
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// maxFile is the largest configuration file that is read, in bytes.
const maxFile = 1 << 20

// parse turns the file into its one mapping. Where something keeps that from happening, it says
// what and where.
func parse(src []byte) (n *yaml.Node, at yaml.Mark, problem string) {
	start := yaml.Mark{Line: 1, Column: 1}
	if len(src) > maxFile {
		return nil, start, "the file is larger than 1 MiB"
	}
	if bad, problem := unreadable(src); problem != "" {
		before := src[:bad]
		row := before[bytes.LastIndexByte(before, '\n')+1:]
		return nil, yaml.Mark{Line: bytes.Count(before, []byte("\n")) + 1, Column: utf8.RuneCount(row) + 1}, problem
	}
	var docs []yaml.Node
	if err := yaml.Load(src, &docs, yaml.WithAllDocuments()); err != nil {
		at, problem = syntaxProblem(src, err)
		return nil, at, problem
	}
	switch {
	case len(docs) > 1:
		return nil, markOf(&docs[1]), "a second YAML document begins here: the configuration is one document"
	case len(docs) == 0 || isNull(resolve(&docs[0])):
		return nil, start, "the file is empty: it needs at least an origin and a room"
	}
	if n = resolve(&docs[0]); n.Kind != yaml.MappingNode {
		return nil, markOf(n), "the file is " + kindOf(n) + ": it has to be a mapping, with lines such as `listen: \":8080\"`"
	}
	return n, markOf(n), ""
}

func markOf(n *yaml.Node) yaml.Mark { return yaml.Mark{Line: n.Line, Column: n.Column} }

// syntaxProblem says where an error of the YAML parser is, and what it is. An anchor's name is not
// repeated: it may be a secret that lacks its quotes.
func syntaxProblem(src []byte, err error) (at yaml.Mark, problem string) {
	load := &yaml.LoadError{Message: "cannot be parsed"}
	errors.As(err, &load)
	at, problem = load.Mark, load.Message
	if load.ContextMark.Line > 0 && (strings.Contains(problem, "end of stream") || strings.Contains(problem, "expected ',' or")) {
		// Where a quote or a bracket was opened is where the mistake is, not where it came to
		// light.
		at, problem = load.ContextMark, "what begins here is never closed: "+problem
	}
	if strings.HasPrefix(problem, "unknown anchor") {
		problem = "an alias without its anchor; a value that begins with an asterisk needs quotes"
	}
	rows := bytes.Split(src, []byte("\n"))
	at.Line, at.Column = max(1, min(at.Line, len(rows))), max(1, at.Column) // parsers like to point behind the end
	row := rows[at.Line-1]
	if bytes.ContainsRune(row[:len(row)-len(bytes.TrimLeft(row, " \t"))], '\t') {
		problem = "a tab is used to indent: YAML wants spaces"
	}
	return at, "not valid YAML: " + problem
}

// unreadable finds the first byte that is no UTF-8 text.
func unreadable(src []byte) (at int, problem string) {
	for size := 0; at < len(src); at += size {
		var r rune
		switch r, size = utf8.DecodeRune(src[at:]); {
		case r == utf8.RuneError && size == 1:
			return at, "the file is not UTF-8 text"
		case r < ' ' && !strings.ContainsRune("\t\n\r", r), r == 0x7f:
			return at, "control characters are not allowed"
		}
	}
	return at, ""
}

// resolve follows an alias to what it stands for, and a document to what is in it.
func resolve(n *yaml.Node) *yaml.Node {
	switch {
	case n.Kind == yaml.AliasNode && n.Alias != nil:
		return n.Alias
	case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
		return n.Content[0]
	}
	return n
}

func isMapping(n *yaml.Node) bool { return n != nil && resolve(n).Kind == yaml.MappingNode }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// kindOf names what a node is, for messages.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
	}
	return cmp.Or(map[string]string{
		"!!int": "a number", "!!float": "a number", "!!bool": "true or false", "!!timestamp": "a date", "!!null": "nothing", "!!str": "a string",
	}[n.ShortTag()], "a value with a tag of its own")
}
