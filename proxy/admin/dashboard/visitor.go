package dashboard

import (
	"net/http"
	"time"
)

// Visitors is the page of those whom an operator has looked for.
type Visitors struct {
	Frame
	Query   string
	Found   []Found
	Failing []string // rooms whose store does not answer
}

// Found is a visitor whom a search has found.
type Found struct{ Room, Code, Label, Status string }

// Write answers with the page.
func (v Visitors) Write(w http.ResponseWriter, r *http.Request) error {
	return write(w, r, http.StatusOK, "visitors.html", v)
}

// Visitor is the page of one visitor.
type Visitor struct {
	Frame
	Code, Label string
	Known       bool // the gate knows where they are
	Active      bool // they are in
	Ahead       bool // operators have put them ahead
	Failing     bool // the store does not answer
	Story       []Sentence
}

// Sentence is one of a visitor's story. It ends with a moment, if it has one.
type Sentence struct {
	Text string
	At   time.Time
}

// Write answers with the page.
func (v Visitor) Write(w http.ResponseWriter, r *http.Request) error {
	return write(w, r, http.StatusOK, "visitor.html", v)
}
