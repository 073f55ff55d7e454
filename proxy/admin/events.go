package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// maxEvent bounds the body with an event, in bytes: it may have a page.
const maxEvent = 4 * event.MaxPage

// eventResources are the events of a room.
func (a *api) eventResources() []Resource {
	const all = "/api/v1/rooms/{room}/events"
	const one = all + "/{event}"
	return []Resource{
		{Pattern: "GET " + all, Answer: a.withRoom(a.getEvents)},
		{Pattern: "POST " + all, Answer: a.withRoom(a.postEvent)},
		{Pattern: "GET " + one, Answer: a.withEvent(a.getEvent)},
		{Pattern: "PUT " + one, Answer: a.withEvent(a.putEvent)},
		{Pattern: "PATCH " + one, Answer: a.withEvent(a.patchEvent)},
		{Pattern: "DELETE " + one, Answer: a.withEvent(a.deleteEvent)},
		{Pattern: "GET " + one + "/details", Answer: a.withEvent(a.getEventDetails)},
		{Pattern: "GET " + one + "/order", Answer: Patient(a.withRoom(a.getOrder))},
	}
}

// withEvent finds the event that the path names.
func (a *api) withEvent(next func(http.ResponseWriter, *http.Request, Room, event.Event)) http.HandlerFunc {
	return a.withRoom(func(w http.ResponseWriter, r *http.Request, of Room) {
		events := of.Events()
		i := events.Named(r.PathValue("event"))
		if i < 0 {
			noEvent(w, r, of)
			return
		}
		next(w, r, of, events[i])
	})
}

func noEvent(w http.ResponseWriter, r *http.Request, of Room) {
	var names []string
	for _, e := range of.Events() {
		names = append(names, e.Name)
	}
	reply.Problem(w, http.StatusNotFound, "There is no event of this name"+OrOneOf(r.PathValue("event"), names)+". See /api/v1/rooms/"+of.Queue().Name()+"/events.")
}

// EventJSON is an event with how far it has come.
type EventJSON struct {
	event.Event
	EventState
}

// EventState is what an event has beside what is planned.
type EventState struct {
	Phase string    `json:"phase"`          // none, prequeueing or started
	Draw  *drawJSON `json:"draw,omitempty"` // of a shuffled event
}

// drawJSON is what is public of a draw. The seed and the rest are public once the event has
// started.
type drawJSON struct {
	SeedHash string `json:"seed_hash"`
	Seed     string `json:"seed,omitempty"`
	Entries  *int   `json:"entries,omitempty"` // of this gate, as the digest
	Digest   string `json:"digest,omitempty"`
}

// MarshalJSON writes the event's fields, and the others beside them.
func (j EventJSON) MarshalJSON() ([]byte, error) {
	return joined(j.Event, j.EventState)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (j *EventJSON) UnmarshalJSON(text []byte) error {
	return errors.Join(json.Unmarshal(text, &j.Event), json.Unmarshal(text, &j.EventState))
}

func (a *api) describeEvent(of Room, e event.Event) EventJSON {
	now := of.Queue().StoreTime(a.Clock()).Time()
	j := EventJSON{Event: e}
	j.Phase = []string{"none", "prequeueing", "started"}[e.PhaseAt(now)]
	if d := of.Draw(e.Name); e.Shuffle && d != nil {
		j.Draw = &drawJSON{SeedHash: d.SeedHash()}
		if d.Over(now) {
			a.describeOrder(of, d, j.Draw)
		}
	}
	return j
}

func (a *api) describeOrder(of Room, d *event.Draw, j *drawJSON) {
	h, err := of.OrderHeader(d)
	if err != nil {
		a.log(of).Error("entries of a draw not read", zap.String("event", d.Event), zap.Error(err))
		return
	}
	j.Seed, j.Entries, j.Digest = h.Seed, &h.Entries, h.Digest
}

func (a *api) getEvents(w http.ResponseWriter, _ *http.Request, of Room) {
	list := []EventJSON{}
	for _, e := range of.Events() {
		list = append(list, a.describeEvent(of, e))
	}
	reply.JSON(w, list)
}

func (a *api) getEvent(w http.ResponseWriter, _ *http.Request, of Room, e event.Event) {
	reply.JSON(w, a.describeEvent(of, e))
}

// postEvent makes an event.
func (a *api) postEvent(w http.ResponseWriter, r *http.Request, of Room) {
	var made event.Event
	done := a.editFrom(w, r, of, func(events event.List, body []byte) (_ event.List, err error) {
		if made, err = patched(event.Event{}, body); err != nil {
			return nil, err
		}
		if events.Named(made.Name) >= 0 {
			return nil, errTaken
		}
		return append(events, made), nil
	})
	if done {
		reply.Created(w, "/api/v1/rooms/"+of.Queue().Name()+"/events/"+made.Name, a.describeEvent(of, made))
	}
}

// putEvent replaces an event as a whole.
func (a *api) putEvent(w http.ResponseWriter, r *http.Request, of Room, e event.Event) {
	a.changeEvent(w, r, of, e.Name, func(event.Event) event.Event { return event.Event{Name: e.Name} })
}

// patchEvent changes some fields of an event, as it is at that moment: others may be changing it,
// too.
func (a *api) patchEvent(w http.ResponseWriter, r *http.Request, of Room, e event.Event) {
	a.changeEvent(w, r, of, e.Name, func(now event.Event) event.Event { return now })
}

// changeEvent puts the request's body over what base makes of an event.
func (a *api) changeEvent(w http.ResponseWriter, r *http.Request, of Room, name string, base func(event.Event) event.Event) {
	var changed event.Event
	done := a.editFrom(w, r, of, func(events event.List, body []byte) (event.List, error) {
		i, err := own(events, name)
		if err != nil {
			return nil, err
		}
		if changed, err = patched(base(events[i]), body); err != nil {
			return nil, err
		}
		if changed.Name != name {
			return nil, &overrides.FaultsError{Faults: []string{"name cannot change: delete the event, and make another"}}
		}
		events[i] = changed
		return events, nil
	})
	if done {
		reply.JSON(w, a.describeEvent(of, changed))
	}
}

func (a *api) deleteEvent(w http.ResponseWriter, r *http.Request, of Room, e event.Event) {
	done := a.edit(w, r, of, func(events event.List) (event.List, error) {
		i, err := own(events, e.Name)
		if err != nil {
			return nil, err
		}
		return slices.Delete(events, i, i+1), nil
	})
	if done {
		w.WriteHeader(http.StatusNoContent)
	}
}

// Why an event is not changed.
var (
	errTaken    = errors.New("the name is taken")
	errChanged  = errors.New("the event has been changed meanwhile")
	errNoEvent  = errors.New("there is no such event")
	errFromFile = errors.New("the event is in a file")
)

// own finds an event that operators have made.
func own(events event.List, name string) (int, error) {
	i := events.Named(name)
	switch {
	case i < 0:
		return 0, errNoEvent
	case events[i].FromFile:
		return 0, errFromFile
	}
	return i, nil
}

// patched is an event with the changes of a body. It fails with ErrNoObject or a FaultsError.
func patched(from event.Event, body []byte) (event.Event, error) {
	e, faults, err := from.Patched(body)
	if err != nil {
		return e, overrides.ErrNoObject
	}
	e.FromFile = false
	texts := make([]string, 0, len(faults))
	for _, f := range faults {
		texts = append(texts, f.Error())
	}
	if texts = append(texts, pageFaults(e.Page)...); len(texts) > 0 {
		return e, &overrides.FaultsError{Faults: texts}
	}
	return e, nil
}

// pageFaults says what is wrong with the page of an event.
func pageFaults(source string) []string {
	if source == "" || len(source) > event.MaxPage {
		return nil
	}
	_, err := templates.Parse([]byte(source))
	var list templates.Faults
	if err != nil && !errors.As(err, &list) {
		return []string{"custom_page_html: " + err.Error()}
	}
	var texts []string
	for _, f := range list {
		texts = append(texts, fmt.Sprintf("custom_page_html: line %d: %s", f.Line, f.Message))
	}
	return texts
}

// editFrom changes the events of a room by what the request's body says, as edit does.
func (a *api) editFrom(w http.ResponseWriter, r *http.Request, of Room, change func(event.List, []byte) (event.List, error)) bool {
	body, ok := readUpTo(w, r, maxEvent)
	return ok && a.edit(w, r, of, func(events event.List) (event.List, error) { return change(events, body) })
}

// edit changes the events of a room, and says whether it has; if it has not, it has answered
// instead.
func (a *api) edit(w http.ResponseWriter, r *http.Request, of Room, change func(event.List) (event.List, error)) bool {
	err := a.editEvents(r, of, change)
	switch {
	case err == nil:
		return true
	case errors.Is(err, errNoEvent):
		noEvent(w, r, of)
	default:
		status, detail, faults := eventsUnchanged(err)
		reply.Problem(w, status, detail, faults...)
	}
	return false
}

// editEvents changes the events of a room, by the operator who asks, and logs what became of it.
func (a *api) editEvents(r *http.Request, of Room, change func(event.List) (event.List, error)) error {
	err := of.EditEvents(r.Context(), a.Clock(), a.by(r), change)
	faults := new(overrides.FaultsError)
	switch {
	case err == nil:
		a.log(of).Info("events changed", zap.String("event", r.PathValue("event")), zap.String("method", r.Method), zap.String("by", a.by(r)))
	case !errors.As(err, &faults) && !errors.Is(err, overrides.ErrNoObject) && !errors.Is(err, errTaken) && !errors.Is(err, errChanged) && !errors.Is(err, errFromFile) && !errors.Is(err, errNoEvent):
		a.log(of).Error("events not changed", zap.Error(err))
	}
	return err
}

// eventsUnchanged tells why events were not changed.
func eventsUnchanged(err error) (status int, detail string, faults []string) {
	switch {
	case errors.Is(err, errTaken):
		return http.StatusConflict, "Nothing was changed: there is an event of this name. Change that one with PUT or PATCH, or choose another name.", nil
	case errors.Is(err, errChanged):
		return http.StatusConflict, "Nothing was changed: somebody has changed the event meanwhile. Look at it again, and then change it.", nil
	case errors.Is(err, errFromFile):
		return http.StatusConflict,
			"Nothing was changed: the event is in the configuration file. Change it there, and have the gate read the file again (SIGHUP); or make another event.", nil
	case errors.Is(err, errNoEvent):
		return http.StatusNotFound, "Nothing was changed: there is no event of this name any more.", nil
	}
	return unchanged(err)
}

// detailsJSON is what a room goes by once an event has started.
type detailsJSON struct {
	event    event.Event
	settings queue.Settings
}

// MarshalJSON writes the settings, and the event's own fields beside them.
func (j detailsJSON) MarshalJSON() ([]byte, error) {
	var prequeue *time.Time
	if !j.event.Prequeue.IsZero() {
		prequeue = &j.event.Prequeue
	}
	return joined(struct {
		Name     string     `json:"name"`
		Start    time.Time  `json:"event_start_time"`
		End      time.Time  `json:"event_end_time"`
		Prequeue *time.Time `json:"prequeue_start_time"`
		Shuffle  bool       `json:"shuffle_at_event_start"`
		Page     string     `json:"custom_page_html"`
	}{j.event.Name, j.event.Start, j.event.End, prequeue, j.event.Shuffle, j.event.Page}, j.settings)
}

// getEventDetails answers with what the room goes by once the event has started, as the room is
// now.
func (a *api) getEventDetails(w http.ResponseWriter, _ *http.Request, of Room, e event.Event) {
	reply.JSON(w, detailsJSON{e, of.Merged(e)})
}

// getOrder answers with the order of a shuffled prequeue that is over, among those who have come to
// this gate. It outlasts the event.
func (a *api) getOrder(w http.ResponseWriter, r *http.Request, of Room) {
	d := of.Draw(r.PathValue("event"))
	if d == nil {
		reply.Problem(w, http.StatusNotFound, "There is no event of this name whose order is drawn.")
		return
	}
	if !d.Over(of.Queue().StoreTime(a.Clock()).Time()) {
		reply.Problem(w, http.StatusConflict, "The order is drawn when the prequeue is over: at "+d.Start.Format(time.RFC3339)+".")
		return
	}
	o, err := of.Order(d)
	if err != nil {
		a.log(of).Error("entries of a draw not read", zap.String("event", d.Event), zap.Error(err))
		reply.Problem(w, http.StatusServiceUnavailable, "The entries cannot be read. See the gate's log.")
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	_ = o.Write(w) // who asked has gone
}
