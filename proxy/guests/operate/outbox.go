package operate

import (
	"bufio"
	"bytes"
	_ "embed" // for the page
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// composer composes a mail as it would be sent.
type composer = func(waitlist.Mail) (mail.Message, error)

// messageJSON is a mail that is kept.
type messageJSON struct {
	ID      int64     `json:"id"`
	To      string    `json:"to"`
	Subject string    `json:"subject"`
	Text    string    `json:"text"`
	HTML    string    `json:"html"`
	At      time.Time `json:"at"`
}

func compose(with composer, m waitlist.Mail) (messageJSON, error) {
	as, err := with(m)
	if err != nil {
		err = fmt.Errorf("composing mail %d: %w", m.ID, err)
	}
	return messageJSON{m.ID, as.To, as.Subject, as.Text, as.HTML, as.At}, err
}

// getOutbox answers with the mails that are kept, the first first: all of them, unless a limit is
// given. In a browser it shows the latest ones as their readers would see them.
func (o *operators) getOutbox(w http.ResponseWriter, r *http.Request, l Waitlist) {
	with, kept := l.Mails()
	if !kept {
		reply.Problem(w, http.StatusNotFound, "The mails of this waitlist are sent: it has smtp. Only without smtp they are kept for operators.")
		return
	}
	p, ok := readPage(w, r, "after")
	if !ok {
		return
	}
	out := &stream{w: w, contentType: "application/json"}
	write := writeMails
	if templates.WantsPage(strings.Join(r.Header["Accept"], ",")) {
		write, out.contentType = showMails, "text/html; charset=utf-8"
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src http: https: data:; frame-ancestors 'none'")
		w.Header().Set("Referrer-Policy", "no-referrer")
	}
	if err := write(out, r, l, with, p); err != nil {
		o.broken(out, r, l, err)
	}
}

// writeMails writes mails page by page, so that they are never in memory all at once.
func writeMails(out io.Writer, r *http.Request, l Waitlist, with composer, p page) error {
	buffered, separator := bufio.NewWriter(out), `{"mails": [`
	for more := true; more; {
		mails, err := l.Record().Outbox(r.Context(), p.from, p.most)
		if err != nil {
			return err
		}
		for _, m := range mails {
			message, err := compose(with, m)
			if err != nil {
				return err
			}
			text, err := json.MarshalIndent(message, "  ", "  ")
			if err != nil {
				return err
			}
			fmt.Fprintf(buffered, "%s\n  %s", separator, text)
			p.from, separator = m.ID, ","
		}
		more = len(mails) == p.most && !r.URL.Query().Has("limit")
	}
	if separator != "," {
		fmt.Fprint(buffered, separator)
	}
	fmt.Fprintln(buffered, "]}")
	return buffered.Flush()
}

// shownMails is how many mails a browser is shown.
const shownMails = 30

//go:embed outbox.html
var outboxSource string

var outboxPage = template.Must(template.New("outbox").Parse(outboxSource))

// showMails writes a page with the latest mails, the last first. A mail is a document of its own,
// which may do nothing but open links.
func showMails(out io.Writer, r *http.Request, l Waitlist, with composer, p page) error {
	latest, err := latestMails(r, l, p)
	if err != nil {
		return err
	}
	var shown []messageJSON
	for _, m := range slices.Backward(latest) {
		message, err := compose(with, m)
		if err != nil {
			return err
		}
		message.HTML = `<base target="_blank">` + message.HTML
		shown = append(shown, message)
	}
	var text bytes.Buffer
	if err := outboxPage.Execute(&text, map[string]any{"Waitlist": l.Name(), "Mails": shown, "Most": shownMails}); err != nil {
		return err
	}
	_, err = text.WriteTo(out)
	return err
}

// latestMails reads through the mails that are kept, and returns the last ones.
func latestMails(r *http.Request, l Waitlist, p page) (latest []waitlist.Mail, err error) {
	for {
		mails, err := l.Record().Outbox(r.Context(), p.from, p.most)
		if err != nil || len(mails) == 0 {
			return latest, err
		}
		latest, p.from = append(latest, mails...), mails[len(mails)-1].ID
		latest = latest[max(0, len(latest)-shownMails):]
	}
}
