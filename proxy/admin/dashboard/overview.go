package dashboard

import (
	"html/template"
	"net/http"
	"time"
)

// Overview is the page with all rooms.
type Overview struct {
	Frame
	Rooms []Row
	More  int // how many rooms are not shown

	TrendSince time.Time // when the longest trend begins, if that is less than an hour ago; zero if not

	Next     []Next
	Sections []template.HTML // of features
}

// Row is a room on the overview.
type Row struct {
	Name   string
	State  string // in words
	Tone   string // of the state: calm, busy or alarm
	Reason string // in a sentence; "" where nobody has to wait
	Queued int
	Told   string        // the wait that newcomers are told, in words
	Waited string        // how long half of those waited who were let in lately, in words
	Active Measure       // of its limit
	Trend  template.HTML // of those who waited in the last hour; "" for nothing yet
}

// Next is an event that goes on, or is still to come.
type Next struct {
	Room, Name, Phase    string
	Prequeue, Start, End time.Time
	What                 string    // happens next
	At                   time.Time // when that is
}

// Write answers with the page.
func (o Overview) Write(w http.ResponseWriter, r *http.Request) error {
	return write(w, r, http.StatusOK, "overview.html", o)
}
