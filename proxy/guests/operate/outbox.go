package operate

import (
	"bufio"
	_ "embed" // for the page
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
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
// given. A browser is sent to the page that shows the latest ones.
func (o *operators) getOutbox(w http.ResponseWriter, r *http.Request, l Waitlist) {
	with, kept := l.Mails()
	if !kept {
		reply.Problem(w, http.StatusNotFound, "The mails of this waitlist are sent: it has smtp. Only without smtp they are kept for operators.")
		return
	}
	if !o.IsOperator(r) {
		reply.Problem(w, http.StatusForbidden, admin.ForOperators)
		return
	}
	p, ok := readPage(w, r, "after")
	if !ok {
		return
	}
	if templates.WantsPage(strings.Join(r.Header["Accept"], ",")) {
		http.Redirect(w, r, mailsOf(l), http.StatusSeeOther)
		return
	}
	out := &stream{w: w, contentType: "application/json"}
	if err := writeMails(out, r, l, with, p); err != nil {
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

var (
	//go:embed mails.html
	mailsSource string

	mailsPage = dashboard.NewSection(mailsSource)
)

// mailsOf is the page of the mails that are kept of a waitlist.
func mailsOf(l Waitlist) string { return "/rooms/" + l.Room() + "/" + Path + "/mails" }

// showMails answers with the latest mails, the last first, as their readers would see them.
func (o *operators) showMails(w http.ResponseWriter, r *http.Request, in admin.Room, l Waitlist) {
	with, kept := l.Mails()
	if !kept {
		o.Refuse(w, r, in, http.StatusNotFound, "The mails of this waitlist are sent: it has smtp.")
		return
	}
	if !o.IsOperator(r) {
		o.Refuse(w, r, in, http.StatusForbidden, admin.ForOperators)
		return
	}
	latest, err := l.Record().LatestMails(r.Context(), shownMails)
	var shown []messageJSON
	for _, m := range latest {
		message, fault := compose(with, m)
		err = errors.Join(err, fault)
		shown = append(shown, message)
	}
	if err != nil {
		o.failed(w, r, in, l, err)
		return
	}
	text, err := mailsPage.Show(map[string]any{"Path": mailsOf(l), "Mails": shown, "Most": shownMails})
	if err != nil {
		o.failed(w, r, in, l, err)
		return
	}
	o.ShowPage(w, r, in, Path, text)
}

// showMail answers with one mail: a document of its own, which may do nothing but open links.
func (o *operators) showMail(w http.ResponseWriter, r *http.Request, in admin.Room, l Waitlist) {
	if !o.IsOperator(r) {
		o.Refuse(w, r, in, http.StatusForbidden, admin.ForOperators)
		return
	}
	with, kept := l.Mails()
	id, err := strconv.ParseInt(r.PathValue("mail"), 10, 64)
	var mails []waitlist.Mail
	if err == nil && kept {
		mails, err = l.Record().Outbox(r.Context(), id-1, 1)
	}
	if err != nil || len(mails) == 0 || mails[0].ID != id {
		o.Refuse(w, r, in, http.StatusNotFound, "There is no such mail.")
		return
	}
	message, err := compose(with, mails[0])
	if err != nil {
		o.failed(w, r, in, l, err)
		return
	}
	dashboard.SetHeaders(w.Header(), "default-src 'none'; style-src 'unsafe-inline'; img-src http: https: data:; sandbox allow-popups allow-popups-to-escape-sandbox; frame-ancestors 'self'")
	_, _ = io.WriteString(w, `<base target="_blank">`+message.HTML) // whoever asked may be gone
}
