// Package docs has the pages of documentation, each of which answers one question, and finds,
// prints and serves them.
//
//	*.md          the pages; index.md lists them
//	keywords.txt  words by which they are found, beside their own
//	docs.go       the pages, read
//	search.go     which of them answers a question
//	terminal.go   a page as text
//	handler.go    the pages in a browser
//	page.html     what is around a page there
package docs

import (
	"bytes"
	"embed"
	"path"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

//go:embed *.md
var files embed.FS

//go:embed keywords.txt
var keywords string

// Index is the name of the page that lists the others.
const Index = "index"

// Options is the name of the page that is the complete configuration file.
const Options = "options"

// Page is a page of documentation.
type Page struct {
	Name     string // of its file, without .md
	Title    string // the question that it answers
	Markdown []byte
	parts    []part
}

// part is a page from one heading to the next.
type part struct {
	heading, anchor string // "" before the first heading below the title
	text            string // without marks
}

// repository is where files are that the program does not have.
const repository = "https://github.com/fairdoor-gate/fairdoor/blob/main/"

// optionsFile is the complete configuration file, as pages link to it.
const optionsFile = "../config/fairdoor.yaml"

// markdown reads and renders pages.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(linker{}, 100))))

// Pages returns all pages, the one that lists the others first.
var Pages = sync.OnceValue(func() []Page {
	names, _ := files.ReadDir(".") // it is embedded
	pages := []Page{read(Index), {Name: Options, Title: "Which options are there?", Markdown: []byte("# Which options are there?\n\n" +
		"This is the complete configuration file. `fairdoor validate` checks yours.\n\n```yaml\n" + config.Example() + "```\n")}}
	for _, file := range names {
		if name := strings.TrimSuffix(file.Name(), ".md"); name != Index {
			pages = append(pages, read(name))
		}
	}
	return pages
})

// Named returns the page of a name.
func Named(name string) (Page, bool) {
	for _, p := range Pages() {
		if p.Name == name {
			return p, true
		}
	}
	return Page{}, false
}

func read(name string) Page {
	source, _ := files.ReadFile(name + ".md") // it is embedded
	p := Page{Name: name, Markdown: source}
	current := part{}
	for node := parse(p.Markdown).FirstChild(); node != nil; node = node.NextSibling() {
		heading, ok := node.(*ast.Heading)
		switch {
		case ok && heading.Level == 1:
			p.Title = plain(node, p.Markdown)
		case ok:
			p.parts = append(p.parts, current)
			id, _ := heading.AttributeString("id")
			anchor, _ := id.([]byte)
			current = part{heading: plain(node, p.Markdown), anchor: string(anchor)}
		default:
			current.text += plain(node, p.Markdown) + "\n"
		}
	}
	p.parts = append(p.parts, current)
	return p
}

func parse(source []byte) ast.Node { return markdown.Parser().Parse(text.NewReader(source)) }

// plain is what a part of a page says, without marks.
func plain(node ast.Node, source []byte) string {
	var said bytes.Buffer
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				said.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					said.WriteByte(' ')
				}
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			if entering {
				said.Write(n.Lines().Value(source))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				said.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(said.String())
}

// linker has links lead to where they lead from the program: to other pages, or to files of the
// repository.
type linker struct{}

// Transform implements parser.ASTTransformer.
func (linker) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			link.Destination = []byte(leads(string(link.Destination)))
		}
		return ast.WalkContinue, nil
	})
}

// PagePath begins the paths of pages in a browser.
const PagePath = "/docs/"

func leads(destination string) string {
	file, anchor, _ := strings.Cut(destination, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	switch {
	case strings.Contains(destination, "://") || file == "":
		return destination
	case file == optionsFile:
		return PagePath + Options
	case !strings.Contains(file, "/") && strings.HasSuffix(file, ".md"):
		return PagePath + strings.TrimSuffix(file, ".md") + anchor
	}
	return repository + path.Join("cmd/fairdoor/docs", file) + anchor
}
