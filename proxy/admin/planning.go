package admin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// What operators do to an event in the dashboard, as forms have it.
const (
	planEvent    = "plan"
	editEvent    = "edit"
	suspendEvent = "suspend"
	resumeEvent  = "resume"
	removeEvent  = "delete"
)

// deed is something that is done to an event.
type deed struct {
	question string // before the event's name
	done     string // behind it
	undo     string // the deed that takes it back
}

var deeds = map[string]deed{
	planEvent:    {"Plan", "is planned, on every gate.", removeEvent},
	suspendEvent: {"Suspend", "is suspended: it does not take place.", resumeEvent},
	resumeEvent:  {"Resume", "takes place again.", suspendEvent},
	removeEvent:  {"Cancel", "is cancelled, on every gate.", planEvent},
	editEvent:    {"Change", "is changed, on every gate.", editEvent},
}

// plannedOf is the event that a form makes of another, or of none. Of the two limits, the room's is taken where only the other is given.
func plannedOf(r *http.Request, of Room, from event.Event) (event.Event, error) {
	order := map[string]any{
		"prequeue_start_time": nil, "total_active_users": nil, "new_users_per_minute": nil, // unless the form has them
		"name": textOf(r, "name"), "description": textOf(r, "description"), "shuffle_at_event_start": false,
		"event_start_time": TimeIn(r, "start"), "event_end_time": timeFromStart(r, "end", "lasts", 1),
	}
	if text := timeFromStart(r, "prequeue", "before", -1); text != "" { // without one there is nothing to draw
		order["prequeue_start_time"], order["shuffle_at_event_start"] = text, r.PostFormValue("shuffle") != ""
	}
	limits, s := []string{"total_active_users", "new_users_per_minute"}, byOperators(of.Queue().Settings())
	for i, name := range limits {
		text := textOf(r, name)
		if text == "" && textOf(r, limits[1-i]) != "" { // they go together
			text = valueOf(queue.Setting(name), s)
		}
		if text != "" {
			order[name] = json.RawMessage(text)
			if !json.Valid([]byte(text)) {
				order[name] = text // which the event is refused for
			}
		}
	}
	body, err := json.Marshal(order)
	if err != nil {
		return event.Event{}, err
	}
	e, err := patched(from, body)
	if faults := e.Faults(); err == nil && len(faults) > 0 {
		refused := &overrides.FaultsError{}
		for _, f := range faults {
			refused.Faults = append(refused.Faults, f.Error())
		}
		err = refused
	}
	return e, err
}

// typedTime is how browsers have a time that somebody has typed.
const typedTime = "2006-01-02T15:04"

// formOfEvent is the form that changes an event, or plans one: a sale in a day's time, on the hour, with
// a prequeue, whose order is drawn where the room can.
func formOfEvent(e event.Event, now time.Time, draws bool) dashboard.EventForm {
	typed := func(at time.Time) string {
		switch {
		case at.IsZero():
			return ""
		case at.Second() != 0:
			return at.UTC().Format(typedTime + ":05")
		}
		return at.UTC().Format(typedTime)
	}
	if e.Name == "" {
		return dashboard.EventForm{Start: typed(now.Add(25 * time.Hour).Truncate(time.Hour)), Before: "30m", Lasts: "2h", Shuffle: draws}
	}
	form := dashboard.EventForm{
		Name: e.Name, Description: e.Description, Prequeue: typed(e.Prequeue), Start: typed(e.Start), End: typed(e.End), Shuffle: e.Shuffle,
		TotalActiveUsers: string(e.Overrides["total_active_users"]), NewUsersPerMinute: string(e.Overrides["new_users_per_minute"]),
	}
	form.Lasts = chosenFor(e.End.Sub(e.Start), form.Lengths())
	if !e.Prequeue.IsZero() {
		form.Before = chosenFor(e.Start.Sub(e.Prequeue), form.Befores())
	}
	return form
}

// TimeIn is a time of a form as the API takes it: by the script a time with its zone, and without
// script one of UTC.
func TimeIn(r *http.Request, name string) string {
	text := textOf(r, name)
	for _, layout := range []string{typedTime, typedTime + ":05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Format(time.RFC3339)
		}
	}
	return text
}

// timeFromStart is a time of a form that is given by a field of its own, or by how far it is from the
// start: a choice says which, and a form without the choice has the field. It is "" for none.
func timeFromStart(r *http.Request, name, choice string, sign time.Duration) string {
	chosen, text := textOf(r, choice), TimeIn(r, "start")
	if chosen == dashboard.AtATime || !r.PostForm.Has(choice) {
		return TimeIn(r, name)
	}
	far, err := time.ParseDuration(chosen)
	if err != nil {
		return ""
	}
	start, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text // which the event is refused for
	}
	return start.Add(sign * far).Format(time.RFC3339)
}

// chosenFor is which of several choices stands for a distance from the start: that of a time of its own
// if none does.
func chosenFor(far time.Duration, choices []dashboard.Choice) string {
	for _, c := range choices {
		if d, err := time.ParseDuration(c.Key); err == nil && d == far {
			return c.Key
		}
	}
	return dashboard.AtATime
}

// askAboutEvent answers a form with the question whether something is to be done to an event.
func (a *api) askAboutEvent(w http.ResponseWriter, r *http.Request, of Room) {
	if !a.readForm(w, r, of) {
		return
	}
	what := r.PostFormValue("do")
	q := dashboard.Question{
		Frame: a.roomFrame(r, of, "-"), Action: pageOf(of, "events/change"), Back: pageOf(of, "events"),
		Fields: map[string]string{"do": what, "event": r.PostFormValue("event"), "page": "events"},
	}
	e := eventNamed(of, r.PostFormValue("event"))
	if what == planEvent || what == editEvent && e.Name != "" {
		planned, err := plannedOf(r, of, e)
		body, fault := json.Marshal(planned)
		if err == nil {
			err = fault
		}
		if err != nil {
			status, detail, faults := eventsUnchanged(err)
			a.refuse(w, r, of, status, detail, faults)
			return
		}
		if r.PostFormValue("shuffle") != "" && planned.Prequeue.IsZero() {
			q.Warnings = append(q.Warnings, "Without a prequeue there is nothing to draw: no order is drawn.")
		}
		q.Fields["was"] = digestOf(&e)
		if what == editEvent {
			q.Warnings = append(q.Warnings, startMoves(&e, &planned)...)
		}
		e, q.Fields["body"], q.Fields["event"] = planned, string(body), planned.Name
	}
	if _, known := deeds[what]; !known || e.Name == "" {
		a.refuse(w, r, of, http.StatusNotFound, "Nothing was changed: there is no such event.", nil)
		return
	}
	a.askWhether(w, r, of, what, &e, q)
}

// startMoves says how long the prequeue and the event are then, if the start of an event moves and
// another of its times stays.
func startMoves(from, to *event.Event) []string {
	switch {
	case from.Start.Equal(to.Start) || !from.End.Equal(to.End) && (to.Prequeue.IsZero() || !from.Prequeue.Equal(to.Prequeue)):
		return nil
	case to.Prequeue.IsZero():
		return []string{"The start moves, and the end stays: the event lasts " + spanOf(to.End.Sub(to.Start)) + " then."}
	}
	return []string{"The start moves, and not all the other times do: the prequeue lasts " + spanOf(to.Start.Sub(to.Prequeue)) + " then, and the event " + spanOf(to.End.Sub(to.Start)) + "."}
}

// spanOf is a time in words, without parts that are none.
func spanOf(d time.Duration) string {
	var parts []string
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		switch n := int(d / unit.of); n {
		case 0:
		case 1:
			parts = append(parts, "1 "+unit.name)
		default:
			parts = append(parts, strconv.Itoa(n)+" "+unit.name+"s")
		}
		d %= unit.of
	}
	return strings.Join(parts, " ")
}

// askWhether asks whether something is to be done to an event, which is shown as it is then.
func (a *api) askWhether(w http.ResponseWriter, r *http.Request, of Room, what string, e *event.Event, q dashboard.Question) {
	shown := eventOf(of, e, a.Clock())
	q.Title, q.Event = deeds[what].question+" "+e.Name+"?", &shown
	if what == planEvent || what == editEvent {
		q.Text = foretold(e)
	}
	a.show(q.Write(w, r))
}

// foretold says in sentences what an event does.
func foretold(e *event.Event) string {
	text := "It lasts " + spanOf(e.End.Sub(e.Start)) + "."
	if e.Prequeue.IsZero() {
		return text
	}
	order := "they are let in by the order in which they came"
	if e.Shuffle {
		order = "their order is drawn"
	}
	return "From " + spanOf(e.Start.Sub(e.Prequeue)) + " before the start on everybody new is held; at the start " + order + ". " + text
}

// digestOf tells an event apart from what it is once somebody has changed it.
func digestOf(e *event.Event) string {
	text, _ := json.Marshal(e) // an event can always be written
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// changeEventInPage does to an event what its operator has been asked about, or takes it back.
func (a *api) changeEventInPage(w http.ResponseWriter, r *http.Request, of Room) {
	if !a.readForm(w, r, of) {
		return
	}
	what, name := r.PostFormValue("do"), r.PostFormValue("event")
	if _, known := deeds[what]; !known {
		a.refuse(w, r, of, http.StatusNotFound, "Nothing was changed.", nil)
		return
	}
	undo := map[string]string{"do": deeds[what].undo, "event": name, "page": "events"}
	err := a.editEvents(r, of, func(events event.List) (event.List, error) {
		if what == planEvent {
			e, err := patched(event.Event{}, []byte(r.PostFormValue("body")))
			if err == nil && events.Named(e.Name) >= 0 {
				err = errTaken
			}
			return append(events, e), err
		}
		i, err := own(events, name)
		if err != nil {
			return nil, err
		}
		if what == removeEvent || what == editEvent {
			was, err := json.Marshal(events[i])
			if err != nil {
				return nil, err
			}
			undo["body"] = string(was)
		}
		switch what {
		case removeEvent:
			return slices.Delete(events, i, i+1), nil
		case editEvent:
			changed, err := patched(event.Event{}, []byte(r.PostFormValue("body")))
			switch {
			case err == nil && changed.Name != name:
				err = errTaken
			case err == nil && r.PostFormValue("was") != digestOf(&events[i]):
				err = errChanged
			}
			events[i], undo["was"] = changed, digestOf(&changed)
			return events, err
		}
		events[i].Suspended = what == suspendEvent
		return events, nil
	})
	if err != nil {
		status, detail, faults := eventsUnchanged(err)
		a.refuse(w, r, of, status, detail, faults)
		return
	}
	done := &dashboard.Done{Text: name + " " + deeds[what].done, Undo: &dashboard.Undo{Action: pageOf(of, "events/change"), Fields: undo}}
	a.tell(w, r, pageOf(of, r.PostFormValue("page")), done)
}
