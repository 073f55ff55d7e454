package admin

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/record/chart"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

const (
	// maxShown is how many rooms the overview shows.
	maxShown = 100
	// maxNext is how many events it shows.
	maxNext = 20
	// patience is how long the dashboard waits for the stores, and for what features ask, for all of
	// them together.
	patience = 2 * time.Second
)

// pages are the resources of the dashboard, which are for browsers.
func (a *api) pages() []Resource {
	const one = "/rooms/{room}"
	all := []Resource{
		{Pattern: "GET /{$}", Answer: a.getOverview},
		{Pattern: "GET " + one, Answer: a.withRoom(a.showNow)},
		{Pattern: "GET " + one + "/limits", Answer: a.withRoom(a.showLimits)},
		{Pattern: "GET " + one + "/message", Answer: a.withRoom(a.showMessage)},
		{Pattern: "GET " + one + "/preview", Answer: a.withRoom(a.showPreview)},
		{Pattern: "GET " + one + "/events", Answer: a.withRoom(a.showEvents)},
		{Pattern: "POST " + one + "/events/ask", Answer: a.withRoom(a.askAboutEvent)},
		{Pattern: "POST " + one + "/events/change", Answer: a.withRoom(a.changeEventInPage)},
		{Pattern: "GET " + one + "/history", Answer: a.withRoom(a.showHistory)},
		{Pattern: "GET " + one + "/report", Answer: a.withRoom(a.showReport)},
		{Pattern: "POST " + one + "/ask", Answer: a.withRoom(a.askForChange)},
		{Pattern: "POST " + one + "/change", Answer: a.withRoom(a.makeChange)},
		{Pattern: "POST " + one + "/undo", Answer: a.withRoom(a.undo)},
		{Pattern: "GET /visitors", Answer: a.searchVisitors},
		{Pattern: "GET " + one + "/visitors/{code}", Answer: a.withRoom(a.showVisitor)},
		{Pattern: "POST " + one + "/visitors/{code}/ask", Answer: a.withRoom(a.askAboutVisitor)},
		{Pattern: "POST " + one + "/visitors/{code}/change", Answer: a.withRoom(a.changeVisitor)},
		{Pattern: "POST " + logOutPath, Answer: a.logOut},
	}
	for _, part := range a.parts {
		all = append(all, part.Tab.Pages...)
	}
	return all
}

// frame is what a page has around it.
func (a *api) frame(r *http.Request, title string) dashboard.Frame {
	done := a.notices.get(r.URL.Query().Get("done"))
	o, _ := a.operatorOf(r)
	return dashboard.Frame{Title: title, At: a.Clock(), LoggedIn: a.asks(), Views: o.Views, Docs: a.Docs != nil, Done: done}
}

// getOverview answers with the dashboard. It asks no store how the rooms stand: it shows what the
// gate knows. Only for the sections of features it asks, and waits for all of them no longer than
// patience.
func (a *api) getOverview(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	o := dashboard.Overview{Frame: a.frame(r, "Rooms")}
	o.Live = true
	var rows []ranked
	for of := range a.Gate.Rooms() {
		rows = append(rows, a.rowOf(of))
		o.Next = append(o.Next, nextOf(of, a.Clock())...)
	}
	slices.SortStableFunc(rows, ranked.compare)
	o.More = max(0, len(rows)-maxShown)
	for _, row := range rows[:len(rows)-o.More] {
		if begins := a.addPast(&row.Row, row.own); !begins.IsZero() && (o.TrendSince.IsZero() || begins.Before(o.TrendSince)) {
			o.TrendSince = begins
		}
		o.Rooms = append(o.Rooms, row.Row)
	}
	if !o.TrendSince.After(hourBefore(a.Clock())) {
		o.TrendSince = time.Time{} // an hour has to be explained to nobody
	}
	slices.SortStableFunc(o.Next, func(a, b dashboard.Next) int { return a.At.Compare(b.At) })
	o.Next = o.Next[:min(len(o.Next), maxNext)]
	for _, part := range a.parts {
		if part.Section == nil {
			continue
		}
		section, err := part.Section(ctx)
		a.show(err)
		o.Sections = append(o.Sections, section)
	}
	a.show(o.Write(w, r))
}

// ranked is a room on the overview, and what puts it before others.
type ranked struct {
	dashboard.Row
	own bool // the record has it by itself
}

// tones are those of the states, the worst first.
var tones = []string{"alarm", "busy", "calm"}

// compare puts rooms in trouble first, and then those with the longest lines.
func (r ranked) compare(o ranked) int {
	return cmp.Or(cmp.Compare(slices.Index(tones, r.Tone), slices.Index(tones, o.Tone)), cmp.Compare(o.Queued, r.Queued), cmp.Compare(r.Name, o.Name))
}

// rowOf is a room on the overview, without what the record has of it.
func (a *api) rowOf(of Room) ranked {
	n := of.Queue().Numbers()
	s := a.statusOf(of, n)
	row := dashboard.Row{Name: of.Queue().Name(), Queued: n.Waiting, Told: toldNow(n), Active: dashboard.Measure{Now: n.Active, Limit: n.Settings.Slots()}}
	row.State, row.Tone = stateOf(s, &n.Settings)
	row.Reason = strings.TrimSpace(reasonOf(s) + " " + s.MessageOutOfDate)
	return ranked{row, of.Describe().Family == ""}
}

// reasonOf says why people wait; "" where nobody has to.
func reasonOf(s StatusJSON) string {
	switch {
	case s.Reason == estimate.OriginSlow && s.Explanation != "":
		return s.Explanation // which says the same, with numbers
	case s.Reason != estimate.NoReason || s.OpenToAll:
		return s.ReasonText
	}
	return ""
}

// remedyOf is what operators can do about the reason why people wait: in words, and the page of the
// room where they do it; "" where no page of the room does it.
func remedyOf(why estimate.Reason) (words, page string) {
	switch why {
	case estimate.LimitReached, estimate.PerMinuteLimit, estimate.OriginSlow, estimate.MethodRejects, estimate.ActiveHeld:
		return "Change limits…", "limits"
	case estimate.QueueAll:
		return "Let people in again…", ""
	case estimate.EventHolds:
		return "See the event…", "events"
	case estimate.SoldOut:
		return "Change what there is…", "message"
	default:
		return "", ""
	}
}

// toldNow is the wait that somebody is told who comes now, in words.
func toldNow(n *estimate.Numbers) string {
	if !n.Queueing() {
		return "none"
	}
	w := n.LongestWait()
	if !w.Known || n.Pause != estimate.NoPause {
		return "not known"
	}
	return dashboard.FormatWait(w.Minutes * 60)
}

// hourBefore is when the last hour begins that is told in whole minutes.
func hourBefore(now time.Time) time.Time {
	return now.Add(-waitsOver).Truncate(time.Minute).Add(time.Minute)
}

// addPast adds to a room what the record has of its last hour, and returns when its trend begins; zero
// if none is drawn.
func (a *api) addPast(row *dashboard.Row, own bool) (begin time.Time) {
	row.Waited = "–"
	if !own {
		return begin
	}
	now := a.Clock()
	past := a.Record.Excerpt(row.Name, now.Add(-waitsOver), now.Add(time.Second)).Minutes
	if w := waitsIn(past); w.Waited != nil {
		row.Waited = dashboard.FormatWait(w.Waited.P50)
	}
	if len(past) < shortestTrend {
		return begin
	}
	if begin = hourBefore(now); past[0].At.After(begin) {
		begin = past[0].At
	}
	values, most := make([]float64, int(now.Sub(begin)/time.Minute)+1), 0
	for i := range values {
		values[i] = math.NaN()
	}
	for _, m := range past {
		if i := int(m.At.Sub(begin) / time.Minute); m.Room != nil && i >= 0 && i < len(values) {
			values[i] = float64(m.Room.QueuedMost)
			most = max(most, m.Room.QueuedMost)
		}
	}
	row.Trend = template.HTML(chart.Spark(values, fmt.Sprintf("People in line in the last hour: at most %d", most))) //nolint:gosec // package chart escapes all text
	return begin
}

// shortestTrend is how many minutes a trend is drawn of at least: one is a dot.
const shortestTrend = 2

// nextOf are the events of a room that go on or are to come, and what happens next in each.
func nextOf(of Room, now time.Time) []dashboard.Next {
	var list []dashboard.Next
	for _, e := range of.Events() {
		if e.Suspended || !now.Before(e.End) {
			continue
		}
		n := dashboard.Next{Room: of.Queue().Name(), Name: e.Name, Phase: phaseOf(&e, now), What: "ends", At: e.End}
		switch {
		case e.PhaseAt(now) == event.Started:
		case !e.Prequeue.IsZero() && now.Before(e.Prequeue):
			n.What, n.At = "prequeue begins", e.Prequeue
		default:
			n.What, n.At = "starts", e.Start
		}
		list = append(list, n)
	}
	return list
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
	case s.Status == queueing && s.EstimatedQueuedUsers == 0:
		return "Nobody in line", "calm"
	case s.Status == queueing:
		return "Queueing", "busy"
	case settings.Shadow && settings.AdmitsEveryone():
		return "Shadow mode", "calm"
	}
	return "Not queueing", "calm"
}
