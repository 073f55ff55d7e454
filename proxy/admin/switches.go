package admin

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

// switches are the settings that the dashboard changes. The API changes more.
var switches = []string{"total_active_users", "new_users_per_minute", "queueing_method", "queue_all", "suspended", "hold_active", "on_sold_out", "message"}

// warnings are what operators are told before they change a setting to a value.
var warnings = map[string]map[string]string{
	"queue_all": {"true": "Nobody new is let in until queue_all is switched off."},
	"hold_active": {
		"ending": "Nobody new is let in, and no session is renewed: those who are in leave as their sessions end.",
		"now":    "Nobody new is let in, and those who are in are held at once: they see a page that says so. Their sessions stand still until hold_active is off.",
	},
	"on_sold_out":     {"close": "Once the origin says that nothing is left, everybody who waits is told so and turned away. What it has said before the change does not count."},
	"suspended":       {"true": "While the room is suspended everybody passes, and nobody is counted."},
	"queueing_method": {"reject": "With reject everybody new is turned away.", "passthrough": "With passthrough everybody is let in, whatever the limits are."},
}

// formOf is the form that changes a room.
func formOf(name string, s queue.Settings) dashboard.Form {
	form := dashboard.Form{Room: name}
	for _, name := range switches {
		f := queue.Setting(name)
		field := dashboard.Field{Name: name, Usage: f.Usage, Value: valueOf(f, byOperators(s)), Choices: f.Choices, Kind: "choice"}
		switch f.Type.Kind() {
		case reflect.Bool:
			field.Choices = []string{"false", "true"}
		case reflect.Int:
			field.Kind = "number"
		case reflect.String:
			field.Kind, field.Max = "text", f.Max
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

// inWords is a value as people read it.
func inWords(value string) string {
	switch value {
	case "true":
		return "on"
	case "false":
		return "off"
	case "":
		return "(empty)"
	}
	return value
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
		a.refuse(w, of, http.StatusUnprocessableEntity, "Nothing was changed.", faults)
	case len(patch) == 0:
		a.refuse(w, of, http.StatusOK, "Nothing was changed: the form has the values that the room had.", nil)
	default:
		a.ask(w, of, patch, false)
	}
}

// makeChange makes a change that its operator has been asked about. If the room was changed
// meanwhile, they are asked again.
func (a *api) makeChange(w http.ResponseWriter, r *http.Request, of Room) {
	if !a.readForm(w, r, of) {
		return
	}
	text := []byte(r.PostFormValue("patch"))
	if version := of.Describe().Configuration.Version; r.PostFormValue("version") != strconv.FormatInt(version, 10) {
		var patch map[string]json.RawMessage
		if json.Unmarshal(text, &patch) == nil {
			a.ask(w, of, patch, true)
			return
		}
	}
	if err := a.change(r, of, text); err != nil {
		status, detail, faults := unchanged(err)
		a.refuse(w, of, status, detail, faults)
		return
	}
	http.Redirect(w, r, "/?changed="+of.Queue().Name()+"#"+of.Queue().Name(), http.StatusSeeOther)
}

// readForm reads the form that a request brings; if it cannot, it has answered instead.
func (a *api) readForm(w http.ResponseWriter, r *http.Request, of Room) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		a.refuse(w, of, http.StatusBadRequest, "Nothing was changed: the form could not be read.", nil)
		return false
	}
	return true
}

// refuse answers with why nothing was changed.
func (a *api) refuse(w http.ResponseWriter, of Room, status int, detail string, faults []string) {
	a.show(dashboard.Refusal{Room: of.Queue().Name(), Status: status, Detail: detail, Faults: faults, LoggedIn: a.Token != ""}.Write(w))
}

// patchOf is the change that a form asks for: the settings whose values are not those that the form
// came with. The faults are all values that do not fit.
func patchOf(r *http.Request) (patch map[string]json.RawMessage, faults []string) {
	patch = map[string]json.RawMessage{}
	for _, name := range switches {
		given, was := textOf(r, name), textOf(r, "was."+name)
		if !r.PostForm.Has(name) || given == was {
			continue
		}
		f := queue.Setting(name)
		v, problem := f.Parse(given)
		if problem != "" {
			faults = append(faults, name+" is "+given+", which "+problem)
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
func (a *api) ask(w http.ResponseWriter, of Room, patch map[string]json.RawMessage, outdated bool) {
	text, _ := json.Marshal(patch) // which was JSON
	now := of.Queue().Settings()
	s, own := byOperators(now), eventNamed(of, now.Event.Name).Overrides
	question := dashboard.Question{
		Room: of.Queue().Name(), Patch: string(text), Version: of.Describe().Configuration.Version, Outdated: outdated, LoggedIn: a.Token != "",
	}
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		f := queue.Setting(name)
		if f == nil {
			continue // the change is refused if it is made
		}
		then := asFile
		if v, err := f.ParseJSON(patch[name]); err == nil {
			then = f.Text(v)
		}
		if warning := warnings[name][then]; warning != "" {
			question.Warnings = append(question.Warnings, warning)
		}
		if own[name] != nil {
			question.Warnings = append(question.Warnings, "The event "+now.Event.Name+" has its own "+name+". The change shows when the event is over.")
		}
		question.Lines = append(question.Lines, dashboard.Line{Name: name, Now: inWords(valueOf(f, s)), Then: inWords(then)})
	}
	a.show(question.Write(w))
}
