package docs

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
)

// Style is how text is shown.
type Style struct {
	Width int  // of a line, in characters
	Bold  bool // headings and what is strong are bold
}

// Print writes a page as text.
func (p Page) Print(w io.Writer, s Style) error {
	t := printer{Style: s, source: p.Markdown}
	t.blocks(parse(p.Markdown), "")
	_, err := io.WriteString(w, strings.TrimSpace(t.out.String())+"\n")
	return err
}

// printer writes a page block by block.
type printer struct {
	Style
	source []byte
	out    strings.Builder
}

// blocks writes what is in a node, indented.
func (t *printer) blocks(in ast.Node, indent string) {
	for n := in.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			t.out.WriteString("\n" + indent + t.bold(t.inline(n)) + "\n\n")
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for line := range strings.Lines(string(n.Lines().Value(t.source))) {
				t.out.WriteString(indent + "    " + line)
			}
			t.out.WriteString("\n")
		case *ast.List:
			t.list(n, indent)
		case *extension.Table:
			t.table(n, indent)
		case *ast.Blockquote:
			t.blocks(n, indent+"  ")
		default:
			t.wrap(t.inline(n), indent, indent)
			if _, tight := n.(*ast.TextBlock); !tight {
				t.out.WriteString("\n")
			}
		}
	}
}

func (t *printer) list(list *ast.List, indent string) {
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "- "
		if list.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		first := item.FirstChild()
		t.wrap(t.inline(first), indent+mark, indent+strings.Repeat(" ", len(mark)))
		item.RemoveChild(item, first)
		t.blocks(item, indent+strings.Repeat(" ", len(mark)))
	}
	t.out.WriteString("\n")
}

// column is how wide the first column of a table is at most.
const column = 30

// table writes a row as its first cell and, beside or below that, the others.
func (t *printer) table(table *extension.Table, indent string) {
	var head []string
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, t.inline(cell))
		}
		if _, ok := row.(*extension.TableHeader); ok {
			head = cells
			continue
		}
		margin := indent + strings.Repeat(" ", column)
		begin := indent + cells[0]
		if width := utf8.RuneCountInString(unstyled(begin)); width < column-1 {
			begin += strings.Repeat(" ", column-width)
		} else {
			t.wrap(cells[0], indent, indent)
			begin = margin
		}
		for i, cell := range cells[1:] {
			if cell == "" {
				continue
			}
			if len(cells) > 2 && i+1 < len(head) && head[i+1] != "" {
				cell = head[i+1] + ": " + cell
			}
			t.wrap(cell, begin, margin)
			begin = margin
		}
		if begin != margin {
			t.out.WriteString(strings.TrimRight(begin, " ") + "\n")
		}
	}
	t.out.WriteString("\n")
}

// wrap writes text in lines; first begins the first of them and next the others.
func (t *printer) wrap(text, first, next string) {
	line := first
	width, empty := utf8.RuneCountInString(unstyled(first)), true
	for _, word := range strings.Fields(text) {
		long := utf8.RuneCountInString(unstyled(word))
		if !empty && width+1+long > t.Width {
			t.out.WriteString(line + "\n")
			line, width, empty = next, utf8.RuneCountInString(next), true
		}
		if !empty {
			line, width = line+" ", width+1
		}
		line, width, empty = line+word, width+long, false
	}
	t.out.WriteString(line + "\n")
}

// inline is what a block says; a link to another page names it.
func (t *printer) inline(block ast.Node) string {
	var said strings.Builder
	for n := block.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			said.Write(n.Segment.Value(t.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				said.WriteByte(' ')
			}
		case *ast.CodeSpan:
			said.WriteString("`" + t.inline(n) + "`")
		case *ast.Emphasis:
			said.WriteString(t.bold(t.inline(n)))
		case *ast.AutoLink:
			said.Write(n.URL(t.source))
		case *ast.Link:
			said.WriteString(t.inline(n) + reference(string(n.Destination)))
		}
	}
	return said.String()
}

// reference says where a link leads.
func reference(destination string) string {
	page, found := strings.CutPrefix(destination, PagePath)
	if !found {
		return " <" + destination + ">"
	}
	page, _, _ = strings.Cut(page, "#")
	return " [" + page + "]"
}

const (
	boldOn  = "\x1b[1m"
	boldOff = "\x1b[0m"
)

func (t *printer) bold(text string) string {
	if !t.Bold {
		return text
	}
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = boldOn + w + boldOff
	}
	return strings.Join(words, " ")
}

func unstyled(text string) string {
	return strings.NewReplacer(boldOn, "", boldOff, "").Replace(text)
}
