package dashboard

import "net/http"

// Form is what can be changed of a room.
type Form struct {
	Room   string
	Fields []Field
}

// Field is a setting in a form.
type Field struct {
	Name    string
	Usage   string
	Value   string // as a file would have it
	Choices []string
	Kind    string // number, switch, choice or text
	Max     string // of a text, in characters
}

// Question asks whether a change is to be made.
type Question struct {
	Room     string
	Patch    string // the change, as the API takes it
	Version  int64  // of the configuration that it was made for
	Lines    []Line
	Warnings []string
	Outdated bool // somebody has changed the room since the question was asked
	LoggedIn bool
}

// Line is a setting that is to be changed.
type Line struct{ Name, Now, Then string }

// Write answers with the question.
func (c Question) Write(w http.ResponseWriter) error {
	return write(w, http.StatusOK, "question.html", c)
}

// Refusal says why nothing was changed.
type Refusal struct {
	Room     string
	Status   int
	Detail   string
	Faults   []string
	LoggedIn bool
}

// Write answers with the reason.
func (r Refusal) Write(w http.ResponseWriter) error { return write(w, r.Status, "refusal.html", r) }
