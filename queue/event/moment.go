package event

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // so that zones are known where the system has no list of them
)

// localLayouts are how a time without an offset may be written.
var localLayouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"}

// Zone reads the name of a zone in the IANA database. The problem continues a sentence that begins
// with the name; "" for none.
func Zone(name string) (zone *time.Location, problem string) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, "is not a zone of the IANA database, such as Europe/Oslo"
	}
	return zone, ""
}

// Moment reads a time in ISO 8601, with an offset, or without one in the zone; nil is no zone. The
// problem continues a sentence that begins with the text; "" for none.
func Moment(text string, zone *time.Location) (at time.Time, problem string) {
	if at, err := time.Parse(time.RFC3339, strings.Replace(text, " ", "T", 1)); err == nil {
		return at.Truncate(time.Millisecond), ""
	}
	if at, err := time.Parse("2006-01-02T15:04Z07:00", strings.Replace(text, " ", "T", 1)); err == nil {
		return at, ""
	}
	for _, layout := range localLayouts {
		local, err := time.Parse(layout, text)
		switch {
		case err != nil:
			continue
		case zone == nil:
			return at, "has no offset from UTC, such as +01:00: add one, or set timezone"
		}
		at, _ = time.ParseInLocation(layout, text, zone)
		if at.Format(layout) != local.Format(layout) {
			return at, fmt.Sprintf("is no time in %s: clocks are put forward there then", zone)
		}
		return at, ""
	}
	return at, "is not a time such as 2026-12-01T09:00:00+01:00"
}

// format writes a time as files and JSON have it.
func format(t time.Time) string { return t.Format(time.RFC3339) }
