package guests

import (
	"errors"
	"net/http"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates/guestpage"
)

// comeBack gives the browser of somebody who has the link of a mail the cookie of their entry. If
// the browser has the cookie of another entry, or nobody has followed the link, it takes a button:
// the link may be a stranger's.
func (q *request) comeBack(secret string) {
	e, err := q.list.record.EntryBySecret(q.Context(), secret, q.now)
	own, errOwn := q.mine()
	isAnothers := errOwn == nil && own.Number != e.Number
	switch {
	case q.refused(err):
	case q.Method == http.MethodPost || q.isFollowed() && !isAnothers:
		q.settle(waitlist.Place{Entry: e, Own: true})
	case q.JSON:
		q.tell(http.StatusOK, e, true)
	default:
		q.page(http.StatusOK, guestpage.View{State: guestpage.Return, Token: secret})
	}
}

// isFollowed says whether a request is one for a page that is shown by itself, or one of the site's
// own scripts; not that for an image, say, on a page of another site. Programs that are no browsers
// do not say what a request is for.
func (q *request) isFollowed() bool {
	switch q.Header.Get("Sec-Fetch-Dest") {
	case "", "document":
		return true
	case "empty":
		return q.Header.Get("Sec-Fetch-Site") == "same-origin"
	}
	return false
}

// getLeave shows the button that takes the reader of a mail off the list. Programs that look at the
// links of mails do not press it.
func (q *request) getLeave() {
	token := q.URL.Query().Get("token")
	e, err := q.list.record.EntryByMail(q.Context(), token, q.now)
	switch {
	case q.refused(err):
	case q.JSON:
		q.json(http.StatusOK, map[string]waitlist.Status{"status": e.Status})
	default:
		q.page(http.StatusOK, guestpage.View{State: guestpage.Leave, Token: token})
	}
}

// postLeave takes the reader of a mail off the list: by the button, or by the one click of a mail
// program (RFC 8058).
func (q *request) postLeave() {
	f, ok := q.form()
	if !ok {
		return
	}
	e, err := q.list.record.EntryByMail(q.Context(), f.Token, q.now)
	if err == nil {
		err = q.list.record.Leave(q.Context(), e.Number, q.now)
	}
	if q.refused(err) {
		return
	}
	if o, found := q.setup.owner(q.Header, q.Owns); found && o.number == e.Number {
		q.setup.forget(q.w.Header(), q.HTTPS)
	}
	q.left()
}

// refused answers what the record refuses, and says whether it did.
func (q *request) refused(err error) bool {
	switch {
	case err == nil:
		return false
	case errors.Is(err, waitlist.ErrNotFound), errors.Is(err, waitlist.ErrUsed), errors.Is(err, waitlist.ErrExpired):
		q.gone(guestpage.View{State: guestpage.Gone})
	default:
		q.fail(err)
	}
	return true
}

// refusedInvite is refused for an invite. Who has accepted one is shown the way in.
func (q *request) refusedInvite(err error) bool {
	if !errors.Is(err, waitlist.ErrUsed) {
		return q.refused(err)
	}
	view := guestpage.View{State: guestpage.Gone, Taken: true}
	if e, err := q.mine(); err == nil && e.Status == waitlist.Accepted {
		view = q.view(e, true)
	}
	q.gone(view)
	return true
}

// getConfirm shows the button that confirms an address. Programs that look at the links of mails do
// not press it.
func (q *request) getConfirm() {
	token := q.URL.Query().Get("token")
	_, err := q.list.record.Confirmation(q.Context(), token, q.now)
	switch {
	case q.refused(err):
	case q.JSON:
		q.unconfirmed(http.StatusOK, "")
	default:
		q.page(http.StatusOK, guestpage.View{State: guestpage.Confirm, Token: token})
	}
}

// postConfirm confirms an address.
func (q *request) postConfirm() {
	f, ok := q.form()
	if !ok {
		return
	}
	place, err := q.list.record.Confirm(q.Context(), f.Token, q.carried(), q.now)
	if !q.refused(err) {
		q.dropReferral()
		q.settle(place)
	}
}

// getInvite shows the button that accepts an invite: that of the link, or without one the sender's
// own.
func (q *request) getInvite() {
	token := q.URL.Query().Get("token")
	var e waitlist.Entry
	var err error
	if token == "" {
		e, err = q.mine()
	} else {
		e, err = q.list.record.Invitation(q.Context(), token, q.now)
	}
	switch {
	case q.refusedInvite(err):
	case token == "" || q.JSON:
		q.tell(http.StatusOK, e, true)
	default:
		view := q.view(e, false)
		view.Token = token
		q.page(http.StatusOK, view)
	}
}

// postInvite accepts an invite, and lets its guest on to the room.
func (q *request) postInvite() {
	f, ok := q.form()
	if !ok {
		return
	}
	place, err := q.accept(f.Token)
	switch {
	case q.refusedInvite(err):
	case q.JSON:
		q.settle(place)
	case q.keep(place.Entry):
		q.see(q.Enter)
	}
}

// accept accepts the invite of a token, or without one the sender's own.
func (q *request) accept(token string) (waitlist.Place, error) {
	if token != "" {
		return q.list.record.Accept(q.Context(), token, q.now)
	}
	e, err := q.mine()
	if err != nil {
		return waitlist.Place{}, err
	}
	return q.list.record.AcceptOwn(q.Context(), e.Number, q.now)
}
