package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/reply"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// Part is what a feature has of the API, and of the dashboard.
type Part struct {
	Resources []Resource
	// Document describes them: lines of an OpenAPI document in the sections of the API's own, each
	// below its heading.
	Document string
	// Begin is the path that all of them can be found from; "" where that is one of a room.
	Begin string
	// Section is the feature's on the dashboard; "" for none now. It is nil for none ever.
	Section func(context.Context) (template.HTML, error)
	// Tab is the feature's page of rooms, beside those that all rooms have; the zero Tab for none.
	Tab Tab
	// Final says, of what the feature notes that operators have done, why History does not undo it.
	Final map[string]string
	// Find returns the visitors of a room whom the feature knows by a text; nil for a feature that knows
	// nobody.
	Find func(ctx context.Context, of Room, text string) ([]queue.ID, error)
	// Past returns the visitors of a room of whom the feature has kept what became of them, by their
	// support code or a part of what the site calls them; nil for a feature that keeps nothing. Each
	// has a story.
	Past func(ctx context.Context, of Room, text string) []FoundVisitor
}

// Tab is a page of rooms that a feature has, and what belongs to it.
type Tab struct {
	Path  string // the last part of its address
	Name  string
	Of    func(Room) bool // says which rooms have it
	Pages []Resource      // the page itself, and those that its links and forms lead to: they are no part of the API
}

// Resource is something that the API answers for: a method and a path, in the form of
// [http.ServeMux], and what answers.
type Resource struct {
	Pattern string
	Answer  http.HandlerFunc
	Keyed   bool // Answer sees to who may ask: the token of operators is not asked for
	Open    bool // everybody may ask
}

// API is what the resources of a feature may ask of the API.
type API struct{ of *api }

// By says who asks, for what is kept and logged of operators.
func (a API) By(r *http.Request) string { return a.of.by(r) }

// IsOperator reports whether the sender of a request has shown to be an operator. Where there is no
// token, everybody is who says to be nobody else.
func (a API) IsOperator(r *http.Request) bool { return a.of.isOperator(r) }

// WrongToken logs that somebody has sent a token that is none.
func (a API) WrongToken(r *http.Request) { a.of.wrongToken(r) }

// WithRoom finds the room that the path names.
func (a API) WithRoom(next func(http.ResponseWriter, *http.Request, Room)) http.HandlerFunc {
	return a.of.withRoom(next)
}

// Note notes in the record of a room what the operator who asks has done.
func (a API) Note(r *http.Request, of Room, what, from, to string) {
	a.of.Record.Note(of.Queue().Name(), record.Change{At: a.of.Clock(), By: a.By(r), What: what, From: from, To: to})
}

// LogOf returns a log of what concerns a room.
func (a API) LogOf(of Room) *zap.Logger { return a.of.log(of) }

// ShowPage answers with the tab of a room that has a path, or with a page below it.
func (a API) ShowPage(w http.ResponseWriter, r *http.Request, of Room, path string, content template.HTML) {
	v := dashboard.Page{Frame: a.of.roomFrame(r, of, path), Content: content}
	a.of.show(v.Write(w, r))
}

// Ask answers with a question. Whoever says no comes back to the page that the form names; to yes the
// action below the room answers.
func (a API) Ask(w http.ResponseWriter, r *http.Request, of Room, title, action string, q dashboard.Question) {
	page := r.PostFormValue("page")
	q.Frame, q.Action, q.Back = a.of.roomFrame(r, of, "-"), pageOf(of, action), pageOf(of, page)
	q.Title, q.Fields["page"] = title, page
	a.of.show(q.Write(w, r))
}

// Tell sends an operator to a page of a room, which says what they have done. An undo is a form for
// the action below the room; nil where there is none.
func (a API) Tell(w http.ResponseWriter, r *http.Request, of Room, page, text, action string, undo map[string]string) {
	done := &dashboard.Done{Text: text}
	if undo != nil {
		done.Undo = &dashboard.Undo{Action: pageOf(of, action), Fields: undo}
	}
	a.of.tell(w, r, pageOf(of, page), done)
}

// Refuse answers with why nothing was changed.
func (a API) Refuse(w http.ResponseWriter, r *http.Request, of Room, status int, detail string, faults ...string) {
	a.of.refuse(w, r, of, status, detail, faults)
}

// ReadAgain ends a sentence about a change of the configuration.
const ReadAgain = "and have the gate read it again: systemctl reload fairdoor, or kill -HUP."

// Lacks answers where a room has not what a request is about, and says how it gets it.
func (a API) Lacks(w http.ResponseWriter, r *http.Request, of Room, status int, detail string) {
	if isPage(r) {
		a.of.refuse(w, r, of, status, detail, nil)
		return
	}
	reply.Problem(w, status, detail)
}

// ReadForm reads the form that a request brings; if it cannot, it has answered instead.
func (a API) ReadForm(w http.ResponseWriter, r *http.Request, of Room) bool {
	return a.of.readForm(w, r, of)
}

// How many a listing tells at a time.
const (
	usualPage = 100 // where nothing else is asked for
	// LargestPage is the most.
	LargestPage = 1000
)

// Most is how many a query asks a listing to tell; it is no answer if limit is not such a number.
func Most(query url.Values) (most int, ok bool) {
	text := query.Get("limit")
	if text == "" {
		return usualPage, true
	}
	most, err := strconv.Atoi(text)
	return most, err == nil && most >= 1 && most <= LargestPage
}

// LimitRule says what limit may be.
var LimitRule = "limit is a whole number from 1 to " + strconv.Itoa(LargestPage)

// ReadChange reads the body of a change, or of an order; if it cannot, it has answered instead.
func ReadChange(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	return readUpTo(w, r, maxPatch)
}

// Decode reads a JSON object that has no other fields than those of into.
func Decode(body []byte, into any) bool {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into) == nil && !decoder.More()
}

// Patient gives a request and its answer longer than the listener gives others.
func Patient(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// A connection that has no deadlines needs no others.
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Time{})
		_ = c.SetWriteDeadline(time.Time{})
		next(w, r)
	}
}

// beginnings lists the paths that all resources can be found from.
func (a *api) beginnings() string {
	paths := []string{"/api/v1/rooms"}
	for _, part := range a.parts {
		if part.Begin != "" {
			paths = append(paths, part.Begin)
		}
	}
	return strings.Join(paths, ", ")
}
