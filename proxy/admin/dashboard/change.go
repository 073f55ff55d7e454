package dashboard

import (
	"html/template"
	"net/http"
)

// Form is what can be changed of a room.
type Form struct {
	Room   string
	Fields []Field
}

// Field is a setting in a form.
type Field struct {
	Name    string
	Value   string // as a file would have it
	Choices []string
	Kind    string // number or choice
}

// Question asks whether something is to be done.
type Question struct {
	Frame
	Action   string            // where the answer goes
	Fields   map[string]string // that the answer brings along
	Text     string            // what it is about, where it has no lines
	Lines    []Line
	Event    *Event        // that it is about; nil for none
	About    template.HTML // what it is about, as a feature shows it
	Forecast []string      // what it does to the line
	Warnings []string
	Final    bool   // it cannot be undone
	Back     string // the page that the operator came from
	Outdated bool   // somebody has changed the room since the question was asked
	MayEnd   bool   // it may be for some time only
	For      string // the time that was chosen before; "" for none
	MayTell  string // how many characters those who wait may be told with it; "" for none
	Forget   string // the message that came with the hold that is lifted; "" for none
}

// A Choice is one of several.
type Choice struct{ Key, Name string }

// Choices are a group of them.
type Choices struct {
	Name    string
	Choices []Choice
}

// Times are those for which a change may be made.
func (Question) Times() []Choice {
	return []Choice{{"5m", "5 minutes"}, {"10m", "10 minutes"}, {"15m", "15 minutes"}, {"30m", "30 minutes"}, {"1h", "an hour"}, {"4h", "four hours"}}
}

// Line is a setting that is to be changed, or was.
type Line struct{ Name, Now, Then string }

// Write answers with the question.
func (c Question) Write(w http.ResponseWriter, r *http.Request) error {
	return write(w, r, http.StatusOK, "question.html", c)
}

// Refusal says why nothing was changed.
type Refusal struct {
	Frame
	Status  int
	Detail  string
	Faults  []string
	Back    string
	Refused bool // what was asked for was not done
}

// Write answers with the reason.
func (r Refusal) Write(w http.ResponseWriter, q *http.Request) error {
	return write(w, q, r.Status, "refusal.html", r)
}
