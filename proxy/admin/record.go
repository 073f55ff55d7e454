package admin

import (
	"fmt"
	"net/http"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// Record is what the API knows of the record of the rooms' days.
type Record interface {
	// Excerpt is record.Record.Excerpt, with how the room stands now.
	Excerpt(room string, from, to time.Time) record.Excerpt
	// Has is record.Record.Has.
	Has(room string) bool
	// Note is record.Record.Note.
	Note(room string, c record.Change)
}

// longestExcerpt is how much of a record is told at a time.
const longestExcerpt = 48 * time.Hour

// getRecord answers with what the record has of a room, or of all rooms of a family together:
// of the last day, unless the query says otherwise. A room that is not configured any more
// may have a record.
func (a *api) getRecord(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("room")
	_, isFamily := a.Gate.Family(name)
	if !isFamily && !a.Record.Has(name) {
		a.withRoom(a.sendRecord)(w, r)
		return
	}
	a.sendRecord(w, r, nil)
}

func (a *api) sendRecord(w http.ResponseWriter, r *http.Request, _ Room) {
	from, to, err := a.timesOf(r)
	if err != nil {
		reply.Problem(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	e := a.Record.Excerpt(r.PathValue("room"), from, to)
	if e.Minutes == nil {
		e.Minutes = []record.Minute{}
	}
	if e.Changes == nil {
		e.Changes = []record.Change{}
	}
	reply.JSON(w, e)
}

// timesOf reads the time that a query asks for.
func (a *api) timesOf(r *http.Request) (from, to time.Time, err error) {
	to = a.Clock().Add(time.Second) // so that what is of now is in it
	query := r.URL.Query()
	if text := query.Get("to"); text != "" {
		if to, err = time.Parse(time.RFC3339, text); err != nil {
			return from, to, fmt.Errorf("to is not a time as in 2026-11-22T18:00:00Z")
		}
	}
	from = to.Add(-24 * time.Hour)
	if text := query.Get("from"); text != "" {
		if from, err = time.Parse(time.RFC3339, text); err != nil {
			return from, to, fmt.Errorf("from is not a time as in 2026-11-22T18:00:00Z")
		}
	}
	switch {
	case !from.Before(to):
		return from, to, fmt.Errorf("from is not before to")
	case to.Sub(from) > longestExcerpt:
		return from, to, fmt.Errorf("from and to are more than two days apart")
	}
	return from, to, nil
}

// noteVisitor notes what an operator has done to a visitor.
func (a *api) noteVisitor(r *http.Request, of Room, what string, id queue.ID) {
	a.note(r, of, what, id.String())
}

// note notes what an operator has done to somebody.
func (a *api) note(r *http.Request, of Room, what, who string) {
	a.Record.Note(of.Queue().Name(), record.Change{At: a.Clock(), By: a.by(r), What: what, To: who})
}
