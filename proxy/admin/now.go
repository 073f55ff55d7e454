package admin

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

const (
	// maxOccupants is how many of those who are in the page of a room lists by name.
	maxOccupants = 100
	// maxBuckets is how many times of arrival it shows.
	maxBuckets = 100
)

// tab is one of the pages of a room: the last part of its path, and its name.
type tab struct{ path, name string }

// tabs are the pages that every room has.
var tabs = []tab{{"", "Now"}, {"limits", "Limits"}, {"message", "Message and items"}, {"events", "Events"}, {"history", "History"}}

// pageOf is the address of a page of a room.
func pageOf(of Room, path string) string {
	return strings.TrimSuffix("/rooms/"+of.Queue().Name()+"/"+path, "/")
}

// roomFrame is what a page of a room has around it.
func (a *api) roomFrame(r *http.Request, of Room, path string) dashboard.Frame {
	n := of.Queue().Numbers()
	s := a.statusOf(of, n)
	b := &dashboard.Banner{Name: of.Queue().Name(), Reason: reasonOf(s), OutOfDate: s.MessageOutOfDate}
	if b.OutOfDate != "" {
		b.Keep = a.keepMessage(of, path)
	}
	b.State, b.Tone = stateOf(s, &n.Settings)
	if words, page := remedyOf(s.Reason); words != "" && page != path {
		b.Remedy = &dashboard.Tab{Name: words, Path: pageOf(of, page)}
	}
	f := a.frame(r, b.Name)
	shown := slices.Clone(tabs)
	for _, part := range a.parts {
		if part.Tab.Name != "" && part.Tab.Of(of) {
			shown = append(shown, tab{part.Tab.Path, part.Tab.Name})
		}
	}
	for _, t := range shown {
		b.Tabs = append(b.Tabs, dashboard.Tab{Name: t.name, Path: pageOf(of, t.path), Current: t.path == path})
		if t.path == path {
			f.Title = t.name + " · " + b.Name
		}
	}
	f.Room = b
	return f
}

// showNow answers with how a room stands.
func (a *api) showNow(w http.ResponseWriter, r *http.Request, of Room) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	n, d := of.Queue().Numbers(), of.Describe()
	s, name := a.statusOf(of, n), of.Queue().Name()
	v := dashboard.Now{
		Frame: a.roomFrame(r, of, ""), Method: n.Settings.Method.String(), Age: of.Queue().Age(a.Clock(), n), Nodes: n.Nodes, Held: n.Settings.HeldByOperators(),
		Measures: []dashboard.Measure{
			{Name: "In line", Now: n.Waiting},
			{Name: "In now", Now: n.Active, Limit: n.Settings.Slots()},
			{Name: "Let in this minute", Now: n.Admitted, Limit: n.Settings.Allowance()},
		},
		Told: toldNow(n), Buckets: bucketsOf(n), Resource: "/api/v1/rooms/" + name,
	}
	v.Live = true
	a.addHistory(r, &v, of)
	addHappening(&v, of, s)
	if d.Names || n.Active <= maxOccupants { // a crowd without names is not asked for: it would tell codes alone
		v.Occupants = occupantsOf(ctx, of)
	}
	a.show(v.Write(w, r))
}

func bucketsOf(n *estimate.Numbers) []dashboard.Bucket {
	table := bucketTable(n)
	var list []dashboard.Bucket
	for _, b := range table[:min(len(table), maxBuckets)] {
		at, _ := http.ParseTime(b.Key) // which bucketTable has written
		list = append(list, dashboard.Bucket{Key: at, Waiting: b.Data.Waiting, Reserved: b.Data.ReservedSlots})
	}
	return list
}

// occupantsOf are the first of those who are in, with the names that the site gives them.
func occupantsOf(ctx context.Context, of Room) *dashboard.Occupants {
	if of.Queue().StoreFailing() {
		return &dashboard.Occupants{Error: true}
	}
	roster, err := of.Queue().Roster(ctx)
	if err != nil {
		return &dashboard.Occupants{Error: true}
	}
	o := &dashboard.Occupants{More: len(roster.Seated) > maxOccupants}
	for _, s := range roster.Seated[:min(len(roster.Seated), maxOccupants)] {
		o.Names = append(o.Names, dashboard.Occupant{Label: LabelOf(s.Note), Code: of.SupportCode([8]byte(s.ID[:8])), Accepted: s.AcceptedAt.Time(), Expires: s.Expires.Time()})
	}
	return o
}

// showLimits answers with the form that changes a room.
func (a *api) showLimits(w http.ResponseWriter, r *http.Request, of Room) {
	v := dashboard.Limits{
		Frame: a.roomFrame(r, of, "limits"), Form: formOf(of.Queue().Name(), of.Queue().Settings()),
		Overrides: overridesOf(overrides.Of(of.Describe().Configuration)), Proposal: proposalOf(of, "limits"),
	}
	a.show(v.Write(w, r))
}

// overridesOf lists what operators have changed and is not as in the file, the latest first.
func overridesOf(d overrides.Document) []dashboard.Override {
	var list []dashboard.Override
	for name, value := range d.Changes {
		text, err := strconv.Unquote(string(value))
		if err != nil {
			text = string(value)
		}
		if f := queue.Setting(name); f != nil && d.File != nil && valueOf(f, *d.File) == text {
			continue
		}
		list = append(list, dashboard.Override{Name: name, Value: record.ValueInWords(name, text), By: d.By[name].By, At: d.By[name].At, Until: d.By[name].Until})
	}
	slices.SortFunc(list, func(a, b dashboard.Override) int {
		if c := b.At.Compare(a.At); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// showEvents answers with the events of a room, and the form that plans one, or changes the one that
// the query names.
func (a *api) showEvents(w http.ResponseWriter, r *http.Request, of Room) {
	v := dashboard.Events{Frame: a.roomFrame(r, of, "events"), Events: eventsOf(of, a.Clock()), Resource: "/api/v1/rooms/" + of.Queue().Name()}
	file := "the configuration"
	if a.File != nil {
		file = cmp.Or(a.File(), file)
	}
	v.Planner = "Planned by " + file + ": change or cancel it there, " + ReadAgain
	v.Cancelled = a.changesOf(r.Context(), of, slices.DeleteFunc(a.lastDay(of), func(c record.Change) bool {
		name, isEvent := strings.CutPrefix(c.What, ofEvent)
		return !isEvent || c.To != "" || c.By == overrides.ByFile || eventNamed(of, name).Name != ""
	}))
	e, s := eventNamed(of, r.URL.Query().Get("change")), byOperators(of.Queue().Settings())
	if e.FromFile { // which is changed there
		e = event.Event{}
	}
	v.Form = formOfEvent(e, a.Clock(), s.CutsBuckets())
	a.show(v.Write(w, r))
}

// lastDay are the changes of a room in the last day.
func (a *api) lastDay(of Room) []record.Change {
	now := a.Clock()
	return a.Record.Excerpt(of.Queue().Name(), now.Add(-24*time.Hour), now.Add(time.Second)).Changes
}

// showHistory answers with what has happened in a room.
func (a *api) showHistory(w http.ResponseWriter, r *http.Request, of Room) {
	now, name := a.Clock(), of.Queue().Name()
	v := dashboard.History{Frame: a.roomFrame(r, of, "history"), Resource: "/api/v1/rooms/" + name}
	v.Events = pastEvents(of, now)
	v.Changes = a.changesOf(r.Context(), of, a.lastDay(of))
	for day := range record.Days {
		from := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -day)
		v.Days = append(v.Days, dashboard.Day{Name: from.Format("Monday, 2 January"), Key: from.Format(time.DateOnly), Ago: day})
	}
	a.show(v.Write(w, r))
}
