package admin

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// Waitlist is what the API knows of a waitlist.
type Waitlist interface {
	Name() string
	// Room returns the name of the room whose guest list it is.
	Room() string
	Record() *waitlist.List
	// Mails returns what composes the mails that are kept for operators; kept is false while mails
	// are sent.
	Mails() (compose func(waitlist.Mail) (mail.Message, error), kept bool)
}

// waitlistResources are those below /api/v1/waitlists.
func (a *api) waitlistResources() []resource {
	const one = "/api/v1/waitlists/{waitlist}"
	return []resource{
		{"GET /api/v1/waitlists", a.getWaitlists},
		{"GET " + one, a.withWaitlist(a.getWaitlist)},
		{"PATCH " + one, a.withWaitlist(a.patchWaitlist)},
		{"GET " + one + "/entries", a.withWaitlist(a.getEntries)},
		{"GET " + one + "/entries/{id}", a.withEntry(a.getEntry)},
		{"PATCH " + one + "/entries/{id}", a.withEntry(a.patchEntry)},
		{"DELETE " + one + "/entries/{id}", a.withEntry(a.deleteEntry)},
		{"POST " + one + "/release", patient(a.withWaitlist(a.release))},
		{"GET " + one + "/plans", a.withWaitlist(a.getPlans)},
		{"POST " + one + "/plans", a.withWaitlist(a.postPlan)},
		{"DELETE " + one + "/plans/{id}", a.withWaitlist(a.deletePlan)},
		{"GET " + one + "/referrals", a.withWaitlist(a.getReferrals)},
		{"POST " + one + "/referrals/{id}", a.withEntry(a.judgeReferral)},
		{"GET " + one + "/log", a.withWaitlist(a.getFeed)},
		{"GET " + one + "/audit", a.withWaitlist(a.getAudit)},
		{"GET " + one + "/outbox", patient(a.withWaitlist(a.getOutbox))},
		{"GET " + one + "/export", patient(a.withWaitlist(a.exportEntries))},
		{"POST " + one + "/import", patient(a.withWaitlist(a.importEntries))},
	}
}

// patient gives a request and its answer longer than the listener gives others.
func patient(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		// A connection that has no deadlines needs no others.
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Time{})
		_ = c.SetWriteDeadline(time.Time{})
		next(w, q)
	}
}

// withWaitlist finds the waitlist that the path names.
func (a *api) withWaitlist(next func(http.ResponseWriter, *http.Request, Waitlist)) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		l, found := a.Gate.Waitlist(q.PathValue("waitlist"))
		if !found {
			reply.Problem(w, http.StatusNotFound, "There is no waitlist of this name. See /api/v1/waitlists.")
			return
		}
		next(w, q, l)
	}
}

// WaitlistJSON is how a waitlist stands.
type WaitlistJSON struct {
	Name         string                  `json:"name"`
	Room         string                  `json:"room"`
	Paused       bool                    `json:"paused"`
	Entries      map[waitlist.Status]int `json:"entries"`
	Capacity     int                     `json:"capacity"` // 0 is unlimited
	Held         int                     `json:"held"`     // live invites and acceptances
	Owed         int                     `json:"owed"`     // spots that have ended and go to the next who comes
	Released     int                     `json:"released"` // spots ever, as the next two
	Accepted     int                     `json:"accepted"`
	Expired      int                     `json:"expired"`
	Undelivered  int                     `json:"undelivered,omitzero"` // of those that have expired
	NextExpiry   time.Time               `json:"nextExpiry,omitzero"`
	MailsWaiting int                     `json:"mailsWaiting"`
	Settings     any                     `json:"settings"` // the waitlist.Settings; a map by their names where the API's answer is read
}

func describeWaitlist(ctx context.Context, l Waitlist) (WaitlistJSON, error) {
	n, err := l.Record().Numbers(ctx)
	if err != nil {
		return WaitlistJSON{}, err
	}
	s := l.Record().Settings()
	j := WaitlistJSON{
		Name: l.Name(), Room: l.Room(), Paused: n.Paused, Entries: map[waitlist.Status]int{}, Capacity: s.Capacity, Held: n.Held, Owed: n.Owed,
		Released: n.Released, Accepted: n.Accepted, Expired: n.Expired, Undelivered: n.Undelivered, NextExpiry: n.Next, MailsWaiting: n.Mails, Settings: s,
	}
	for _, status := range waitlist.Statuses() {
		j.Entries[status] = n.Entries[status]
	}
	return j, nil
}

func (a *api) getWaitlists(w http.ResponseWriter, q *http.Request) {
	lists := []WaitlistJSON{}
	for l := range a.Gate.Waitlists() {
		j, err := describeWaitlist(q.Context(), l)
		if err != nil {
			a.refused(w, q, l, err)
			return
		}
		lists = append(lists, j)
	}
	reply.JSON(w, lists)
}

func (a *api) getWaitlist(w http.ResponseWriter, q *http.Request, l Waitlist) {
	j, err := describeWaitlist(q.Context(), l)
	if err != nil {
		a.refused(w, q, l, err)
		return
	}
	reply.JSON(w, j)
}

// patchWaitlist pauses a waitlist, or ends its pause.
func (a *api) patchWaitlist(w http.ResponseWriter, q *http.Request, l Waitlist) {
	var change struct {
		Paused *bool `json:"paused"`
	}
	body, ok := readPatch(w, q)
	if !ok {
		return
	}
	if !decode(body, &change) || change.Paused == nil {
		reply.Problem(w, http.StatusUnprocessableEntity, `Nothing was changed: send {"paused": true} or {"paused": false}. What else a waitlist goes by is in the configuration file.`)
		return
	}
	set := l.Record().Resume
	if *change.Paused {
		set = l.Record().Pause
	}
	if err := set(q.Context(), a.by(q), a.Clock()); err != nil {
		a.refused(w, q, l, err)
		return
	}
	a.getWaitlist(w, q, l)
}

// refused answers with why the record has not done what was asked.
func (a *api) refused(w http.ResponseWriter, q *http.Request, l Waitlist, err error) {
	resource := "/api/v1/waitlists/" + l.Name()
	switch {
	case errors.Is(err, waitlist.ErrNotFound):
		reply.Problem(w, http.StatusNotFound, "There is no such entry. See "+resource+"/entries.")
	case errors.Is(err, waitlist.ErrText):
		reply.Problem(w, http.StatusBadRequest, "q is a text in UTF-8, without U+0000.")
	case errors.Is(err, waitlist.ErrPaused):
		reply.Problem(w, http.StatusConflict, `Nobody was invited: the waitlist is paused. To end the pause, PATCH `+resource+` with {"paused": false}, or use fairdoor waitlist resume.`)
	case errors.Is(err, waitlist.ErrFull):
		reply.Problem(w, http.StatusConflict, "Nothing was changed: no spot is free. Raise the capacity of the waitlist, or take back a spot that somebody holds.")
	case errors.Is(err, waitlist.ErrStatus):
		reply.Problem(w, http.StatusConflict, "Nothing was changed: nobody becomes unconfirmed again, only an invite can expire, and somebody who has accepted has to wait again before another invite.")
	default:
		a.recordFailed(q, l, err)
		reply.Problem(w, http.StatusServiceUnavailable, "The record of the waitlist does not answer. It may make a change all the same: look before you ask again.")
	}
}

// recordFailed logs why the record has failed, unless it is that nobody waits for the answer any
// more.
func (a *api) recordFailed(q *http.Request, l Waitlist, err error) {
	if q.Context().Err() == nil {
		a.Log.Error("the record of a waitlist has failed", zap.String("waitlist", l.Name()), zap.Error(err))
	}
}

// The bounds of a page.
const usualPage, largestPage = 100, 1000

// page is the part of a listing that a query asks for.
type page struct {
	from int64 // the id that it begins after or before; 0 for none
	most int
}

// readPage reads the part that a query asks for; if it cannot, it has answered instead.
func readPage(w http.ResponseWriter, q *http.Request, from string) (p page, ok bool) {
	p.most, ok = usualPage, true
	values := q.URL.Query()
	if text := values.Get(from); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		p.from, ok = n, err == nil && n >= 0
	}
	if text := values.Get("limit"); text != "" && ok {
		n, err := strconv.Atoi(text)
		p.most, ok = n, err == nil && n >= 1 && n <= largestPage
	}
	if !ok {
		reply.Problem(w, http.StatusBadRequest, from+" is an id, a whole number, and limit is a whole number from 1 to "+strconv.Itoa(largestPage)+".")
	}
	return p, ok
}
