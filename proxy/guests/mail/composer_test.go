package mail_test

import (
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates"
)

var kinds = []waitlist.MailKind{waitlist.MailConfirm, waitlist.MailPlace, waitlist.MailInvite}

// sample is a mail to Ada.
func sample(kind waitlist.MailKind, language string) waitlist.Mail {
	return waitlist.Mail{
		ID: 7, Kind: kind, Number: 1, To: "ada@example.com", Language: language, Token: "t-o_k", At: start, ExpiresAt: start.Add(36*time.Hour + 59*time.Second),
	}
}

// spoken are the directions, the words that change, and all else that isolates, which readers do
// not see.
var spoken = strings.NewReplacer("\u2068", "", "\u2069", "")

func TestEveryMailSaysInEveryLanguageWhatItIsForAndLeadsThere(t *testing.T) {
	c := composer(t)
	links := map[waitlist.MailKind]string{
		waitlist.MailConfirm: page + "/confirm?token=t-o_k", waitlist.MailPlace: page + "?secret=t-o_k", waitlist.MailInvite: page + "/invite?token=t-o_k",
	}
	for _, kind := range kinds {
		for _, code := range codes() {
			m, err := c.Compose(sample(kind, code))
			require.NoError(t, err)
			assert.Equal(t, code, m.Language)
			assert.Equal(t, "ada@example.com", m.To)
			assert.Equal(t, start, m.At)
			assert.Regexp(t, `^Acme & Söhne: [^{}\n]+$`, m.Subject)
			assert.Contains(t, m.Text, "\n"+links[kind]+"\n")
			assert.NotContains(t, m.Text+m.HTML, "{")
			hrefs, read := readHTML(t, m.HTML, code)
			out := page + "/leave?token=t-o_k"
			assert.Equal(t, []string{links[kind], links[kind], out}, hrefs, "the button, below it the link in text, and the way out")
			assert.Contains(t, m.Text, "\n"+out+"\n")
			for _, said := range []string{m.Text, read} {
				assert.Contains(t, spoken.Replace(said), "Acme & Söhne", code)
				assert.Equal(t, kind != waitlist.MailPlace, strings.Contains(said, "2026-11-23 22:00 UTC"), "%s %s", code, kind)
			}
		}
	}
}

// readHTML checks the head and returns where the links lead, and the text.
func readHTML(t *testing.T, source, code string) (hrefs []string, text string) {
	t.Helper()
	document, err := html.Parse(strings.NewReader(source))
	require.NoError(t, err)
	for n := range document.Descendants() {
		if n.Type == html.TextNode {
			text += n.Data
		}
		for _, a := range n.Attr {
			switch {
			case n.Data == "a" && a.Key == "href":
				hrefs = append(hrefs, a.Val)
			case n.Data == "html" && a.Key == "lang":
				assert.Equal(t, code, a.Val)
			case n.Data == "html" && a.Key == "dir":
				rtl := strings.HasPrefix(code, "ar") || strings.HasPrefix(code, "fa") || strings.HasPrefix(code, "he")
				assert.Equal(t, rtl, a.Val == "rtl", code)
			}
		}
		assert.NotContains(t, []string{"table", "script", "style", "link"}, n.Data)
	}
	return hrefs, text
}

func TestALanguageThatThereIsNotIsTheDefault(t *testing.T) {
	c := composer(t, func(o *mail.Options) { o.DefaultLanguage = "fr-FR" })
	for language, want := range map[string]string{"": "fr-FR", "tlh": "fr-FR", "de-CH": "de-DE"} {
		m, err := c.Compose(sample(waitlist.MailInvite, language))
		require.NoError(t, err)
		assert.Equal(t, want, m.Language)
	}
	_, err := mail.NewComposer(options(func(o *mail.Options) { o.DefaultLanguage = "klingon" }))
	assert.ErrorContains(t, err, "klingon")
}

func TestTheMailIsOfTheSite(t *testing.T) {
	read := func(change func(*mail.Options)) mail.Message {
		m, err := composer(t, change).Compose(sample(waitlist.MailPlace, "en-US"))
		require.NoError(t, err)
		return m
	}
	of := func(identity templates.Identity, home string) func(*mail.Options) {
		return func(o *mail.Options) { o.Identity, o.Home = identity, home }
	}
	named := read(of(templates.Identity{SiteName: "<Acme>", Accent: "#ffe000", Logo: "/.fairdoor/logo/x.png"}, home))
	assert.Contains(t, named.HTML, `src="`+home+`/.fairdoor/logo/x.png"`)
	assert.Contains(t, named.HTML, `alt="&lt;Acme&gt;"`)
	assert.Contains(t, named.HTML, "background-color:#ffe000;color:#000")
	assert.Contains(t, named.Text, "the waitlist of <Acme>.")
	assert.Equal(t, page+"/leave?token=t-o_k", named.Leave)
	bare := read(of(templates.Identity{Logo: "/.fairdoor/logo/x.png"}, "app:shop"))
	assert.NotContains(t, bare.HTML, "<img")
	assert.Equal(t, "beta: You are on the list", bare.Subject)
	assert.Equal(t, "shop.example.com: You are on the list", read(of(templates.Identity{}, home)).Subject)
}

func TestATokenIsOneInTheLink(t *testing.T) {
	m := sample(waitlist.MailConfirm, "")
	m.Token = "a&b=c d"
	got, err := composer(t).Compose(m)
	require.NoError(t, err)
	link := linkInText.FindString(got.Text)
	u, err := url.Parse(link)
	require.NoError(t, err)
	assert.Equal(t, url.Values{"token": {m.Token}}, u.Query())
}

func TestAMailOfAnUnknownKindIsRefused(t *testing.T) {
	_, err := composer(t).Compose(sample("reminder", ""))
	assert.ErrorContains(t, err, `"reminder"`)
}

// operators has the templates of an operator: names and texts, one after the other.
func operators(files ...string) func(*mail.Options) {
	return func(o *mail.Options) {
		given := fstest.MapFS{}
		for i := 0; i < len(files); i += 2 {
			given[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
		}
		o.Templates = given
	}
}

func TestAnOperatorReplacesSomeTemplates(t *testing.T) {
	c := composer(t, operators(
		"confirm.txt", "\ufeffSubject: {{list}}\r\nHi {{email}} & all\r\n{{link}} until {{until}}\r\n",
		"confirm.html", `<p>{{email}}<a href="{{link}}">{{button}}</a>`,
		"confirm.de-DE.txt", "Subject: {{#helpUrl}}no{{/helpUrl}}{{^helpUrl}}Hallo {{siteName}}{{/helpUrl}}\n{{link}}",
		"invite.html", `<h1 dir="{{dir}}" style="color:{{accent}}">{{title}}</h1>{{link}}`,
		"notes.md", "{{what}}", "sub/place.txt", "left alone",
	))
	compose := func(kind waitlist.MailKind, language string) mail.Message {
		m, err := c.Compose(sample(kind, language))
		require.NoError(t, err)
		return m
	}
	link := page + "/confirm?token=t-o_k"
	english, german := compose(waitlist.MailConfirm, "en-US"), compose(waitlist.MailConfirm, "de-DE")
	assert.Equal(t, "beta", english.Subject)
	assert.Equal(t, "Hi ada@example.com & all\n"+link+" until 2026-11-23 22:00 UTC\n", english.Text)
	assert.Equal(t, "Hallo Acme & Söhne", german.Subject)
	assert.Equal(t, link+"\n", german.Text)
	assert.Equal(t, `<p>ada@example.com<a href="`+link+`">Adresse bestätigen</a>`+"\n", german.HTML, "the words are in the guest's language")
	invite := compose(waitlist.MailInvite, "he-IL")
	assert.Contains(t, invite.HTML, `<h1 dir="rtl" style="color:#3d63dd">קיבלת הזמנה</h1>`)
	assert.Contains(t, invite.Subject, "Acme & Söhne: ", "what is missing is built in")
	assert.Contains(t, compose(waitlist.MailPlace, "").Text, "the waitlist of Acme & Söhne")
}

func TestWhatIsWrongWithTemplatesIsToldAtOnce(t *testing.T) {
	cases := map[string]struct{ file, source, want string }{
		"a misspelt variable": {"invite.html", "<p>\n  {{linc}} {{link}}", `invite.html:2:3: unknown variable "linc"; did you mean "link"?`},
		"an unknown variable": {"place.html", "{{link}}{{shoeSize}}", `place.html:1:9: unknown variable "shoeSize"; there are accent, accentText, button, dir, ` +
			`email, helpUrl, home, language, leave, leaveLink, link, list, logo, more, openLink, siteName, text, title`},
		"a place has no end":   {"place.txt", "Subject: x\n{{link}}\n{{until}}", `place.txt:3:1: unknown variable "until"`},
		"in the subject":       {"place.txt", "Subject: {{nobody}}\n{{link}}", `place.txt:1:10: unknown variable "nobody"`},
		"no subject":           {"place.txt", "Hello\n{{link}}", `place.txt:1: the first line has to be the subject, as in "Subject: {{siteName}}: {{title}}"`},
		"an empty subject":     {"place.txt", "Subject: {{helpUrl}}\n{{link}}", "place.txt: the subject is empty"},
		"no link":              {"confirm.html", "<p>{{title}}", "confirm.html: the mail is of no use without its link: write {{link}} where it is always shown"},
		"a link sometimes":     {"confirm.txt", "Subject: x\n{{#helpUrl}}{{link}}{{/helpUrl}}", "confirm.txt: the mail is of no use without its link"},
		"in one language":      {"confirm.ja-JP.html", "<p>{{title}}", "confirm.ja-JP.html: the mail is of no use"},
		"a part from a file":   {"confirm.html", "{{link}}{{>/etc/passwd}}", "confirm.html:1:9: partials such as {{>/etc/passwd}} are not supported"},
		"without escaping":     {"confirm.html", "{{link}}{{{siteName}}}", `confirm.html:1:9: "siteName" would be put in without escaping; write {{siteName}}`},
		"an open section":      {"confirm.txt", "Subject: x{{#logo}}\n{{link}}{{/logo}}", `confirm.txt:1:11: the section "logo" is never closed by {{/logo}}`},
		"nothing":              {"confirm.html", " \n", "confirm.html: the template is empty"},
		"no such mail":         {"confrim.txt", "Subject: x\n{{link}}", `confrim.txt: there is no mail "confrim"; did you mean "confirm"?`},
		"no such language":     {"confirm.de-CH.txt", "Subject: x\n{{link}}", `confirm.de-CH.txt: unknown language "de-CH"; did you mean "de-DE"?`},
		"half a name":          {"confirm..txt", "Subject: x\n{{link}}", "confirm..txt: the language is missing"},
		"no mail of that name": {"welcome.html", "{{link}}", `welcome.html: there is no mail "welcome"; there are confirm, place, invite`},
	}
	var files []string
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := mail.NewComposer(options(operators(c.file, c.source)))
			assert.ErrorContains(t, err, c.want)
		})
		if strings.HasPrefix(c.file, "place.html") || strings.HasPrefix(c.file, "conf") && strings.HasSuffix(c.file, "de-CH.txt") {
			files = append(files, c.file, c.source)
		}
	}
	_, err := mail.NewComposer(options(operators(files...)))
	assert.ErrorContains(t, err, "shoeSize")
	assert.ErrorContains(t, err, "de-CH", "all at once")
}
