package config

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// maxFile is the largest configuration file that is read, in bytes.
const maxFile = 1 << 20

// parse turns the file into its one mapping. Whatever keeps that from happening is reported, and gives nil.
func (d *loader) parse(src []byte) *yaml.Node {
	start := Place{Source: d.file, Line: 1, Col: 1}
	d.lines = bytes.Count(src, []byte("\n")) + 1
	if len(src) > maxFile {
		d.fault(start, "the file is larger than 1 MiB")
		return nil
	}
	if at, problem := unreadable(src); problem != "" {
		d.fault(Place{Source: d.file, Line: at.Line, Col: at.Col}, "%s", problem)
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(src))
	if err != nil {
		d.fault(start, "cannot be read as YAML: %v", err)
		return nil
	}
	var doc yaml.Node
	if err := loader.Load(&doc); errors.Is(err, io.EOF) {
		d.fault(start, "the file is empty: it needs at least an origin and a room")
		return nil
	} else if err != nil {
		d.syntaxFault(err)
		return nil
	}
	if !d.singleDocument(loader) {
		return nil
	}
	return d.topMapping(&doc)
}

// singleDocument says whether the loader is at its end. What follows a first document would be ignored, so it is refused.
func (d *loader) singleDocument(loader *yaml.Loader) bool {
	var second yaml.Node
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
		return true
	case err != nil:
		d.syntaxFault(err)
	default:
		d.fault(Place{Source: d.file, Line: second.Line, Col: second.Column},
			"a second YAML document begins here: the configuration is one document")
	}
	return false
}

func (d *loader) topMapping(doc *yaml.Node) *yaml.Node {
	if len(doc.Content) == 0 || isNull(doc.Content[0]) {
		d.fault(Place{Source: d.file, Line: 1, Col: 1}, "the file is empty: it needs at least an origin and a room")
		return nil
	}
	top := resolve(doc.Content[0])
	if top.Kind != yaml.MappingNode {
		d.fault(d.in(top, ""), "the file is %s: it has to be a mapping, with lines such as `listen: \":8080\"`", kindOf(top))
		return nil
	}
	return top
}

// syntaxFault places an error of the YAML parser. An anchor's name is not repeated: it may be a secret that lacks its quotes.
func (d *loader) syntaxFault(err error) {
	p, message := Place{Source: d.file, Line: 1, Col: 1}, "cannot be parsed"
	var load *yaml.LoadError
	if errors.As(err, &load) {
		message = load.Message
		if load.Mark.Line > 0 {
			p.Line, p.Col = load.Mark.Line, load.Mark.Column
		}
		if c := load.ContextMark; c.Line > 0 && neverClosed(message) {
			// Where it was opened is where the mistake is, not where it came to light.
			p.Line, p.Col = c.Line, c.Column
			message = "what begins here is never closed: " + message
		}
	}
	if strings.HasPrefix(message, "unknown anchor") {
		message = "an alias without its anchor; a value that begins with an asterisk needs quotes"
	}
	if d.tabAt(p) {
		message = "a tab is used to indent: YAML wants spaces"
	}
	d.fault(p, "not valid YAML: %s", message)
}

// neverClosed says whether a message of the parser is about a quote or a bracket that was opened.
func neverClosed(message string) bool {
	return strings.Contains(message, "end of stream") || strings.Contains(message, "expected ',' or")
}

// tabAt says whether the line of a place is indented with a tab.
func (d *loader) tabAt(p Place) bool {
	rows := bytes.Split(d.src, []byte("\n"))
	if p.Line > len(rows) {
		return false
	}
	row := rows[p.Line-1]
	indent := row[:len(row)-len(bytes.TrimLeft(row, " \t"))]
	return bytes.ContainsRune(indent, '\t')
}

// unreadable finds the first byte that is no UTF-8 text.
func unreadable(src []byte) (at Place, problem string) {
	line, col := 1, 1
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return Place{Line: line, Col: col}, "the file is not UTF-8 text"
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f:
			return Place{Line: line, Col: col}, "control characters are not allowed"
		case r == '\n':
			line, col = line+1, 0
		}
		i, col = i+size, col+1
	}
	return Place{}, ""
}

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
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
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!timestamp":
		return "a date"
	case "!!null":
		return "nothing"
	case "!!str":
		return "a string"
	default:
		return "a value with a tag of its own"
	}
}
