package templates

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// field is a value of the JSON answer, and of templates.
type field struct {
	name  string
	value any
}

// fields are the values of the JSON answer, in their order.
type fields []field

// MarshalJSON writes them as one object.
func (f fields) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, of := range f {
		value, err := json.Marshal(of.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, '"'), of.name...), `":`...)
		text = append(text, value...)
	}
	return append(text, '}'), nil
}

// own are the values that belong to one visitor. They are texts, so that a mark can be in
// their place; a number in JSON is a text of digits, or an int.
type own struct {
	lastUpdated, clock, bucket, arrived, claimUntil, address string
	placed, entry, support                                   string
	refresh, refreshLeft                                     any
	position, usersAhead, usersQueued                        any
	positionOrdinal                                          string
	number, first, last                                      any
	waitTime, waitTimeHours, waitTimeHourMinutes             any
	waitTimeFormatted                                        string
}

// newFields returns the fields for d, which has to be resolved: under the names that clients of
// Cloudflare's Waiting Room know, and in their order. Ours are isLineQueue and the last ones, from
// usersAheadKnown on. The challenge has a page of its own, so Cloudflare's fields for it have the
// values that mean "off".
func newFields(d Data, o own) fields {
	_, exact := d.position()
	return fields{
		{"inWaitingRoom", true},
		{"waitTimeKnown", d.WaitTimeKnown},
		{"waitTime", o.waitTime},
		{"waitTime25Percentile", d.WaitTime25Percentile},
		{"waitTime50Percentile", d.WaitTime50Percentile},
		{"waitTime75Percentile", d.WaitTime75Percentile},
		{"waitTimeFormatted", o.waitTimeFormatted},
		{"queueIsFull", d.QueueIsFull || !d.Refreshes()},
		{"queueAll", d.QueueAll},
		{"lastUpdated", o.lastUpdated},
		{"refreshIntervalSeconds", o.refresh},
		{"queueingMethod", d.QueueingMethod},
		{"isFIFOQueue", d.ordersBuckets()},
		{"isRandomQueue", d.draws()},
		{"isLineQueue", d.hasExactLine()},
		{"isPassthroughQueue", d.everyoneEnters()},
		{"isRejectQueue", d.nobodyEnters()},
		{"isEventActive", d.Event.End != ""},
		{"isEventPrequeueing", d.Event.Prequeueing},
		{"timeUntilEventStart", d.Event.UntilStart},
		{"timeUntilEventStartFormatted", formatUntil(d.Event.Prequeueing, d.Event.UntilStart)},
		{"timeUntilEventEnd", d.Event.UntilEnd},
		{"timeUntilEventEndFormatted", formatUntil(d.Event.End != "", d.Event.UntilEnd)},
		{"shuffleAtEventStart", d.Event.Shuffle},
		{"turnstile", ""},
		{"infiniteQueue", false},
		{"usersAheadKnown", d.UsersAheadKnown},
		{"usersAhead", o.usersAhead},
		{"usersQueued", o.usersQueued},
		{"positionKnown", exact},
		{"position", o.position},
		{"ticketNumber", o.number},
		{"firstWaitingNumber", o.first},
		{"lastWaitingNumber", o.last},
		{"claimWithinSeconds", max(d.ClaimWithinSeconds, 0)},
		{"claimRequired", d.ClaimRequired},
		{"claimUntil", o.claimUntil},
		{"refreshLeftSeconds", o.refreshLeft},
		{"placeKeptSeconds", d.PlaceKeptSeconds},
		{"isFar", d.Far},
		{"rejoined", d.Rejoined},
		{"message", d.Message},
		{"siteName", d.Identity.SiteName},
		{"helpUrl", d.Identity.HelpURL},
		{"admissionsPaused", d.admissionsPaused()},
		{"pausedBy", d.pausedBy()},
		{"pausedSince", d.PausedSince},
		{"supportCode", o.support},
		{"bucketId", o.bucket},
		{"arrivedAt", o.arrived},
		{"placedAt", o.placed},
		{"eventStartTime", d.Event.Start},
		{"eventEndTime", d.Event.End},
		{"shuffleSeedHash", d.Event.SeedHash},
		{"shuffleSeed", d.Event.Seed},
		{"shuffleEntry", o.entry},
		{"isHeld", d.Held},
		{"soldOut", d.SoldOut},
		{"itemsLeftKnown", d.ItemsLeftKnown},
		{"itemsLeft", d.ItemsLeft},
		{"items", d.items()},
	}
}

// newRoom is the object of the JSON answer for d, which has to be resolved.
func newRoom(d Data, o own) fields {
	for _, value := range []*any{&o.refresh, &o.refreshLeft, &o.waitTime, &o.position, &o.usersAhead, &o.usersQueued, &o.number, &o.first, &o.last} {
		if text, ok := (*value).(string); ok {
			*value = json.Number(text)
		}
	}
	return newFields(d, o)
}

// encode writes the JSON answer for d, which has to be resolved.
func encode(d Data, o own) ([]byte, error) {
	return encodeLine(struct {
		Room fields `json:"cfWaitingRoom"`
	}{newRoom(d, o)})
}

// encodeLine writes a value as a line of JSON.
func encodeLine(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding the answer for a queued visitor: %w", err)
	}
	return append(text, '\n'), nil
}

// variables are the values that a template has: those of the JSON answer, and a few that only
// templates need, because Mustache can neither compare nor divide. They are plain values:
// of others Mustache would call the methods. d has to be resolved.
func variables(d Data, o own) map[string]any {
	values := map[string]any{
		"waitTimeHours":                  o.waitTimeHours,
		"waitTimeHourMinutes":            o.waitTimeHourMinutes,
		"waitTimeIsLong":                 d.isLong(),
		"waitTimeIsRange":                d.isRange(),
		"waitTimeIsShort":                d.isShort(),
		"lastUpdatedTime":                o.clock,
		"timeUntilEventStartHours":       d.Event.UntilStart / 60,
		"timeUntilEventStartHourMinutes": d.Event.UntilStart % 60,
		"positionOrdinal":                o.positionOrdinal,
		"placeKeptMinutes":               d.PlaceKeptSeconds / 60,
		"notSent":                        d.NotSent,
		"address":                        o.address,
		"client":                         "",
		"countsDown":                     d.countsDown(),
		"isPaused":                       d.isPaused(),
		"siteIsDown":                     d.pausedBy() == "site",
		"timeUntilEventStartIsShort":     d.Event.UntilStart <= 1,
		"roomName":                       d.RoomName,
	}
	for _, f := range newFields(d, o) {
		values[f.name] = f.value
	}
	items := d.itemVariables()
	values["items"], values["hasItems"] = items, len(items) > 0
	maps.Copy(values, Item{}.variables()) // of the section items
	maps.Copy(values, d.Identity.variables())
	return values
}

// Variables lists the names that a template can use, in alphabetical order. These are the
// members of the JSON answer, and besides:
//
//   - roomName;
//   - address: the path and query of the page;
//   - client: the script that keeps the page up to date, see [Page];
//   - notSent: true in the answer to a form that was sent;
//   - placeKeptMinutes: placeKeptSeconds in whole minutes;
//   - logo, hero, heroAlt, accent, accentText and theme, a style sheet: of the [Identity];
//   - positionOrdinal: position as in "7th", in English, or empty;
//   - waitTimeHours and waitTimeHourMinutes: waitTime in hours and minutes; and the same for
//     the start of an event;
//   - hasItems: true if there are items; in the section items, of each,
//     itemName, itemPrice, itemLeft, itemLeftKnown and itemSoldOut;
//   - lastUpdatedTime: the time of day of lastUpdated as "15:04:05 UTC";
//   - countsDown: true while the page tells when an event starts, and timeUntilEventStartIsShort:
//     true if that is within a minute;
//   - isPaused: true while the page says that nobody is let in, and siteIsDown: true if that is because
//     the site does not answer;
//   - waitTimeIsLong: true above 240 minutes;
//   - waitTimeIsShort: true if a wait is known that is under a minute;
//   - waitTimeIsRange: true if the wait is best written as waitTime25Percentile to
//     waitTime75Percentile.
func Variables() []string {
	return slices.Sorted(maps.Keys(variables(Data{}, ownOf(Data{}))))
}
