package admin

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

const (
	// eventsShownFor is how long the dashboard shows an event after its end.
	eventsShownFor = 24 * time.Hour
	// maxEvents is how many events it shows of a room.
	maxEvents = 20
)

// addHappening adds to a room what happens to it beside its line: the pace of the origin, the limits
// that are proposed, and what is left.
func addHappening(v *dashboard.Now, of Room, s StatusJSON) {
	if s.Explanation != v.Room.Reason {
		v.Explanation = s.Explanation
	}
	if s.Origin != nil {
		v.Origin = measuredOf(s.Origin)
	}
	v.Proposal = proposalOf(of, "")
	if s.ItemsLeft != nil {
		v.Measures = append(v.Measures, dashboard.Measure{Name: "Items left, by the origin", Now: *s.ItemsLeft})
	}
}

// proposalOf are the limits that are proposed for a room, on one of its pages; nil for none.
func proposalOf(of Room, page string) *dashboard.Proposal {
	p, seen := of.Queue().Proposal()
	if !seen || p.Sightings == 0 {
		return nil
	}
	return &dashboard.Proposal{
		Text:             fmt.Sprintf("Proposed: total_active_users %d, new_users_per_minute %d. %s", p.TotalActive, p.NewPerMinute, explainProposal(&p)),
		TotalActiveUsers: p.TotalActive, NewUsersPerMinute: p.NewPerMinute, Page: page, Room: of.Queue().Name(), Resource: "/api/v1/rooms/" + of.Queue().Name(),
	}
}

// measuredOf is what this gate has measured of an origin, in words.
func measuredOf(o *originJSON) string {
	return fmt.Sprintf("Measured here, over %d requests: p50 %s, p95 %s, %.1f %% failed.", o.Requests, formatLatency(o.LatencyP50), formatLatency(o.LatencyP95), 100*o.Errors)
}

// formatLatency writes a time of so many seconds in a unit in which it can be read.
func formatLatency(seconds float64) string {
	switch {
	case seconds < .001:
		return "under 1 ms"
	case seconds < 1:
		return fmt.Sprintf("%.0f ms", 1000*seconds)
	}
	return fmt.Sprintf("%.2f s", seconds)
}

// eventsOf are the events of a room that are not long over.
func eventsOf(of Room, now time.Time) []dashboard.Event {
	var list []dashboard.Event
	for _, e := range of.Events() {
		if now.Before(e.End.Add(eventsShownFor)) && len(list) < maxEvents {
			list = append(list, eventOf(of, &e, now))
		}
	}
	return list
}

func eventOf(of Room, e *event.Event, now time.Time) dashboard.Event {
	v := dashboard.Event{
		Name: e.Name, Description: e.Description, Phase: phaseOf(e, now), Prequeue: e.Prequeue, Start: e.Start, End: e.End, Shuffle: e.Shuffle, FromFile: e.FromFile, OwnPage: e.Page != "", HasReport: hasReport(e, now),
		Resource: "/api/v1/rooms/" + of.Queue().Name() + "/events/" + e.Name,
	}
	parts := []chart.Band{{Name: "event", From: e.Start, To: e.End}}
	if !e.Prequeue.IsZero() {
		parts = slices.Insert(parts, 0, chart.Band{Name: "prequeue", From: e.Prequeue, To: e.Start})
	}
	v.Timeline = template.HTML(chart.Timeline(parts, now, "The times of "+e.Name+", which is "+v.Phase)) //nolint:gosec // package chart escapes all text
	if d := of.Draw(e.Name); e.Shuffle && d != nil {
		v.SeedHash, v.Drawn = d.SeedHash(), d.Over(now)
	}
	for _, name := range event.Overridable() {
		if value, own := e.Overrides[name]; own {
			v.Own = append(v.Own, dashboard.Line{Name: name, Then: record.ValueInWords(name, strings.Trim(string(value), `"`))})
		}
	}
	return v
}

// phaseOf is how far an event has come, in words.
func phaseOf(e *event.Event, now time.Time) string {
	phase := e.PhaseAt(now)
	switch {
	case e.Suspended:
		return "suspended"
	case phase == event.Prequeueing:
		return "prequeue"
	case phase == event.Started:
		return "started"
	case now.Before(e.Begin()):
		return "planned"
	}
	return "over"
}
