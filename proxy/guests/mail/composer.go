package mail

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// plainAccent is the colour of buttons of a site that has none. It can be told from light and from
// dark.
const plainAccent = "#3d63dd"

// Options says whose mails a Composer writes.
type Options struct {
	List string // the name of the waitlist
	Home string // the address of the site, such as https://shop.example.com
	Path string // the address of the list's page, with which links begin: Home, and /.fairdoor/waitlist/NAME

	Identity        templates.Identity
	DefaultLanguage string // of guests whose language there is not; "" means templates.DefaultLanguage

	// Templates are the operator's: files such as confirm.txt, place.html or invite.de-DE.txt. What
	// is missing is built in; nil is all built in.
	Templates fs.FS
}

// Composer writes the mails of a waitlist. It is safe for concurrent use.
type Composer struct {
	options   Options
	siteName  string
	logo      string // an absolute address
	languages *templates.Languages
	words     map[string]words // by language
	templates map[use]template
}

// Message is a mail as it is read.
type Message struct {
	ID       string // the local part of the Message-ID: waitlist.Mail.DedupeID
	To       string
	Language string // a code such as de-DE
	Subject  string
	Text     string
	HTML     string
	Leave    string // where its reader can leave the list, by a button or, as RFC 8058 has it, by a POST
	At       time.Time
}

// NewComposer compiles the templates and tries them in every language. The error has all that is
// wrong with them, one fault a line, each with its file, and with its line and column where it has
// one.
func NewComposer(o Options) (*Composer, error) {
	languages, err := templates.NewLanguages(o.DefaultLanguage)
	if err != nil {
		return nil, err
	}
	codes, err := templates.LanguageCodes()
	if err != nil {
		return nil, err
	}
	c := &Composer{options: o, languages: languages, words: make(map[string]words, len(codes))}
	for _, code := range codes {
		if c.words[code], err = readWords(code); err != nil {
			return nil, err
		}
	}
	if err := c.site(); err != nil {
		return nil, err
	}
	l := &loader{found: make(map[use]template)}
	l.builtIn()
	if o.Templates != nil {
		if err := l.directory(o.Templates); err != nil {
			return nil, err
		}
	}
	c.templates = l.found
	if len(l.faults) > 0 {
		return nil, errors.Join(l.faults...)
	}
	return c, c.try(codes)
}

// site finds the name of the site and the address of its logo.
func (c *Composer) site() error {
	home, err := url.Parse(c.options.Home)
	if err != nil {
		return fmt.Errorf("reading the address of the site: %w", err)
	}
	c.siteName = cmp.Or(c.options.Identity.SiteName, home.Host, c.options.List)
	if logo := c.options.Identity.Logo; logo != "" && (home.Scheme == "http" || home.Scheme == "https") {
		address, err := home.Parse(logo)
		if err != nil {
			return fmt.Errorf("reading the address of the logo: %w", err)
		}
		c.logo = address.String()
	}
	return nil
}

// try writes a mail of each kind in each language. A file has its faults once.
func (c *Composer) try(codes []string) error {
	var faults []error
	told := make(map[string]bool)
	fault := func(u use, problem string) {
		if file := c.template(u).file; problem != "" && !told[file] {
			told[file] = true
			faults = append(faults, fmt.Errorf("%s: %s", file, problem))
		}
	}
	for _, kind := range kinds {
		for _, code := range codes {
			sample := waitlist.Mail{Kind: kind, Language: code, To: "ada@example.com", Token: "sample"}
			for _, p := range []part{subjectPart, textPart, htmlPart} {
				u := use{kind, code, p}
				fault(u, c.problem(u, sample))
			}
		}
	}
	return errors.Join(faults...)
}

// problem says what is wrong with what a template makes of a mail, "" for nothing.
func (c *Composer) problem(u use, m waitlist.Mail) string {
	text, err := c.render(u, c.values(u.language, m))
	switch {
	case err != nil:
		return err.Error()
	case u.part == subjectPart && strings.TrimSpace(text) == "":
		return "the subject is empty"
	case u.part != subjectPart && !strings.Contains(text, c.link(m)):
		return "the mail is of no use without its link: write {{link}} where it is always shown"
	}
	return ""
}

// Compose writes a mail. It says that the link works until m.ExpiresAt.
func (c *Composer) Compose(m waitlist.Mail) (Message, error) {
	code := c.languages.Match(m.Language)
	values := c.values(code, m)
	message := Message{ID: m.DedupeID(), To: m.To, Language: code, Leave: c.leaveLink(m), At: m.At}
	for p, into := range map[part]*string{subjectPart: &message.Subject, textPart: &message.Text, htmlPart: &message.HTML} {
		text, err := c.render(use{m.Kind, code, p}, values)
		if err != nil {
			return Message{}, fmt.Errorf("writing a mail: %w", err)
		}
		*into = strings.TrimSpace(text) + "\n"
	}
	message.Subject = strings.Join(strings.Fields(message.Subject), " ")
	return message, nil
}

// template returns the template of a mail in a language.
func (c *Composer) template(u use) template {
	if own, ok := c.templates[u]; ok {
		return own
	}
	u.language = ""
	return c.templates[u]
}

func (c *Composer) render(u use, values map[string]any) (string, error) {
	t := c.template(u)
	if t.Template == nil {
		return "", fmt.Errorf("there is no mail %q", u.kind)
	}
	return t.Render(values)
}

// link is where a mail leads.
func (c *Composer) link(m waitlist.Mail) string {
	token := url.QueryEscape(m.Token)
	switch m.Kind {
	case waitlist.MailConfirm:
		return c.options.Path + "/confirm?token=" + token
	case waitlist.MailInvite:
		return c.options.Path + "/invite?token=" + token
	default:
		return c.options.Path + "?secret=" + token
	}
}

// leaveLink is where the reader of a mail can leave the list.
func (c *Composer) leaveLink(m waitlist.Mail) string {
	return c.options.Path + "/leave?token=" + url.QueryEscape(m.Token)
}

// values are the variables of a mail, in a language that there is.
func (c *Composer) values(code string, m waitlist.Mail) map[string]any {
	w, identity := c.words[code], c.options.Identity
	identity.Accent = cmp.Or(identity.Accent, plainAccent)
	said, until := w.of(m.Kind), m.ExpiresAt.UTC().Format("2006-01-02 15:04 UTC")
	fill := strings.NewReplacer("{siteName}", w.isolated(c.siteName), "{until}", w.isolated(until))
	return map[string]any{
		"title": said.Title, "text": fill.Replace(said.Text), "button": said.Button, "more": fill.Replace(said.More), "openLink": w.Address,
		"link": c.link(m), "leave": w.Leave, "leaveLink": c.leaveLink(m), "until": until, "email": m.To,
		"siteName": c.siteName, "home": c.options.Home, "list": c.options.List, "language": code, "dir": w.Dir,
		"logo": c.logo, "accent": identity.Accent, "accentText": identity.AccentText(), "helpUrl": identity.HelpURL,
	}
}

// isolated keeps the order of a name or a time in words that are written from right to left.
func (w words) isolated(s string) string {
	if w.Dir == "rtl" {
		return "\u2068" + s + "\u2069"
	}
	return s
}
