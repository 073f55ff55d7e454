package admin

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/report"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// showReport answers with the report of a day of a room, of an event, or of another time.
func (a *api) showReport(w http.ResponseWriter, r *http.Request, of Room) {
	c, err := reportIn(r.URL.Query(), of, a.Clock())
	if err != nil {
		a.refuse(w, r, of, http.StatusUnprocessableEntity, "There is no such report: "+err.Error()+".", nil)
		return
	}
	c.Gates = []record.Excerpt{a.Record.Excerpt(c.Room, c.From, c.To)}
	dashboard.SetHeaders(w.Header(), "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'")
	a.show(report.Make(c).WriteHTML(w))
}

// reportIn is the report that a query asks for, in the zone that it names, or in UTC.
func reportIn(query url.Values, of Room, now time.Time) (c report.Config, err error) {
	c = report.Config{Room: of.Queue().Name(), Event: query.Get("event"), Now: now, Zone: zoneOf(query), Back: pageOf(of, "history")}
	if c.Event == "" {
		c.From, c.To, err = rangeIn(query, c.Zone, now)
	} else {
		e := eventNamed(of, c.Event)
		if c.From, c.To = e.Begin(), e.End; e.Name == "" {
			err = fmt.Errorf("the room has no event %q", c.Event)
		}
	}
	if err == nil && !c.From.Before(now) {
		err = errors.New("that time has not come yet")
	}
	return c, err
}

// zoneOf is the time zone that a query names, or UTC.
func zoneOf(query url.Values) *time.Location {
	zone, err := time.LoadLocation(query.Get("timezone"))
	if err != nil { // browsers have names of their own for zones that they do not know
		return time.UTC
	}
	return zone
}

// rangeIn is the time that a query asks for: from a moment to another, or a day, which is today where
// it names none.
func rangeIn(query url.Values, zone *time.Location, now time.Time) (from, to time.Time, err error) {
	if !query.Has("from") && !query.Has("to") {
		from = now.In(zone)
		if text := query.Get("day"); text != "" {
			if from, err = time.ParseInLocation(time.DateOnly, text, zone); err != nil {
				return from, to, errors.New("day is not a day as in 2026-11-28")
			}
		}
		y, m, d := from.Date()
		return time.Date(y, m, d, 0, 0, 0, 0, zone), time.Date(y, m, d+1, 0, 0, 0, 0, zone), nil
	}
	for name, at := range map[string]*time.Time{"from": &from, "to": &to} {
		if *at, err = momentIn(query.Get(name), zone); err != nil {
			return from, to, fmt.Errorf("%s is not a time as in 2026-11-28T18:00", name)
		}
	}
	switch {
	case !from.Before(to):
		err = errors.New("its begin is not before its end")
	case to.Sub(from) > record.Days*24*time.Hour:
		err = fmt.Errorf("it is longer than the %d days that the record keeps", record.Days)
	}
	return from, to, err
}

// momentIn reads a time with its zone, or as the clock on the wall shows it in one.
func momentIn(text string, zone *time.Location) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	return time.ParseInLocation(typedTime, text, zone)
}

// pastEvents are those events of a room that have begun, and of which the record may have something,
// the latest first.
func pastEvents(of Room, now time.Time) []dashboard.PastEvent {
	var list []dashboard.PastEvent
	for _, e := range slices.Backward(of.Events()) {
		if hasReport(&e, now) {
			list = append(list, dashboard.PastEvent{Name: e.Name, At: e.Begin()})
		}
	}
	return list
}

// hasReport says whether an event has begun, and the record may have something of it.
func hasReport(e *event.Event, now time.Time) bool {
	return !e.Suspended && e.Begin().Before(now) && now.Sub(e.End) < record.Days*24*time.Hour
}
