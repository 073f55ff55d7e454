package dashboard

import (
	"fmt"
	"html/template"
	"net/http"
	"time"
)

// Overview is the page with all rooms.
type Overview struct {
	At       time.Time
	LoggedIn bool
	Still    bool   // it does not load itself again without script
	Changed  string // the room that has just been changed; "" for none
	Docs     bool   // the documentation is served, at [DocsPath]
	Rooms    []Room
	More     int             // how many rooms are not shown
	Sections []template.HTML // of features
}

// Room is a room on the overview.
type Room struct {
	Name      string
	State     string // in words
	Tone      string // of the state: calm, busy or alarm
	Reason    string // in a sentence; "" where nobody has to wait
	Method    string
	Age       time.Duration // of the numbers
	Nodes     int
	Measures  []Measure
	Waits     Waits
	Charts    []template.HTML
	Elsewhere bool // the charts are shown where the room is shown alone
	Family    bool // it is a room of a family, of which the record has all rooms together
	Buckets   []Bucket
	Overrides []Override
	Changes   []Change
	Occupants *Occupants // nil where the site gives its users no names
	Form      Form
	QueueAll  bool   // by operators
	Resource  string // of the API

	Explanation string // of what the origin's pace and the traffic do to the room; "" for nothing
	Origin      string // how it does, in words; "" where it is not measured
	Proposal    string // of limits, in shadow mode; "" for none
	Events      []Event
}

// Event is an event of a room.
type Event struct {
	Name, Description    string
	Phase                string // in words
	Prequeue, Start, End time.Time
	Shuffle              bool
	SeedHash             string   // of a shuffled event; "" if it is not known yet
	Drawn                bool     // the order is public
	Own                  []string // the settings that it has of its own, with their values
	FromFile             bool
	Resource             string // of the API
}

// Measure is a number with the largest that it was, and its limit.
type Measure struct {
	Name  string
	Now   int
	Max   string // "" if it is not known
	Limit int    // 0 for none
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
	Key               string
	Waiting, Reserved int
}

// Override is a setting that is not as the file has it.
type Override struct {
	Name, Value, By string
	At              time.Time
}

// Change is a line of the audit trail.
type Change struct {
	At                 time.Time
	By, What, From, To string
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
	Accepted, Expires time.Time
}

// Write answers with the page.
func (o Overview) Write(w http.ResponseWriter) error {
	return write(w, http.StatusOK, "overview.html", o)
}

// FormatWait writes a wait of so many seconds.
func FormatWait(seconds int) string {
	switch {
	case seconds < 90:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 2*60*60:
		return fmt.Sprintf("%d min", (seconds+30)/60)
	}
	return fmt.Sprintf("%d:%02d h", seconds/3600, seconds/60%60)
}

// formatAge writes how old something is.
func formatAge(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}
