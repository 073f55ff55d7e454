package admin

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// showMessage answers with what those who wait are told, as they see it.
func (a *api) showMessage(w http.ResponseWriter, r *http.Request, of Room) {
	s, d, asked := byOperators(of.Queue().Settings()), of.Describe(), r.URL.Query()
	message := queue.Setting("message")
	v := dashboard.Message{
		Frame: a.roomFrame(r, of, "message"), Was: s.Message, Text: s.Message, Max: message.Max, Language: d.Language, Custom: d.Config.Page != nil, States: stateChoices(),
	}
	if doc := overrides.Of(d.Configuration); s.Message != "" && doc.Changes["message"] != nil {
		v.Author = &dashboard.Override{By: doc.By["message"].By, At: doc.By["message"].At, Until: doc.By["message"].Until}
		if v.Remove = "Remove the message…"; doc.File != nil && doc.File.Message != "" {
			v.Remove = "Back to the message of the file…"
		}
	}
	v.Items, v.ItemsWere = itemsOf(s.Items), string(s.Items)
	languages, err := templates.LanguageNames()
	a.show(err)
	for _, code := range slices.Sorted(maps.Keys(languages)) {
		v.Languages = append(v.Languages, dashboard.Choice{Key: code, Name: languages[code]})
	}
	if asked.Has("message") {
		v.Text = asked.Get("message")
	}
	if asked.Has("state") {
		v.State, v.Language = asked.Get("state"), asked.Get("lang")
	}
	v.Preview = pageOf(of, "preview") + "?" + url.Values{"state": {v.State}, "lang": {v.Language}, "message": {v.Text}}.Encode()
	a.show(v.Write(w, r))
}

// keepMessage are the fields of the form by which operators have the message stay as it is, for as long
// as it was to last, beside what people read now.
func (a *api) keepMessage(of Room, page string) map[string]string {
	c := of.Describe().Configuration
	d := overrides.Of(c)
	patch, _ := json.Marshal(overrides.Changes{"message": d.Changes["message"]}) // which was JSON
	fields := map[string]string{"patch": string(patch), "version": strconv.FormatInt(c.Version, 10), "page": strings.TrimPrefix(page, "-")}
	if until := d.By["message"].Until; !until.IsZero() {
		fields["for"] = max(until.Sub(a.Clock()).Truncate(time.Second), time.Second).String()
	}
	return fields
}

// withoutHold are the settings that hold people, with the values by which they do not.
var withoutHold = map[string]string{"queue_all": "false", "hold_active": queue.HoldOff.String()}

// messageWith is the message that operators have given in one step with a hold; "" for none.
func messageWith(d overrides.Document, hold string) (message string) {
	if d.Changes["message"] == nil || d.Changes[hold] == nil || !d.By["message"].At.Equal(d.By[hold].At) {
		return ""
	}
	_ = json.Unmarshal(d.Changes["message"], &message) // which was checked as it was set
	return message
}

// withMessage is a patch with what its operator says of the message: what it becomes with a hold, or
// that it goes with one. Then it is as in the file again.
func withMessage(r *http.Request, of Room, text []byte, lasts time.Duration) (with []byte, faults []string) {
	told, forget := textOf(r, "tell"), r.PostFormValue("forget") != ""
	var patch map[string]json.RawMessage
	if told == "" && !forget || json.Unmarshal(text, &patch) != nil {
		return text, nil // what is no patch is refused where it is made
	}
	f := queue.Setting("message")
	if file := overrides.Of(of.Describe().Configuration).File; forget && lasts > 0 && file != nil {
		told = file.Message // null is for good
	}
	v, problem := f.Parse(told)
	if problem != "" {
		return nil, []string{"message is " + told + ", which " + problem}
	}
	if patch["message"], _ = f.JSON(v); forget && lasts == 0 {
		patch["message"] = json.RawMessage("null")
	}
	with, _ = json.Marshal(patch) // which was JSON
	return with, nil
}
