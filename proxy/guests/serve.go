package guests

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/proxy/requestid"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
	"github.com/fairdoor-gate/fairdoor/templates/guestpage"
)

// Methods are those that the paths of waitlists have.
const Methods = "GET, HEAD, POST, DELETE"

// request is a request about a waitlist, and what its answer needs.
type request struct {
	*http.Request
	feature.Requester
	w     http.ResponseWriter
	list  *Waitlist
	setup *Setup
	now   time.Time
}

// ServeHTTP answers a request for a path of the waitlist.
func (l *Waitlist) ServeHTTP(w http.ResponseWriter, r *http.Request, v feature.Requester) {
	q := l.request(w, r, v)
	handlers := q.handlers(strings.TrimPrefix(r.URL.Path, q.setup.path()))
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	switch handle := handlers[method]; {
	case handlers == nil:
		q.refuse(http.StatusNotFound, "There is no such page. The waitlist is at "+q.setup.path()+".")
	case handle == nil:
		w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(handlers)), ", "))
		q.refuse(http.StatusMethodNotAllowed, "This page does not support the method.")
	default:
		handle()
	}
}

// handlers are what answers the requests for a path, by their methods; nil for no path of a
// waitlist.
func (q *request) handlers(path string) map[string]func() {
	switch path {
	case "":
		return map[string]func(){http.MethodGet: q.getPlace, http.MethodPost: q.postPlace, http.MethodDelete: q.leave}
	case "/confirm":
		return map[string]func(){http.MethodGet: q.getConfirm, http.MethodPost: q.postConfirm}
	case "/leave":
		return map[string]func(){http.MethodGet: q.getLeave, http.MethodPost: q.postLeave}
	case "/invite":
		return map[string]func(){http.MethodGet: q.getInvite, http.MethodPost: q.postInvite}
	}
	return nil
}

// ServeDoor answers somebody who is no guest at the door of the room: with their place, or with the
// page on which they can sign up. The status is that of answers to those who wait.
func (l *Waitlist) ServeDoor(w http.ResponseWriter, r *http.Request, v feature.Requester, status int) {
	q := l.request(w, r, v)
	switch e, err := q.mine(); {
	case err == nil:
		q.tell(status, e, true)
	case !errors.Is(err, waitlist.ErrNotFound):
		q.fail(err)
	case q.JSON:
		q.json(status, map[string]string{"status": "none", "path": q.setup.path()})
	default:
		q.page(status, guestpage.View{State: guestpage.SignUp})
	}
}

func (l *Waitlist) request(w http.ResponseWriter, r *http.Request, v feature.Requester) *request {
	v.JSON = v.JSON || reply.SentJSON(r) // who sends JSON reads it
	return &request{Request: r, Requester: v, w: w, list: l, setup: l.setup.Load(), now: l.o.Clock()}
}

// mine returns the sender's own entry. The error is waitlist.ErrNotFound if there is none.
func (q *request) mine() (waitlist.Entry, error) {
	o, _ := q.setup.owner(q.Header, q.Owns)
	return q.list.entryOf(q.Context(), o, q.User)
}

// entryJSON is an entry as its owner is told of it.
type entryJSON struct {
	Status          waitlist.Status `json:"status"`
	Rank            int             `json:"rank"` // 0 if the entry does not wait
	Total           int             `json:"total"`
	ReferralCode    string          `json:"referralCode"`
	ReferralLink    string          `json:"referralLink"`
	ReferralsMade   int             `json:"referralsMade"`
	Moves           []waitlist.Move `json:"moves"` // what has moved them up, told to nobody else
	Full            bool            `json:"full"`  // no spot is free now
	InviteExpiresAt *time.Time      `json:"inviteExpiresAt,omitempty"`
	EnterURL        string          `json:"enterUrl,omitempty"` // of the room, for those who have accepted
}

// tell answers with an entry. It is the sender's own unless somebody else could have asked, too.
func (q *request) tell(status int, e waitlist.Entry, own bool) {
	if e.Status == waitlist.Unconfirmed {
		q.unconfirmed(status, "")
		return
	}
	var moves []waitlist.Move
	if own {
		var err error
		if moves, err = q.list.record.Moves(q.Context(), e.Number); err != nil {
			q.fail(err)
			return
		}
	}
	if q.JSON {
		j := q.entryJSON(e)
		j.Moves = append([]waitlist.Move{}, moves...)
		q.json(status, j)
		return
	}
	v := q.view(e, own)
	for _, m := range moves {
		if m.Action != waitlist.ByReferrals { // of which the page tells otherwise
			v.Moves = append(v.Moves, guestpage.Move{Title: cmp.Or(m.Title, m.Action), Points: m.Points})
		}
	}
	q.page(status, v)
}

// unconfirmed answers somebody who has to confirm an address. The answer is the same for all of
// them.
func (q *request) unconfirmed(status int, email string) {
	if q.JSON {
		q.json(status, map[string]waitlist.Status{"status": waitlist.Unconfirmed})
		return
	}
	q.page(status, guestpage.View{State: guestpage.Sent, Email: email})
}

func (q *request) entryJSON(e waitlist.Entry) entryJSON {
	j := entryJSON{
		Status: e.Status, Rank: e.Rank, Total: e.Total, ReferralCode: e.ReferralCode, ReferralLink: q.referralLink(e),
		ReferralsMade: e.ReferralsMade, Full: q.list.record.IsFull(),
	}
	switch e.Status {
	case waitlist.Invited:
		if expires := e.InviteExpiresAt.UTC(); !expires.IsZero() { // else it begins when the mail is sent
			j.InviteExpiresAt = &expires
		}
	case waitlist.Accepted:
		j.EnterURL = addressOf(q.Host, q.HTTPS) + q.Enter
	default:
	}
	return j
}

// states are the pages of entries.
var states = map[waitlist.Status]guestpage.State{
	waitlist.Waiting: guestpage.Waiting, waitlist.Invited: guestpage.Invited, waitlist.Accepted: guestpage.Accepted, waitlist.Expired: guestpage.Expired,
}

// view is the page of an entry.
func (q *request) view(e waitlist.Entry, own bool) guestpage.View {
	return guestpage.View{
		State: states[e.Status], Rank: e.Rank, Total: e.Total, ReferralLink: q.referralLink(e), Boosts: q.setup.cfg.Settings.ReferralBoost > 0,
		ReferralsMade: e.ReferralsMade, ExpiresAt: e.InviteExpiresAt, Enter: q.Enter, Once: !own,
	}
}

// way is the query by which the list's own paths know the page of the room that the sender came for.
func (q *request) way() string {
	if !q.Deep {
		return ""
	}
	return "?to=" + url.QueryEscape(q.Enter)
}

func (q *request) base() string { return q.setup.base(q.Host, q.HTTPS) }

func (q *request) referralLink(e waitlist.Entry) string {
	return q.base() + q.setup.path() + "?ref=" + e.ReferralCode
}

// page answers with a page. What every page shows is added to the view.
func (q *request) page(status int, v guestpage.View) {
	v.Path, v.Way, v.Named, v.Direct, v.Message = q.setup.path(), q.way(), q.User != "", !q.setup.cfg.Settings.ConfirmEmail, q.Message
	v.Full = q.list.record.IsFull()
	if v.Referral == "" {
		v.Referral = q.URL.Query().Get("ref")
	}
	language, policy := q.language(), q.setup.policy
	if v.HasForm() && q.hasChallenge() {
		w := q.setup.site.Proof().Widget()
		v.SiteKey, v.WidgetClass, v.ScriptURL = w.SiteKey, w.Class, w.ScriptURL
		policy = q.setup.site.Proof().Widen(policy)
	}
	h := q.w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Content-Language", language)
	q.send(status, "text/html; charset=utf-8", q.setup.pages.AppendTo(nil, language, v))
}

// language is the code of the language that the person reads.
func (q *request) language() string {
	return q.setup.pages.Match(strings.Join(q.Header["Accept-Language"], ","))
}

// json answers with what is told of the waitlist.
func (q *request) json(status int, told any) {
	text, err := json.Marshal(map[string]any{"waitlist": told})
	if err != nil { // which the types above cannot cause
		q.fail(err)
		return
	}
	q.send(status, "application/json", append(text, '\n'))
}

// send sends an answer.
func (q *request) send(status int, kind string, body []byte) {
	reply.ForOne(q.w, q.Request, status, kind, body)
}

// refuse answers a request that cannot be answered as it is: apps with the detail, and people with
// the gate's page for the status, if it has one.
func (q *request) refuse(status int, detail string) {
	if !q.JSON && status != http.StatusRequestEntityTooLarge {
		q.list.o.Problem(q.w, q.Request, status)
		return
	}
	q.w.Header().Set("X-Content-Type-Options", "nosniff")
	reply.Problem(q.w, status, detail)
}

// gone answers a link that has been used or has expired, or an entry that is not there.
func (q *request) gone(view guestpage.View) {
	if q.JSON {
		q.refuse(http.StatusGone, "The link has been used, or it has expired.")
		return
	}
	q.page(http.StatusGone, view)
}

// fail answers a request that the record could not answer.
func (q *request) fail(err error) {
	if q.Context().Err() != nil {
		return // nobody reads the answer
	}
	q.list.o.Log.Error("a request about a waitlist failed", requestid.Field(q.Request), zap.String("waitlist", q.setup.cfg.Name), zap.Error(err))
	q.w.Header().Set("Retry-After", "5")
	if q.JSON {
		q.refuse(http.StatusServiceUnavailable, "The waitlist does not answer at the moment. Try again.")
		return
	}
	q.page(http.StatusServiceUnavailable, guestpage.View{State: guestpage.Unavailable})
}

// see sends a browser to another page of the site after a form.
func (q *request) see(address string) {
	q.w.Header().Set("Cache-Control", "no-store")
	q.w.Header().Set("Location", address)
	q.w.WriteHeader(http.StatusSeeOther)
}

// keep has the browser of an entry's owner keep its cookie.
func (q *request) keep(e waitlist.Entry) bool {
	err := q.setup.keep(q.w.Header(), owner{e.Number, e.JoinedAt}, &q.Requester)
	if err != nil {
		q.fail(err)
	}
	return err == nil
}
