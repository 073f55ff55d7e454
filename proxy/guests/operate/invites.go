package operate

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// release invites the next. It invites fewer than it was asked to where spots or people are fewer.
func (o *operators) release(w http.ResponseWriter, r *http.Request, l Waitlist) {
	var order struct {
		Count int `json:"count"`
	}
	body, ok := admin.ReadChange(w, r)
	if !ok {
		return
	}
	if !admin.Decode(body, &order) || order.Count < 1 {
		reply.Problem(w, http.StatusUnprocessableEntity, `Nobody was invited: send {"count": n}, a whole number from 1.`)
		return
	}
	released, err := l.Record().Release(r.Context(), order.Count, o.by(r), o.Clock())
	if err != nil && (released == 0 || !errors.Is(err, waitlist.ErrPaused)) { // a pause may come between
		o.refused(w, r, l, err)
		return
	}
	reply.JSON(w, ReleasedJSON{released})
}

// ReleasedJSON says how many were invited.
type ReleasedJSON struct {
	Released int `json:"released"`
}

// PlansJSON are the releases that are still to come.
type PlansJSON struct {
	Plans []PlanJSON `json:"plans"`
}

// PlanJSON is a release that is still to come.
type PlanJSON struct {
	ID    int64     `json:"id"`
	Count int       `json:"count"`
	At    time.Time `json:"at"`
	Every string    `json:"every,omitempty"`
}

func describePlan(p waitlist.Plan) PlanJSON {
	j := PlanJSON{ID: p.ID, Count: p.Size, At: p.At.UTC()}
	if p.Every > 0 {
		j.Every = setting.FormatDuration(p.Every)
	}
	return j
}

func (o *operators) getPlans(w http.ResponseWriter, r *http.Request, l Waitlist) {
	plans, err := l.Record().Plans(r.Context())
	if err != nil {
		o.refused(w, r, l, err)
		return
	}
	listed := PlansJSON{[]PlanJSON{}}
	for _, p := range plans {
		listed.Plans = append(listed.Plans, describePlan(p))
	}
	reply.JSON(w, listed)
}

// postPlan plans a release: at a time, or every so often from then on, or from now on.
func (o *operators) postPlan(w http.ResponseWriter, r *http.Request, l Waitlist) {
	body, ok := admin.ReadChange(w, r)
	if !ok {
		return
	}
	plan, fault := parsePlan(body, o.Clock())
	if fault != "" {
		reply.Problem(w, http.StatusUnprocessableEntity, "Nothing was planned: "+fault)
		return
	}
	var err error
	if plan.ID, err = l.Record().Schedule(r.Context(), plan, o.by(r), o.Clock()); err != nil {
		o.refused(w, r, l, err)
		return
	}
	reply.JSON(w, describePlan(plan))
}

// PlanOrder asks for a plan: At or Every may be missing, but not both.
type PlanOrder struct {
	Count int        `json:"count"`
	At    *time.Time `json:"at,omitempty"`
	Every string     `json:"every,omitempty"`
}

// parsePlan reads a plan, or says what is wrong with it.
func parsePlan(body []byte, now time.Time) (p waitlist.Plan, fault string) {
	var order PlanOrder
	if !admin.Decode(body, &order) || order.Count < 1 {
		return p, `send {"count": n, "every": "1m"} or {"count": n, "at": "2026-12-01T09:00:00Z"}, or both times; n is a whole number from 1.`
	}
	p.Size, p.At = order.Count, now
	if order.At != nil {
		p.At = *order.At
	}
	every, err := time.ParseDuration(order.Every)
	switch {
	case order.Every == "" && order.At == nil:
		return p, `say when: "at" a time, "every" so often, or both. To invite people now, POST to release.`
	case order.Every != "" && (err != nil || every < time.Second):
		return p, `"every" is a duration such as 90s, 1m or 1h30m, and at least 1s.`
	case p.At.Before(now):
		return p, `"at" is in the past.`
	}
	p.Every = every
	return p, ""
}

func (o *operators) deletePlan(w http.ResponseWriter, r *http.Request, l Waitlist) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err == nil {
		err = l.Record().Cancel(r.Context(), id, o.by(r), o.Clock())
	} else {
		err = waitlist.ErrNotFound
	}
	switch {
	case errors.Is(err, waitlist.ErrNotFound):
		reply.Problem(w, http.StatusNotFound, "There is no such plan; it may be done. See /api/v1/waitlists/"+l.Name()+"/plans.")
	case err != nil:
		o.refused(w, r, l, err)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// ReferralsJSON are referrals that wait for an operator.
type ReferralsJSON struct {
	Referrals []ReferralJSON `json:"referrals"`
}

// ReferralJSON is a referral that waits for an operator.
type ReferralJSON struct {
	Referee  personJSON      `json:"referee"`
	Referrer personJSON      `json:"referrer"`
	Reason   waitlist.Reason `json:"reason"`
	At       time.Time       `json:"at"`
}

type personJSON struct {
	ID    int64  `json:"id"`
	Email string `json:"email"`
}

func (o *operators) getReferrals(w http.ResponseWriter, r *http.Request, l Waitlist) {
	p, ok := readPage(w, r, "after")
	if !ok {
		return
	}
	held, err := l.Record().Held(r.Context(), p.from, p.most)
	if err != nil {
		o.refused(w, r, l, err)
		return
	}
	listed := ReferralsJSON{[]ReferralJSON{}}
	for _, c := range held {
		listed.Referrals = append(listed.Referrals, ReferralJSON{personJSON{c.Referee, c.RefereeEmail}, personJSON{c.Referrer, c.ReferrerEmail}, c.Reason, c.At})
	}
	reply.JSON(w, listed)
}

// judgeReferral grants or denies what bringing an entry is to earn its referrer.
func (o *operators) judgeReferral(w http.ResponseWriter, r *http.Request, l Waitlist, id int64) {
	var judgement struct {
		Grant *bool `json:"grant"`
	}
	body, ok := admin.ReadChange(w, r)
	if !ok {
		return
	}
	if !admin.Decode(body, &judgement) || judgement.Grant == nil {
		reply.Problem(w, http.StatusUnprocessableEntity, `Nothing was changed: send {"grant": true} or {"grant": false}.`)
		return
	}
	err := l.Record().Judge(r.Context(), id, *judgement.Grant, o.by(r), o.Clock())
	switch {
	case errors.Is(err, waitlist.ErrNotFound):
		reply.Problem(w, http.StatusNotFound, "No referral of this entry waits for an operator. See /api/v1/waitlists/"+l.Name()+"/referrals.")
	case err != nil:
		o.refused(w, r, l, err)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
