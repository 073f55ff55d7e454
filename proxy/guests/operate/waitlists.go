// Package operate has the resources of the admin API that are about waitlists, and their section of
// the dashboard.
//
//	waitlists.go  the waitlists, and what all that is below them shares
//	entries.go    who is on a waitlist
//	points.go     what moves people up, as programs report it
//	feed.go       what happens to them
//	invites.go    releases now and by plan, and the referrals that wait for an operator
//	transfer.go   imports, exports, and the audit log
//	dashboard.go  the page of a waitlist, on the dashboard
//	outbox.go     the mails that are kept while none are sent
package operate

import (
	"context"
	_ "embed" // for the document and the section
	"errors"
	"html/template"
	"iter"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
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

// Waitlists are those of a gate, as operators know them.
type Waitlists struct {
	All   iter.Seq[Waitlist]
	Clock func() time.Time
	Log   *zap.Logger
}

// operators ask for what the admin API has of waitlists.
type operators struct {
	admin.API
	Waitlists
}

// by says who asks.
func (o *operators) by(r *http.Request) waitlist.Operator { return waitlist.Operator(o.By(r)) }

var (
	//go:embed openapi.yaml
	document string
	//go:embed section.html
	sectionSource string

	section = dashboard.NewSection(sectionSource)
)

// Admin is what the admin API has of the waitlists.
func (all Waitlists) Admin(a admin.API) admin.Part {
	const one = "/api/v1/waitlists/{waitlist}"
	const points = one + "/entries/{id}/points"
	o := &operators{a, all}
	return admin.Part{Document: document, Begin: "/api/v1/waitlists", Section: o.section, Tab: o.tab(), Resources: []admin.Resource{
		{Pattern: "GET /api/v1/waitlists", Answer: o.getWaitlists},
		{Pattern: "GET " + one, Answer: o.withWaitlist(o.getWaitlist)},
		{Pattern: "PATCH " + one, Answer: o.withWaitlist(o.patchWaitlist)},
		{Pattern: "GET " + one + "/entries", Answer: o.withWaitlist(o.getEntries)},
		{Pattern: "GET " + one + "/entries/{id}", Answer: o.withEntry(o.getEntry)},
		{Pattern: "PATCH " + one + "/entries/{id}", Answer: o.withEntry(o.patchEntry)},
		{Pattern: "DELETE " + one + "/entries/{id}", Answer: o.withEntry(o.deleteEntry)},
		{Pattern: "POST " + points, Answer: o.withReporter(o.postPoints), Keyed: true},
		{Pattern: "DELETE " + points + "/{report}", Answer: o.withReporter(o.deletePoints), Keyed: true},
		{Pattern: "POST " + one + "/release", Answer: admin.Patient(o.withWaitlist(o.release))},
		{Pattern: "GET " + one + "/plans", Answer: o.withWaitlist(o.getPlans)},
		{Pattern: "POST " + one + "/plans", Answer: o.withWaitlist(o.postPlan)},
		{Pattern: "DELETE " + one + "/plans/{id}", Answer: o.withWaitlist(o.deletePlan)},
		{Pattern: "GET " + one + "/referrals", Answer: o.withWaitlist(o.getReferrals)},
		{Pattern: "POST " + one + "/referrals/{id}", Answer: o.withEntry(o.judgeReferral)},
		{Pattern: "GET " + one + "/log", Answer: o.withWaitlist(o.getFeed)},
		{Pattern: "GET " + one + "/audit", Answer: o.withWaitlist(o.getAudit)},
		{Pattern: "GET " + one + "/outbox", Answer: admin.Patient(o.withWaitlist(o.getOutbox))},
		{Pattern: "GET " + one + "/export", Answer: admin.Patient(o.withWaitlist(o.exportEntries))},
		{Pattern: "POST " + one + "/import", Answer: admin.Patient(o.withWaitlist(o.importEntries))},
	}}
}

// named is the waitlist of a name.
func (o *operators) named(name string) (Waitlist, bool) {
	for l := range o.All {
		if l.Name() == name {
			return l, true
		}
	}
	return nil, false
}

// withWaitlist finds the waitlist that the path names.
func (o *operators) withWaitlist(next func(http.ResponseWriter, *http.Request, Waitlist)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		l, found := o.named(r.PathValue("waitlist"))
		if !found {
			var names []string
			for l := range o.All {
				names = append(names, l.Name())
			}
			reply.Problem(w, http.StatusNotFound, "There is no waitlist of this name"+admin.OrOneOf(r.PathValue("waitlist"), names)+". See /api/v1/waitlists.")
			return
		}
		next(w, r, l)
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

func (o *operators) getWaitlists(w http.ResponseWriter, r *http.Request) {
	lists := []WaitlistJSON{}
	for l := range o.All {
		j, err := describeWaitlist(r.Context(), l)
		if err != nil {
			o.refused(w, r, l, err)
			return
		}
		lists = append(lists, j)
	}
	reply.JSON(w, lists)
}

func (o *operators) getWaitlist(w http.ResponseWriter, r *http.Request, l Waitlist) {
	j, err := describeWaitlist(r.Context(), l)
	if err != nil {
		o.refused(w, r, l, err)
		return
	}
	reply.JSON(w, j)
}

// patchWaitlist pauses a waitlist, or ends its pause.
func (o *operators) patchWaitlist(w http.ResponseWriter, r *http.Request, l Waitlist) {
	var change struct {
		Paused *bool `json:"paused"`
	}
	body, ok := admin.ReadChange(w, r)
	if !ok {
		return
	}
	if !admin.Decode(body, &change) || change.Paused == nil {
		reply.Problem(w, http.StatusUnprocessableEntity, `Nothing was changed: send {"paused": true} or {"paused": false}. What else a waitlist goes by is in the configuration file.`)
		return
	}
	set := l.Record().Resume
	if *change.Paused {
		set = l.Record().Pause
	}
	if err := set(r.Context(), o.by(r), o.Clock()); err != nil {
		o.refused(w, r, l, err)
		return
	}
	o.getWaitlist(w, r, l)
}

// refused answers with why the record has not done what was asked.
func (o *operators) refused(w http.ResponseWriter, r *http.Request, l Waitlist, err error) {
	status, detail := o.why(r, l, err)
	reply.Problem(w, status, detail)
}

// why says why the record has not done what was asked, and logs it if it should have.
func (o *operators) why(r *http.Request, l Waitlist, err error) (status int, detail string) {
	resource := "/api/v1/waitlists/" + l.Name()
	switch {
	case errors.Is(err, waitlist.ErrNotFound):
		return http.StatusNotFound, "There is no such entry. See " + resource + "/entries."
	case errors.Is(err, waitlist.ErrText):
		return http.StatusBadRequest, "q is a text in UTF-8, without U+0000."
	case errors.Is(err, waitlist.ErrPaused):
		return http.StatusConflict, `Nobody was invited: the waitlist is paused. To end the pause, PATCH ` + resource + ` with {"paused": false}, or use fairdoor waitlist resume.`
	case errors.Is(err, waitlist.ErrFull):
		return http.StatusConflict, "Nothing was changed: no spot is free. Raise the capacity of the waitlist, or take back a spot that somebody holds."
	case errors.Is(err, waitlist.ErrStatus):
		return http.StatusConflict, "Nothing was changed: nobody becomes unconfirmed again, only an invite can expire, and somebody who has accepted has to wait again before another invite."
	}
	o.recordFailed(r, l, err)
	return http.StatusServiceUnavailable, "The record of the waitlist does not answer. It may make a change all the same: look before you ask again."
}

// recordFailed logs why the record has failed, unless it is that nobody waits for the answer any
// more.
func (o *operators) recordFailed(r *http.Request, l Waitlist, err error) {
	if r.Context().Err() == nil {
		o.Log.Error("the record of a waitlist has failed", zap.String("waitlist", l.Name()), zap.Error(err))
	}
}

// page is the part of a listing that a query asks for.
type page struct {
	from int64 // the id that it begins after or before; 0 for none
	most int
}

// readPage reads the part that a query asks for; if it cannot, it has answered instead.
func readPage(w http.ResponseWriter, r *http.Request, from string) (p page, ok bool) {
	values := r.URL.Query()
	p.most, ok = admin.Most(values)
	if text := values.Get(from); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		p.from, ok = n, ok && err == nil && n >= 0
	}
	if !ok {
		reply.Problem(w, http.StatusBadRequest, from+" is an id, a whole number, and "+admin.LimitRule+".")
	}
	return p, ok
}

// section shows how the waitlists stand.
func (o *operators) section(ctx context.Context) (template.HTML, error) {
	type shown struct {
		WaitlistJSON
		Waiting int
		Next    []waitlist.Plan // no more than the next
		Error   bool
	}
	var list []shown
	for l := range o.All {
		j, err := describeWaitlist(ctx, l)
		plans, failed := l.Record().Plans(ctx)
		j.Name, j.Room = l.Name(), l.Room()
		list = append(list, shown{j, j.Entries[waitlist.Waiting], plans[:min(len(plans), 1)], errors.Join(err, failed) != nil})
	}
	return section.Show(list)
}
