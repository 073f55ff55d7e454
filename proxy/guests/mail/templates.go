package mail

import (
	_ "embed" // the layouts
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cbroglie/mustache"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates"
	"github.com/fairdoor-gate/fairdoor/templates/spelling"
)

// The layouts are the built-in templates of every kind.
var (
	//go:embed layout/mail.txt
	textLayout string
	//go:embed layout/mail.html
	htmlLayout string
)

// kinds are the kinds of mails.
var kinds = []waitlist.MailKind{waitlist.MailConfirm, waitlist.MailPlace, waitlist.MailInvite}

// part is a part of a mail that has a template.
type part string

// The parts. A file of text has the subject in its first line.
const (
	subjectPart part = "subject"
	textPart    part = "txt"
	htmlPart    part = "html"
)

// subjectField begins a file of text.
const subjectField = "Subject:"

// use says which mails a template is for. Without a language it is for all that have none of their
// own.
type use struct {
	kind     waitlist.MailKind
	language string
	part     part
}

// template is a compiled template, and the file that it comes from.
type template struct {
	*mustache.Template
	file string
}

// Variables lists the names that the templates of a kind of mail can use, in alphabetical order:
//
//   - title, text, button, more, openLink: the built-in words, in the language of the mail;
//   - link: where the mail leads. Every template has to show it;
//   - leave, leaveLink: the built-in words for leaving the list, and the address where its reader can;
//   - until: the time until which the link works, as 2026-11-24 10:00 UTC. A link to the place has none;
//   - siteName, logo, accent, accentText, helpUrl: of the site, as on the pages; siteName and accent are never empty;
//   - home: the address of the site;
//   - email: the address that the mail goes to;
//   - list: the name of the waitlist;
//   - language, dir: of the mail, such as de-DE, and ltr or rtl.
func Variables(kind waitlist.MailKind) []string {
	names := []string{
		"accent", "accentText", "button", "dir", "email", "helpUrl", "home", "language", "leave", "leaveLink", "link", "list", "logo", "more", "openLink",
		"siteName", "text", "title",
	}
	if kind != waitlist.MailPlace {
		names = append(names, "until")
	}
	return names
}

// loader compiles templates and gathers what is wrong with them.
type loader struct {
	found  map[use]template
	faults []error
}

func (l *loader) fault(file string, format string, args ...any) {
	l.faults = append(l.faults, fmt.Errorf("%s: %s", file, fmt.Sprintf(format, args...)))
}

// builtIn compiles the layouts.
func (l *loader) builtIn() {
	for _, kind := range kinds {
		l.add(use{kind, "", textPart}, "layout/mail.txt", textLayout)
		l.add(use{kind, "", htmlPart}, "layout/mail.html", htmlLayout)
	}
}

// directory compiles the templates of an operator. Files that have other endings than templates are
// left alone.
func (l *loader) directory(files fs.FS) error {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return fmt.Errorf("listing the templates of mails: %w", err)
	}
	for _, e := range entries {
		if ending := path.Ext(e.Name()); e.IsDir() || ending != ".txt" && ending != ".html" {
			continue
		}
		u, ok := l.use(e.Name())
		if !ok {
			continue
		}
		source, err := fs.ReadFile(files, e.Name())
		if err != nil {
			return fmt.Errorf("reading a template of mails: %w", err)
		}
		l.add(u, e.Name(), string(source))
	}
	return nil
}

// use reads what a file is for from its name, such as confirm.txt or confirm.de-DE.html.
func (l *loader) use(file string) (u use, ok bool) {
	ending := path.Ext(file)
	name, language, has := strings.Cut(strings.TrimSuffix(file, ending), ".")
	if !slices.Contains(kinds, waitlist.MailKind(name)) {
		l.fault(file, "there is no mail %q%s", name, suggestion(name))
		return use{}, false
	}
	if has {
		if err := known(language); err != nil {
			l.fault(file, "%v", err)
			return use{}, false
		}
	}
	return use{waitlist.MailKind(name), language, part(ending[1:])}, true
}

// suggestion continues the fault of a name that is no kind's.
func suggestion(name string) string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = string(kind)
	}
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; there are " + strings.Join(names, ", ")
}

// known says what is wrong with the code of a language, nil for nothing.
func known(language string) error {
	if language == "" {
		return errors.New("the language is missing")
	}
	_, err := templates.NewLanguages(language)
	return err
}

// add compiles a file. Of text it compiles the subject and the rest by themselves. Both keep their
// positions in the file.
func (l *loader) add(u use, file, source string) {
	source = strings.ReplaceAll(strings.TrimPrefix(source, "\ufeff"), "\r\n", "\n")
	if u.part == htmlPart {
		l.compile(u, file, source)
		return
	}
	first, rest, _ := strings.Cut(source, "\n")
	subject, ok := strings.CutPrefix(first, subjectField)
	if !ok || strings.TrimSpace(subject) == "" {
		l.fault(file+":1", "the first line has to be the subject, as in %q", subjectField+" {{siteName}}: {{title}}")
		return
	}
	l.compile(u, file, "\n"+rest)
	u.part = subjectPart
	l.compile(u, file, strings.Repeat(" ", len(subjectField))+subject)
}

func (l *loader) compile(u use, file, source string) {
	compiled, err := templates.ParseMustache([]byte(source), Variables(u.kind), u.part == htmlPart)
	var faults templates.Faults
	if errors.As(err, &faults) {
		for _, f := range faults {
			separator := ":"
			if f.Line == 0 {
				separator = ": "
			}
			l.faults = append(l.faults, errors.New(file+separator+f.String()))
		}
		return
	}
	l.found[u] = template{compiled, file}
}
