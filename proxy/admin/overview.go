package admin

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

const (
	// maxShown is how many rooms the overview shows.
	maxShown = 50
	// maxCharts is how many of them it shows with charts.
	maxCharts = 10
	// maxOccupants is how many of those who are in it lists by name.
	maxOccupants = 100
	// maxBuckets is how many times of arrival it shows of a room.
	maxBuckets = 100
)

// pages are the resources of the dashboard, which are for browsers.
func (a *api) pages() []Resource {
	return []Resource{
		{Pattern: "GET /{$}", Answer: a.getOverview},
		{Pattern: "POST /rooms/{room}/ask", Answer: a.withRoom(a.askForChange)},
		{Pattern: "POST /rooms/{room}/change", Answer: a.withRoom(a.makeChange)},
		{Pattern: "POST /logout", Answer: a.logOut},
	}
}

// getOverview answers with the dashboard. It asks no store how the rooms stand: it shows what the
// gate knows, and how old that is. Only for the names of those who are in, and for the sections of
// features, it asks, and waits for all of them no longer than patience.
func (a *api) getOverview(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	only := r.URL.Query().Get("room")
	o := dashboard.Overview{At: a.Clock(), LoggedIn: a.Token != "", Still: r.URL.Query().Has("still"), Docs: a.Docs != nil}
	if of, found := a.Gate.Room(r.URL.Query().Get("changed")); found {
		o.Changed = of.Queue().Name()
	}
	for of := range a.Gate.Rooms() {
		switch {
		case only != "" && of.Queue().Name() != only:
		case len(o.Rooms) == maxShown:
			o.More++
		default:
			o.Rooms = append(o.Rooms, a.overviewOf(ctx, of, len(o.Rooms) < maxCharts))
		}
	}
	for _, part := range a.parts {
		if part.Section == nil {
			continue
		}
		section, err := part.Section(ctx)
		a.show(err)
		o.Sections = append(o.Sections, section)
	}
	a.show(o.Write(w))
}

// overviewOf is a room as the dashboard shows it.
func (a *api) overviewOf(ctx context.Context, of Room, charts bool) dashboard.Room {
	n, d := of.Queue().Numbers(), of.Describe()
	s, name := a.statusOf(of, n), of.Queue().Name()
	v := dashboard.Room{
		Name: name, Method: n.Settings.Method.String(), Age: of.Queue().Age(a.Clock(), n), Nodes: n.Nodes, QueueAll: n.Settings.HeldByOperators(),
		Measures: []dashboard.Measure{
			{Name: "Active", Now: n.Active, Limit: n.Settings.Slots()},
			{Name: "Queued", Now: n.Waiting},
			{Name: "Admitted this minute", Now: n.Admitted, Limit: n.Settings.Allowance()},
		},
		Buckets: bucketsOf(s.Buckets), Overrides: overridesOf(overrides.Of(d.Configuration)), Form: formOf(name, n.Settings),
		Resource: "/api/v1/rooms/" + name,
	}
	v.State, v.Tone = stateOf(s, &n.Settings)
	if s.Reason != estimate.NoReason || s.OpenToAll {
		v.Reason = s.ReasonText
	}
	a.addHistory(&v, d.Family == "", charts)
	addHappening(&v, of, n, s)
	if d.Names {
		v.Occupants = occupantsOf(ctx, of)
	}
	return v
}

// stateOf is the state of a room in words, and their tone.
func stateOf(s StatusJSON, settings *queue.Settings) (words, tone string) {
	switch {
	case s.Status == suspended:
		return "Suspended", "calm"
	case s.Reason == estimate.StoreUnreachable || s.Reason == estimate.OriginFailing:
		return "Paused", "alarm"
	case s.Reason == estimate.ActiveHeld:
		return "Held", "busy"
	case s.Reason == estimate.QueueAll:
		return "Queue-all", "busy"
	case s.Reason == estimate.SoldOut:
		return "Sold out", "busy"
	case s.Status == eventPrequeueing:
		return "Prequeue of " + s.EventID, "busy"
	case s.OpenToAll:
		return "Open to all", "calm"
	case s.Reason == estimate.OriginSlow:
		return "Slowed", "busy"
	case s.Status == queueing:
		return "Queueing", "busy"
	case settings.Shadow && settings.AdmitsEveryone():
		return "Shadow mode", "calm"
	}
	return "Not queueing", "calm"
}

func bucketsOf(table []bucketJSON) []dashboard.Bucket {
	var list []dashboard.Bucket
	for _, b := range table[:min(len(table), maxBuckets)] {
		list = append(list, dashboard.Bucket{Key: b.Key, Waiting: b.Data.Waiting, Reserved: b.Data.ReservedSlots})
	}
	return list
}

// overridesOf lists what operators have changed, the latest first.
func overridesOf(d overrides.Document) []dashboard.Override {
	var list []dashboard.Override
	for name, value := range d.Changes {
		text, err := strconv.Unquote(string(value))
		if err != nil {
			text = string(value)
		}
		list = append(list, dashboard.Override{Name: name, Value: inWords(text), By: d.By[name].By, At: d.By[name].At})
	}
	slices.SortFunc(list, func(a, b dashboard.Override) int {
		if c := b.At.Compare(a.At); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// patience is how long the dashboard waits for the stores, and for what features ask, for all of them
// together.
const patience = 2 * time.Second

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
		o.Names = append(o.Names, dashboard.Occupant{Label: labelOf(s.Note), Accepted: s.AcceptedAt.Time(), Expires: s.Expires.Time()})
	}
	return o
}
