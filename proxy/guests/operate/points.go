package operate

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/bearer"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// reporter is who sends a request about points: an operator, or a program with a key.
type reporter struct {
	operator bool
	name     waitlist.Operator // of an operator
	key      string
}

// may reports whether the reporter may report an action.
func (r reporter) may(action waitlist.Action) bool {
	return r.operator || bearer.Is(r.key, action.Keys...)
}

// withReporter finds who reports, and the waitlist and the entry that the path names.
func (o *operators) withReporter(next func(http.ResponseWriter, *http.Request, Waitlist, int64, reporter)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		by := reporter{key: bearer.Token(r), operator: o.IsOperator(r)}
		if by.operator {
			by.name = o.by(r)
		}
		known := by.operator
		if l, found := o.named(r.PathValue("waitlist")); found {
			for _, action := range l.Record().Settings().Actions {
				known = known || by.may(action)
			}
		}
		if !known {
			if by.key != "" {
				o.WrongToken(r)
			}
			bearer.Refuse(w, "a key of the action, or the admin token")
			return
		}
		o.withEntry(func(w http.ResponseWriter, r *http.Request, l Waitlist, id int64) { next(w, r, l, id, by) })(w, r)
	}
}

// refusesAction answers who may not report an action, and says whether it has.
func (o *operators) refusesAction(w http.ResponseWriter, l Waitlist, by reporter, name string) bool {
	var may []string
	for _, action := range l.Record().Settings().Actions {
		if by.may(action) {
			may = append(may, action.Name)
		}
	}
	switch {
	case slices.Contains(may, name):
		return false
	case len(may) == 0:
		reply.Problem(w, http.StatusForbidden, "Nothing was changed: the waitlist has no actions; its configuration names them.")
	default:
		reply.Problem(w, http.StatusForbidden, fmt.Sprintf("Nothing was changed: you may report %s, and not %q.", strings.Join(may, ", "), name))
	}
	return true
}

// PointsJSON is what a program reports that somebody has done.
type PointsJSON struct {
	Action string `json:"action"`
	Points int    `json:"points,omitempty"` // 0 for those of the action
	ID     string `json:"id"`
}

func (o *operators) postPoints(w http.ResponseWriter, r *http.Request, l Waitlist, id int64, by reporter) {
	body, ok := admin.ReadChange(w, r)
	if !ok {
		return
	}
	var report PointsJSON
	if !admin.Decode(body, &report) || report.Action == "" || report.ID == "" {
		reply.Problem(w, http.StatusUnprocessableEntity, `Nothing was changed: send {"action": "…", "id": "…"}, with an id of at most 128 bytes that no other report has; and "points" for fewer than the action is worth.`)
		return
	}
	if o.refusesAction(w, l, by, report.Action) {
		return
	}
	o.points(w, r, l, id, l.Record().Report(r.Context(), id, report.of(), by.name, o.Clock()))
}

func (p PointsJSON) of() waitlist.Report {
	return waitlist.Report{ID: p.ID, Action: p.Action, Points: p.Points}
}

// deletePoints takes the points of a report back.
func (o *operators) deletePoints(w http.ResponseWriter, r *http.Request, l Waitlist, id int64, by reporter) {
	report := r.PathValue("report")
	action, err := l.Record().Reported(r.Context(), id, report)
	switch {
	case errors.Is(err, waitlist.ErrNotFound):
		reply.Problem(w, http.StatusNotFound, "Nothing was changed: there is no report with this id of this entry.")
		return
	case err == nil && !by.operator && o.refusesAction(w, l, by, action): // operators also take back what was an action before
		return
	}
	if err == nil {
		err = l.Record().TakeBack(r.Context(), id, report, by.name, o.Clock())
	}
	o.points(w, r, l, id, err)
}

// points answers with the entry as a change of its points has left it, as far as a reporter is told
// of it.
func (o *operators) points(w http.ResponseWriter, r *http.Request, l Waitlist, id int64, err error) {
	switch {
	case errors.Is(err, waitlist.ErrUsed):
		reply.Problem(w, http.StatusConflict, "Nothing was changed: another report has this id, of another entry, action or number of points.")
		return
	case errors.Is(err, waitlist.ErrRange):
		reply.Problem(w, http.StatusUnprocessableEntity, "Nothing was changed: points are a whole number from 1 to what the action is worth.")
		return
	case errors.Is(err, waitlist.ErrText):
		reply.Problem(w, http.StatusUnprocessableEntity, "Nothing was changed: an id has at most 128 bytes, in UTF-8.")
		return
	case err != nil:
		o.refused(w, r, l, err)
		return
	}
	e, err := l.Record().Entry(r.Context(), id, o.Clock())
	if err != nil {
		o.refused(w, r, l, err)
		return
	}
	moves, err := l.Record().Moves(r.Context(), id)
	if err != nil {
		o.refused(w, r, l, err)
		return
	}
	reply.JSON(w, StandingJSON{e.Number, e.Status, e.Rank, e.Priority, append([]waitlist.Move{}, moves...)})
}

// StandingJSON is how somebody stands, and what has moved them up.
type StandingJSON struct {
	ID       int64           `json:"id"`
	Status   waitlist.Status `json:"status"`
	Rank     int             `json:"rank"` // 0 for who does not wait
	Priority int             `json:"priority"`
	Moves    []waitlist.Move `json:"moves"`
}
