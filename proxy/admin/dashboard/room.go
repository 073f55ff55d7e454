package dashboard

import (
	"html/template"
	"net/http"
	"time"
)

// Now is the page of how a room stands.
type Now struct {
	Frame
	Method    string
	Age       time.Duration // of the numbers
	Nodes     int
	Measures  []Measure
	Told      string // the wait that newcomers are told, in words
	Waits     Waits
	Charts    []template.HTML
	Ranges    []Tab // for which there are charts
	Family    bool  // it is a room of a family, of which the record has all rooms together
	Buckets   []Bucket
	Occupants *Occupants // nil where many are in, and the site gives its users no names
	Held      bool       // by operators
	Resource  string     // of the API

	Explanation string // of what the origin's pace and the traffic do to the room; "" for nothing
	Origin      string // how it does, in words; "" where it is not measured
	Proposal    *Proposal
}

// Proposal are limits that were found in shadow mode.
type Proposal struct {
	Text                                string
	TotalActiveUsers, NewUsersPerMinute int
	Page                                string // that asks, below the room
	Room, Resource                      string // the room, and its resource of the API
}

// Write answers with the page.
func (n Now) Write(w http.ResponseWriter, r *http.Request) error {
	return write(w, r, http.StatusOK, "now.html", n)
}

// Limits is the page that changes a room.
type Limits struct {
	Frame
	Form      Form
	Overrides []Override
	Proposal  *Proposal
}

// Write answers with the page.
func (l Limits) Write(w http.ResponseWriter, r *http.Request) error {
	return write(w, r, http.StatusOK, "limits.html", l)
}

// Message is the page of what those who wait are told.
type Message struct {
	Frame
	Was, Text       string    // the message in force, and the one that is shown
	Author          *Override // of the message in force; nil for none, and for that of the file
	Remove          string    // what the button says that takes it away
	Max             string    // its length, in characters
	State, Language string    // that are shown; State is "" for how the room is now
	States          []Choices // others, in groups
	Languages       []Choice  // by their codes
	Custom          bool      // the room has a page of its own
	Items           []Item    // what there is to buy, and lines for more
	ItemsWere       string    // as a file has them
	Preview         string    // the address of the page that is shown
}

// Write answers with the page.
func (m Message) Write(w http.ResponseWriter, r *http.Request) error {
	return write(w, r, http.StatusOK, "message.html", m)
}

// Item is a line of what there is to buy.
type Item struct {
	Name, Price, Left string
	SoldOut           bool // without a number
}

// Events is the page of the events of a room.
type Events struct {
	Frame
	Events    []Event
	Cancelled []Change // by which events went in the last day
	Planner   string   // says where an event is changed that is not changed here
	Form      EventForm
	Resource  string // of the API
}

// EventForm is the form of an event, as browsers have its values: times in UTC, which the script
// makes the viewer's.
type EventForm struct {
	Name                                string // "" for one that is to be planned
	Description                         string
	Prequeue, Start, End                string
	Before, Lasts                       string // of Befores and Lengths
	TotalActiveUsers, NewUsersPerMinute string
	Shuffle                             bool
}

// AtATime stands for a time that is given by itself, and not by how far it is from the start.
const AtATime = "at"

// Befores are how long before the start the prequeue may begin.
func (EventForm) Befores() []Choice {
	return []Choice{
		{"", "no prequeue"}, {"10m", "10 minutes before the start"}, {"15m", "15 minutes before the start"}, {"30m", "30 minutes before the start"},
		{"1h", "an hour before the start"}, {"2h", "two hours before the start"}, {"24h", "a day before the start"}, {AtATime, "at a time of its own"},
	}
}

// Lengths are how long the event may last.
func (EventForm) Lengths() []Choice {
	return []Choice{
		{"30m", "30 minutes after the start"}, {"1h", "an hour after the start"}, {"2h", "two hours after the start"}, {"3h", "three hours after the start"},
		{"6h", "six hours after the start"}, {"12h", "twelve hours after the start"}, {"24h", "a day after the start"}, {AtATime, "at a time of its own"},
	}
}

// Write answers with the page.
func (e Events) Write(w http.ResponseWriter, r *http.Request) error {
	return write(w, r, http.StatusOK, "events.html", e)
}

// Event is an event of a room.
type Event struct {
	Name, Description    string
	Phase                string // in words
	Prequeue, Start, End time.Time
	Timeline             template.HTML // of the event, with now
	Shuffle              bool
	SeedHash             string // of a shuffled event; "" if it is not known yet
	Drawn                bool   // the order is public
	Own                  []Line // the settings that it has of its own
	HasReport            bool   // it has begun
	OwnPage              bool   // those who wait have a page of its own
	FromFile             bool
	Resource             string // of the API
}

// History is the page of what has happened in a room.
type History struct {
	Frame
	Changes  []Change
	Events   []PastEvent
	Days     []Day
	Resource string // of the API
}

// PastEvent is an event that has a report, and its begin.
type PastEvent struct {
	Name string
	At   time.Time
}

// Day is a day of the record.
type Day struct {
	Name string // in words
	Key  string // as addresses have it
	Ago  int    // how many days it is before today
}

// Write answers with the page.
func (h History) Write(w http.ResponseWriter, r *http.Request) error {
	return write(w, r, http.StatusOK, "history.html", h)
}

// Measure is a number with the largest that it was, and its limit.
type Measure struct {
	Name  string
	Now   int
	Max   string // "" if it is not known
	Limit int    // 0 for none
	Hint  string // of what it is, or when
}

// Share is how much of the limit is used, in percent.
func (m Measure) Share() int {
	if m.Limit == 0 {
		return 0
	}
	return min(100*m.Now/m.Limit, 100)
}

// Waits are those of visitors who were let in lately.
type Waits struct {
	Visitors   int // 0 where nobody had waited
	Told, True Percentiles
	Knew       int // who were told a wait
	InTime     int // in percent of those: who were in by then
}

// Percentiles are waits in words.
type Percentiles struct{ P50, P95 string }

// Bucket is a row of the table of those who wait.
type Bucket struct {
	Key               time.Time
	Waiting, Reserved int
}

// Override is a setting that is not as the file has it.
type Override struct {
	Name, Value, By string
	At, Until       time.Time // Until is zero for what does not end by itself
}

// Change is a line of the audit trail.
type Change struct {
	At                 time.Time
	By, What, From, To string
	Undo               *Undo  // nil: it is not undone here
	Why                string // it is not
}

// Occupants are the people who are in, as far as their names are known.
type Occupants struct {
	Names []Occupant
	More  bool
	Error bool // the store did not answer
}

// Occupant is somebody who is in.
type Occupant struct {
	Label             string // "" where it is not known
	Code              string // for support
	Accepted, Expires time.Time
}
