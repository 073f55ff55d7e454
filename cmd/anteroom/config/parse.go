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

// parse turns the file into its one mapping. Whatever keeps that from happening is reported, and top is left as it is.
func (d *loader) parse(src []byte, top *value) {
	start := Place{Source: d.File, Line: 1, Col: 1}
	if len(src) > maxFile {
		d.fault(start, "the file is larger than 1 MiB")
		return
	}
	if at, problem := unreadable(src); problem != "" {
		before := src[:at]
		row := before[bytes.LastIndexByte(before, '\n')+1:]
		d.fault(Place{Source: d.File, Line: bytes.Count(before, []byte("\n")) + 1, Col: utf8.RuneCount(row) + 1}, "%s", problem)
		return
	}
	var docs []yaml.Node
	if err := yaml.Load(src, &docs, yaml.WithAllDocuments()); err != nil {
		d.syntaxFault(src, err)
		return
	}
	if len(docs) > 1 {
		d.fault(d.in(&docs[1], ""), "a second YAML document begins here: the configuration is one document")
		return
	}
	if len(docs) == 0 || isNull(resolve(&docs[0])) {
		d.fault(start, "the file is empty: it needs at least an origin and a room")
		return
	}
	n := resolve(&docs[0])
	if n.Kind != yaml.MappingNode {
		d.fault(d.in(n, ""), "the file is %s: it has to be a mapping, with lines such as `listen: \":8080\"`", kindOf(n))
		return
	}
	top.Place, top.node, top.layer = d.in(n, ""), n, fromFile
}

// syntaxFault places an error of the YAML parser. An anchor's name is not repeated: it may be a secret that lacks its quotes.
func (d *loader) syntaxFault(src []byte, err error) {
	load := &yaml.LoadError{Message: "cannot be parsed"}
	errors.As(err, &load)
	at, message := load.Mark, load.Message
	if load.ContextMark.Line > 0 && (strings.Contains(message, "end of stream") || strings.Contains(message, "expected ',' or")) {
		// Where a quote or a bracket was opened is where the mistake is, not where it came to light.
		at, message = load.ContextMark, "what begins here is never closed: "+message
	}
	if strings.HasPrefix(message, "unknown anchor") {
		message = "an alias without its anchor; a value that begins with an asterisk needs quotes"
	}
	rows := bytes.Split(src, []byte("\n"))
	at.Line = max(1, min(at.Line, len(rows))) // parsers like to point behind the end
	row := rows[at.Line-1]
	if bytes.ContainsRune(row[:len(row)-len(bytes.TrimLeft(row, " \t"))], '\t') {
		message = "a tab is used to indent: YAML wants spaces"
	}
	d.fault(Place{Source: d.File, Line: at.Line, Col: max(at.Column, 1)}, "not valid YAML: %s", message)
}

// unreadable finds the first byte that is no UTF-8 text.
func unreadable(src []byte) (at int, problem string) {
	for size := 0; at < len(src); at += size {
		var r rune
		switch r, size = utf8.DecodeRune(src[at:]); {
		case r == utf8.RuneError && size == 1:
			return at, "the file is not UTF-8 text"
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f:
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

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// kindOf names what a node is, for messages.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return cmp.Or(map[string]string{
		"!!int": "a number", "!!float": "a number", "!!bool": "true or false", "!!timestamp": "a date", "!!null": "nothing", "!!str": "a string",
	}[n.ShortTag()], "a value with a tag of its own")
}
