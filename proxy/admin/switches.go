package admin

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

// switches are the settings that the dashboard changes; the message and the items have a page of their own. The API
// changes more.
var switches = []string{"total_active_users", "new_users_per_minute", "queueing_method", "queue_all", "suspended", "hold_active", "on_sold_out", "message", "items"}

// warnings are what operators are told before they change a setting to a value.
var warnings = map[string]map[string]string{
	"queue_all": {"true": "Nobody new is let in while this is on."},
	"hold_active": {
		"ending": "Nobody new is let in, and no session is renewed: those who are in leave as their sessions end.",
		"now":    "Nobody new is let in, and those who are in are held at once: they see a page that says so. Their sessions stand still until it is switched off.",
	},
	"on_sold_out":     {"close": "Once the origin says that nothing is left, everybody who waits is told so and turned away. What it has said before the change does not count."},
	"suspended":       {"true": "While the room is suspended everybody passes, and nobody is counted."},
	"queueing_method": {"reject": "With reject everybody new is turned away.", "passthrough": "With passthrough everybody is let in, whatever the limits are."},
}

// formOf is the form that changes a room.
func formOf(name string, s queue.Settings) dashboard.Form {
	form := dashboard.Form{Room: name}
	for _, name := range switches {
		if name == "message" || name == "items" {
			continue
		}
		f := queue.Setting(name)
		field := dashboard.Field{Name: name, Value: valueOf(f, byOperators(s)), Choices: f.Choices, Kind: "choice"}
		switch f.Type.Kind() {
		case reflect.Bool:
			field.Choices = []string{"false", "true"}
		case reflect.Int:
			field.Kind = "number"
		default:
		}
		form.Fields = append(form.Fields, field)
	}
	return form
}

// valueOf is the value of a setting as a file would have it.
func valueOf(f *setting.Field, s queue.Settings) string {
	return f.Text(f.Of(reflect.ValueOf(&s).Elem()))
}

// asFile stands for the value that the file has.
const asFile = "as in the file"

// askForChange answers a form with the question whether its change is to be made.
func (a *api) askForChange(w http.ResponseWriter, r *http.Request, of Room) {
	if !a.readForm(w, r, of) {
		return
	}
	patch, faults := patchOf(r)
	switch {
	case len(faults) > 0:
		a.refuse(w, r, of, http.StatusUnprocessableEntity, "Nothing was changed.", faults)
	case len(patch) == 0:
		a.refuse(w, r, of, http.StatusOK, "Nothing was changed: the form has the values that the room had.", nil)
	default:
		a.ask(w, r, of, patch, false)
	}
}

// makeChange makes a change that its operator has been asked about. If the room was changed
// meanwhile, they are asked again.
func (a *api) makeChange(w http.ResponseWriter, r *http.Request, of Room) {
	if !a.readForm(w, r, of) {
		return
	}
	lasts, ok := parseLasts(r.PostFormValue("for"))
	if !ok {
		a.refuse(w, r, of, http.StatusUnprocessableEntity, "Nothing was changed: for how long is not known.", nil)
		return
	}
	text, faults := withMessage(r, of, []byte(r.PostFormValue("patch")), lasts)
	if len(faults) > 0 {
		a.refuse(w, r, of, http.StatusUnprocessableEntity, "Nothing was changed.", faults)
		return
	}
	if version := of.Describe().Configuration.Version; r.PostFormValue("version") != strconv.FormatInt(version, 10) {
		var patch map[string]json.RawMessage
		if json.Unmarshal(text, &patch) == nil {
			a.ask(w, r, of, patch, true)
			return
		}
	}
	a.changeAndTell(w, r, of, text, lasts)
}

// changeAndTell makes a change, for so long or for good, and shows the page that the operator came
// from, with what was done.
func (a *api) changeAndTell(w http.ResponseWriter, r *http.Request, of Room, patch []byte, lasts time.Duration) {
	before := overrides.Of(of.Describe().Configuration).By
	if err := a.change(r, of, patch, lasts); err != nil {
		status, detail, faults := unchanged(err)
		a.refuse(w, r, of, status, detail, faults)
		return
	}
	done := &dashboard.Done{Text: of.Queue().Name() + " is changed, on every gate."}
	c := of.Describe().Configuration
	at := strconv.FormatInt(c.At.Time().UnixMilli(), 10)
	var ends []time.Time // of what was before, by itself
	for _, change := range a.changesAt(of, at) {
		if queue.Setting(change.What) != nil {
			done.What = append(done.What, dashboard.Line{Name: change.What, Now: record.ValueInWords(change.What, change.From), Then: record.ValueInWords(change.What, change.To)})
			done.Until = overrides.Of(c).By[change.What].Until
			ends = append(ends, before[change.What].Until)
		}
	}
	page := r.PostFormValue("page")
	if back, _ := a.backTo(of, at, ""); len(back) > 0 && len(slices.CompactFunc(ends, time.Time.Equal)) == 1 { // one change has one end
		fields := map[string]string{"done": at, "page": page, "version": strconv.FormatInt(c.Version, 10)}
		if !ends[0].IsZero() {
			fields["until"] = strconv.FormatInt(ends[0].UnixMilli(), 10)
		}
		done.Undo = &dashboard.Undo{Action: pageOf(of, "undo"), Fields: fields}
	}
	a.tell(w, r, pageOf(of, page), done)
}

// undo puts settings back that an operator has changed at some moment: at once, if they are as the
// operator has left them and have just been changed, and else they are asked.
func (a *api) undo(w http.ResponseWriter, r *http.Request, of Room) {
	if !a.readForm(w, r, of) {
		return
	}
	if strings.HasPrefix(r.PostFormValue("what"), ofEvent) {
		a.undoEvent(w, r, of)
		return
	}
	patch, asLeft := a.backTo(of, r.PostFormValue("done"), r.PostFormValue("what"))
	lasts := time.Duration(0)
	if until := parseMillis(r.PostFormValue("until")); until > 0 {
		lasts = time.UnixMilli(until).Sub(a.Clock())
	}
	switch {
	case lasts < 0:
		a.refuse(w, r, of, http.StatusGone, "Nothing was changed: what was before would have ended by itself meanwhile.", nil)
	case len(patch) == 0:
		a.refuse(w, r, of, http.StatusGone, goneFromRecord, nil)
	case !asLeft || r.PostFormValue("version") != strconv.FormatInt(of.Describe().Configuration.Version, 10):
		a.ask(w, r, of, patch, !asLeft)
	default:
		text, _ := json.Marshal(patch) // which is JSON
		a.changeAndTell(w, r, of, text, lasts)
	}
}

// goneFromRecord is what somebody is told who undoes what nobody knows any more.
const goneFromRecord = "Nothing was changed: the record does not have this change any more."

// parseMillis reads a moment as addresses have it; 0 for what is none.
func parseMillis(text string) int64 {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return ms
}

// changesAt are the changes of settings that were made at a moment, as a query has it.
func (a *api) changesAt(of Room, done string) []record.Change {
	at := queue.Instant(parseMillis(done)).Time()
	return a.Record.Excerpt(of.Queue().Name(), at, at.Add(time.Millisecond)).Changes
}

// backTo is the change that puts back what was changed at a moment: all of it, or one setting. It
// says whether the settings still are as they were left then.
func (a *api) backTo(of Room, done, what string) (patch map[string]json.RawMessage, asLeft bool) {
	now := byOperators(of.Queue().Settings())
	file := overrides.Of(of.Describe().Configuration).File
	patch, asLeft = map[string]json.RawMessage{}, true
	for _, c := range a.changesAt(of, done) {
		f := queue.Setting(c.What)
		if f == nil || !f.Live || what != "" && what != c.What {
			continue
		}
		v, problem := f.Parse(c.From)
		if problem != "" {
			continue
		}
		asLeft = asLeft && valueOf(f, now) == c.To
		if patch[c.What], _ = f.JSON(v); file != nil && valueOf(f, *file) == c.From {
			patch[c.What] = json.RawMessage("null")
		}
	}
	return patch, asLeft
}

// readForm reads the form that a request brings; if it cannot, it has answered instead.
func (a *api) readForm(w http.ResponseWriter, r *http.Request, of Room) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		a.refuse(w, r, of, http.StatusBadRequest, "Nothing was changed: the form could not be read.", nil)
		return false
	}
	return true
}

// refuse answers with why nothing was changed.
func (a *api) refuse(w http.ResponseWriter, r *http.Request, of Room, status int, detail string, faults []string) {
	v := dashboard.Refusal{Frame: a.roomFrame(r, of, "-"), Status: status, Detail: detail, Faults: faults, Back: pageOf(of, r.PostFormValue("page")), Refused: r.Method != http.MethodGet || status >= http.StatusInternalServerError}
	v.Title = refusalTitle(r, status)
	a.show(v.Write(w, r))
}

// refusalTitle is that of the page that refuses a request.
func refusalTitle(r *http.Request, status int) string {
	switch {
	case status >= http.StatusInternalServerError: // something may have been changed
		return "This did not work"
	case r.Method == http.MethodGet:
		return "There is nothing here"
	}
	return "Nothing was changed"
}

// patchOf is the change that a form asks for: the settings whose values are not those that the form
// came with. The faults are all values that do not fit.
func patchOf(r *http.Request) (patch map[string]json.RawMessage, faults []string) {
	patch = map[string]json.RawMessage{}
	readItems(r)
	for _, name := range switches {
		given, was := textOf(r, name), textOf(r, "was."+name)
		if !r.PostForm.Has(name) || given == was {
			continue
		}
		f := queue.Setting(name)
		v, problem := f.Parse(given)
		if problem != "" {
			if name != "items" { // which nobody has written as one text
				problem = "is " + given + ", which " + problem
			}
			faults = append(faults, name+" "+problem)
			continue
		}
		patch[name], _ = f.JSON(v) // what was parsed can be written
	}
	if name := r.PostFormValue("reset"); queue.Setting(name) != nil {
		patch[name] = json.RawMessage("null")
	}
	return patch, faults
}

// textOf is a value of a form, without what browsers and fingers add.
func textOf(r *http.Request, name string) string {
	return strings.TrimSpace(strings.ReplaceAll(r.PostFormValue(name), "\r\n", "\n"))
}

// eventNamed is the event of a room that has a name; the zero Event if there is none.
func eventNamed(of Room, name string) event.Event {
	events := of.Events()
	if i := events.Named(name); i >= 0 {
		return events[i]
	}
	return event.Event{}
}

// ask answers with the question whether a change is to be made.
func (a *api) ask(w http.ResponseWriter, r *http.Request, of Room, patch map[string]json.RawMessage, outdated bool) {
	text, _ := json.Marshal(patch) // which was JSON
	if err := of.Check(a.Clock(), text); err != nil {
		status, detail, faults := unchanged(err)
		a.refuse(w, r, of, status, detail, faults)
		return
	}
	now, page := of.Queue().Settings(), r.PostFormValue("page")
	s, own := byOperators(now), eventNamed(of, now.Event.Name).Overrides
	q := dashboard.Question{
		Frame: a.roomFrame(r, of, "-"), Action: pageOf(of, "change"), Back: pageOf(of, page), Outdated: outdated, For: r.PostFormValue("for"),
		Fields: map[string]string{"patch": string(text), "version": strconv.FormatInt(of.Describe().Configuration.Version, 10), "page": page},
	}
	q.Title = "Really change " + of.Queue().Name() + "?"
	next, file := now, overrides.Of(of.Describe().Configuration).File
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		f := queue.Setting(name)
		if f == nil {
			continue // the change is refused if it is made
		}
		then := asFile
		if v, err := f.ParseJSON(patch[name]); err == nil {
			then = f.Text(v)
			f.Of(reflect.ValueOf(&next).Elem()).Set(v)
		} else if file != nil {
			f.Of(reflect.ValueOf(&next).Elem()).Set(f.Of(reflect.ValueOf(file).Elem()))
		}
		if warning := warnings[name][then]; warning != "" {
			q.Warnings = append(q.Warnings, warning)
		}
		if none, holds := withoutHold[name]; holds && (then == none || then == asFile) {
			q.Forget = messageWith(overrides.Of(of.Describe().Configuration), name)
		} else if holds && patch["message"] == nil {
			q.MayTell = queue.Setting("message").Max
		}
		if own[name] != nil {
			q.Warnings = append(q.Warnings, "The event "+now.Event.Name+" has its own "+name+". The change shows when the event is over.")
		}
		q.Lines = append(q.Lines, dashboard.Line{Name: name, Now: record.ValueInWords(name, valueOf(f, s)), Then: record.ValueInWords(name, then)})
	}
	numbers := of.Queue().Numbers()
	if told := overrides.ReadTogether(&s, new(byOperators(next)), numbers.Reason()); told != "" && q.Forget == "" { // which asks about the message
		q.Warnings = append(q.Warnings, told)
	}
	q.MayEnd = !slices.ContainsFunc(slices.Collect(maps.Values(patch)), func(value json.RawMessage) bool { return string(value) == "null" })
	q.Forecast = forecast(numbers, &next)
	a.show(q.Write(w, r))
}
