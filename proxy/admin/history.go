package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// maxChanges is how many changes the dashboard lists.
const maxChanges = 50

// What the record notes beside settings, whose names it has.
const (
	ofEvent = "event " // and the name of a planned one

	visitorAhead   = "visitor put ahead"
	visitorBack    = "visitor no longer ahead"
	visitorRenewed = "visitor renewed"
	visitorRemoved = "visitor removed"
)

// soAgain is why something is not undone that is as it was before.
const soAgain = "It is as before again."

// changesOf lists changes, the latest first, each with the form that undoes it, or why there is none.
func (a *api) changesOf(ctx context.Context, of Room, list []record.Change) []dashboard.Change {
	var changes []dashboard.Change
	in := sync.OnceValue(func() map[string]bool { return a.codesIn(ctx, of) })
	for _, c := range slices.Backward(list[max(0, len(list)-maxChanges):]) {
		v := dashboard.Change{At: c.At, By: c.By, What: c.What, From: c.WasInWords(), To: c.ThenInWords()}
		v.Undo, v.Why = a.undoOf(of, c, in)
		changes = append(changes, v)
	}
	return changes
}

// undoOf is the form that asks whether a change is to be undone; nil where it is not, and why. In has
// the support codes of those who are in.
func (a *api) undoOf(of Room, c record.Change, in func() map[string]bool) (undo *dashboard.Undo, why string) {
	f := queue.Setting(c.What)
	switch {
	case f != nil && !f.Live:
		return nil, "It is changed in the file only."
	case f != nil && valueOf(f, byOperators(of.Queue().Settings())) == c.From:
		return nil, soAgain
	case f == nil && strings.HasPrefix(c.What, ofEvent):
		if why = eventStays(of, c); why != "" {
			return nil, why
		}
	case c.What == "event":
		return nil, "The event does that by its times."
	case c.What == visitorAhead || c.What == visitorBack:
		return a.undoAhead(of, c, in)
	case f == nil:
		return nil, a.final(c.What)
	}
	return &dashboard.Undo{Action: pageOf(of, "undo"), Fields: map[string]string{"done": strconv.FormatInt(c.At.UnixMilli(), 10), "what": c.What, "page": "history"}}, ""
}

// final says why something that operators have done is not undone.
func (a *api) final(what string) string {
	switch what {
	case visitorRemoved:
		return "Whoever is out comes back as a newcomer."
	case visitorRenewed:
		return "A session is not made shorter: end it."
	}
	for _, part := range a.parts {
		if why := part.Final[what]; why != "" {
			return why
		}
	}
	return "It cannot be undone."
}

// undoAhead is the form that undoes that a visitor was put ahead, or no longer is.
func (a *api) undoAhead(of Room, c record.Change, in func() map[string]bool) (undo *dashboard.Undo, why string) {
	do := "back"
	if c.What == visitorBack {
		do = "ahead"
	}
	switch {
	case hasLine(of) && do == "back":
		return nil, "In an exact line, who was put ahead stays there."
	case of.IsAhead(a.Clock(), c.To) == (do == "ahead"):
		return nil, soAgain
	case do == "back" && in()[c.To]:
		return nil, "They are in by now."
	}
	return &dashboard.Undo{Action: pageOf(of, "visitors/"+c.To+"/ask"), Fields: map[string]string{"do": do}}, ""
}

// eventStays says why the change of a planned event is not undone; "" if it can be.
func eventStays(of Room, c record.Change) string {
	e := eventNamed(of, strings.TrimPrefix(c.What, ofEvent))
	switch {
	case e.FromFile || c.By == overrides.ByFile:
		return "The event is in the file."
	case planOf(&e) == c.From:
		return soAgain
	case e.Name == "" && c.From == "":
		return "The event is gone."
	case c.From != "" && c.Was == "":
		return "The record does not have what it was."
	}
	return ""
}

// planOf is an event in a line, as the record has it; "" for none.
func planOf(e *event.Event) string {
	if e.Name == "" {
		return ""
	}
	return overrides.Plan(e)
}

// undoEvent asks whether a change of a planned event is to be undone.
func (a *api) undoEvent(w http.ResponseWriter, r *http.Request, of Room) {
	what := r.PostFormValue("what")
	changes := a.changesAt(of, r.PostFormValue("done"))
	i := slices.IndexFunc(changes, func(c record.Change) bool { return c.What == what })
	if i < 0 {
		a.refuse(w, r, of, http.StatusGone, goneFromRecord, nil)
		return
	}
	c := changes[i]
	if why := eventStays(of, c); why != "" {
		a.refuse(w, r, of, http.StatusConflict, "Nothing was changed. "+why, nil)
		return
	}
	now := eventNamed(of, strings.TrimPrefix(what, ofEvent))
	do, then := removeEvent, now
	if c.From != "" {
		if do = editEvent; now.Name == "" {
			do = planEvent
		}
		then = event.Event{}
		if json.Unmarshal([]byte(c.Was), &then) != nil {
			a.refuse(w, r, of, http.StatusGone, goneFromRecord, nil)
			return
		}
	}
	a.askWhether(w, r, of, do, &then, dashboard.Question{
		Frame: a.roomFrame(r, of, "-"), Action: pageOf(of, "events/change"), Back: pageOf(of, "history"), Outdated: planOf(&now) != c.To,
		Fields: map[string]string{"do": do, "event": then.Name, "body": c.Was, "was": digestOf(&now), "page": "history"},
	})
}
