package dashboard

import (
	"html/template"
	"net/http"
	"time"
)

// Frame is what every page has around it.
type Frame struct {
	Title    string
	At       time.Time
	LoggedIn bool
	Views    bool          // who asks may only look
	Docs     bool          // the documentation is served, at [DocsPath]
	Live     bool          // without script, the page loads itself again: nobody types anything in it
	Every    time.Duration // the script reads the page again so often; 0 for the usual
	Room     *Banner
	Done     *Done
}

// Banner says which room a page is about, and how it stands.
type Banner struct {
	Name   string
	State  string // in words
	Tone   string // of the state: calm, busy or alarm
	Reason string // in a sentence; "" where nobody has to wait
	Remedy *Tab   // what operators can do about the reason, and where; nil for nothing, and where they are there
	Tabs   []Tab

	OutOfDate string            // says that the message may be; "" where it is not
	Keep      map[string]string // the fields of the form that keeps it
}

// Tab is one of the pages of a room.
type Tab struct {
	Name, Path string
	Current    bool
}

// Done says what an operator has just done.
type Done struct {
	Text  string
	What  []Line
	Until time.Time // when it ends by itself; zero for never
	Undo  *Undo     // nil: it cannot be undone
}

// Undo is the button that takes back what was done: a form with its fields.
type Undo struct {
	Action string
	Fields map[string]string
}

// Page is a page of a room that a feature has.
type Page struct {
	Frame
	Content template.HTML
}

// Write answers with the page.
func (p Page) Write(w http.ResponseWriter, r *http.Request) error {
	return write(w, r, http.StatusOK, "page.html", p)
}
