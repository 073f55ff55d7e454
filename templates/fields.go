package templates

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// fields are the values of the JSON answer, in the order and under the names that clients of
// Cloudflare's Waiting Room know. Ours are isLineQueue and the last ones, from
// usersAheadKnown on. The challenge has a page of its own, so Cloudflare's fields for it have the values that
// mean "off".
type fields struct {
	InWaitingRoom                bool   `json:"inWaitingRoom"`
	WaitTimeKnown                bool   `json:"waitTimeKnown"`
	WaitTime                     any    `json:"waitTime"`
	WaitTime25Percentile         int    `json:"waitTime25Percentile"`
	WaitTime50Percentile         int    `json:"waitTime50Percentile"`
	WaitTime75Percentile         int    `json:"waitTime75Percentile"`
	WaitTimeFormatted            string `json:"waitTimeFormatted"`
	QueueIsFull                  bool   `json:"queueIsFull"`
	QueueAll                     bool   `json:"queueAll"`
	LastUpdated                  string `json:"lastUpdated"`
	RefreshIntervalSeconds       any    `json:"refreshIntervalSeconds"`
	QueueingMethod               string `json:"queueingMethod"`
	IsFIFOQueue                  bool   `json:"isFIFOQueue"`
	IsRandomQueue                bool   `json:"isRandomQueue"`
	IsLineQueue                  bool   `json:"isLineQueue"`
	IsPassthroughQueue           bool   `json:"isPassthroughQueue"`
	IsRejectQueue                bool   `json:"isRejectQueue"`
	IsEventActive                bool   `json:"isEventActive"`
	IsEventPrequeueing           bool   `json:"isEventPrequeueing"`
	TimeUntilEventStart          int    `json:"timeUntilEventStart"`
	TimeUntilEventStartFormatted string `json:"timeUntilEventStartFormatted"`
	TimeUntilEventEnd            int    `json:"timeUntilEventEnd"`
	TimeUntilEventEndFormatted   string `json:"timeUntilEventEndFormatted"`
	ShuffleAtEventStart          bool   `json:"shuffleAtEventStart"`
	Turnstile                    string `json:"turnstile"`
	InfiniteQueue                bool   `json:"infiniteQueue"`
	UsersAheadKnown              bool   `json:"usersAheadKnown"`
	UsersAhead                   any    `json:"usersAhead"`
	UsersQueued                  any    `json:"usersQueued"`
	PositionKnown                bool   `json:"positionKnown"`
	Position                     any    `json:"position"`
	TicketNumber                 any    `json:"ticketNumber"`
	FirstWaitingNumber           any    `json:"firstWaitingNumber"`
	LastWaitingNumber            any    `json:"lastWaitingNumber"`
	ClaimWithinSeconds           int    `json:"claimWithinSeconds"`
	ClaimRequired                bool   `json:"claimRequired"`
	ClaimUntil                   string `json:"claimUntil"`
	RefreshLeftSeconds           any    `json:"refreshLeftSeconds"`
	PlaceKeptSeconds             int    `json:"placeKeptSeconds"`
	Rejoined                     bool   `json:"rejoined"`
	Message                      string `json:"message"`
	SiteName                     string `json:"siteName"`
	HelpURL                      string `json:"helpUrl"`
	AdmissionsPaused             bool   `json:"admissionsPaused"`
	BucketID                     string `json:"bucketId"`
	ArrivedAt                    string `json:"arrivedAt"`
	PlacedAt                     string `json:"placedAt"`
	EventStartTime               string `json:"eventStartTime"`
	EventEndTime                 string `json:"eventEndTime"`
	ShuffleSeedHash              string `json:"shuffleSeedHash"`
	ShuffleSeed                  string `json:"shuffleSeed"`
	ShuffleEntry                 string `json:"shuffleEntry"`
	IsHeld                       bool   `json:"isHeld"`
	SoldOut                      bool   `json:"soldOut"`
	ItemsLeftKnown               bool   `json:"itemsLeftKnown"`
	ItemsLeft                    int    `json:"itemsLeft"`
}

// own are the values that belong to one visitor. They are texts, so that a mark can be in
// their place; a number in JSON is a text of digits, or an int.
type own struct {
	lastUpdated, clock, bucket, arrived, claimUntil, address string
	placed, entry                                            string
	refresh, refreshLeft                                     any
	position, usersAhead, usersQueued                        any
	positionOrdinal                                          string
	number, first, last                                      any
	waitTime, waitTimeHours, waitTimeHourMinutes             any
	waitTimeFormatted                                        string
}

// newFields returns the fields for d, which has to be resolved.
func newFields(d Data, o own) fields {
	_, exact := d.position()
	return fields{
		InWaitingRoom:                true,
		WaitTimeKnown:                d.WaitTimeKnown,
		WaitTime:                     o.waitTime,
		WaitTime25Percentile:         d.WaitTime25Percentile,
		WaitTime50Percentile:         d.WaitTime50Percentile,
		WaitTime75Percentile:         d.WaitTime75Percentile,
		WaitTimeFormatted:            o.waitTimeFormatted,
		QueueIsFull:                  d.QueueIsFull || !d.Refreshes(),
		QueueAll:                     d.QueueAll,
		LastUpdated:                  o.lastUpdated,
		RefreshIntervalSeconds:       o.refresh,
		QueueingMethod:               d.QueueingMethod,
		IsFIFOQueue:                  d.ordersBuckets(),
		IsRandomQueue:                d.draws(),
		IsLineQueue:                  d.hasExactLine(),
		IsPassthroughQueue:           d.everyoneEnters(),
		IsRejectQueue:                d.nobodyEnters(),
		IsEventActive:                d.Event.End != "",
		IsEventPrequeueing:           d.Event.Prequeueing,
		TimeUntilEventStart:          d.Event.UntilStart,
		TimeUntilEventStartFormatted: formatUntil(d.Event.Prequeueing, d.Event.UntilStart),
		TimeUntilEventEnd:            d.Event.UntilEnd,
		TimeUntilEventEndFormatted:   formatUntil(d.Event.End != "", d.Event.UntilEnd),
		ShuffleAtEventStart:          d.Event.Shuffle,
		UsersAheadKnown:              d.UsersAheadKnown,
		UsersAhead:                   o.usersAhead,
		UsersQueued:                  o.usersQueued,
		PositionKnown:                exact,
		Position:                     o.position,
		TicketNumber:                 o.number,
		FirstWaitingNumber:           o.first,
		LastWaitingNumber:            o.last,
		ClaimWithinSeconds:           max(d.ClaimWithinSeconds, 0),
		ClaimRequired:                d.ClaimRequired,
		ClaimUntil:                   o.claimUntil,
		RefreshLeftSeconds:           o.refreshLeft,
		PlaceKeptSeconds:             d.PlaceKeptSeconds,
		Rejoined:                     d.Rejoined,
		Message:                      d.Message,
		SiteName:                     d.Identity.SiteName,
		HelpURL:                      d.Identity.HelpURL,
		AdmissionsPaused:             d.admissionsPaused(),
		BucketID:                     o.bucket,
		ArrivedAt:                    o.arrived,
		PlacedAt:                     o.placed,
		EventStartTime:               d.Event.Start,
		EventEndTime:                 d.Event.End,
		ShuffleSeedHash:              d.Event.SeedHash,
		ShuffleSeed:                  d.Event.Seed,
		ShuffleEntry:                 o.entry,
		IsHeld:                       d.Held,
		SoldOut:                      d.SoldOut,
		ItemsLeftKnown:               d.ItemsLeftKnown,
		ItemsLeft:                    d.ItemsLeft,
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
	f := newFields(d, o)
	values := map[string]any{
		"inWaitingRoom":                  f.InWaitingRoom,
		"waitTimeKnown":                  f.WaitTimeKnown,
		"waitTime":                       f.WaitTime,
		"waitTimeHours":                  o.waitTimeHours,
		"waitTimeHourMinutes":            o.waitTimeHourMinutes,
		"waitTimeIsLong":                 d.isLong(),
		"waitTimeIsRange":                d.isRange(),
		"waitTimeIsShort":                d.isShort(),
		"waitTime25Percentile":           f.WaitTime25Percentile,
		"waitTime50Percentile":           f.WaitTime50Percentile,
		"waitTime75Percentile":           f.WaitTime75Percentile,
		"waitTimeFormatted":              f.WaitTimeFormatted,
		"queueIsFull":                    f.QueueIsFull,
		"queueAll":                       f.QueueAll,
		"lastUpdated":                    f.LastUpdated,
		"lastUpdatedTime":                o.clock,
		"refreshIntervalSeconds":         f.RefreshIntervalSeconds,
		"queueingMethod":                 f.QueueingMethod,
		"isFIFOQueue":                    f.IsFIFOQueue,
		"isRandomQueue":                  f.IsRandomQueue,
		"isLineQueue":                    f.IsLineQueue,
		"isPassthroughQueue":             f.IsPassthroughQueue,
		"isRejectQueue":                  f.IsRejectQueue,
		"isEventActive":                  f.IsEventActive,
		"isEventPrequeueing":             f.IsEventPrequeueing,
		"timeUntilEventStart":            f.TimeUntilEventStart,
		"timeUntilEventStartHours":       f.TimeUntilEventStart / 60,
		"timeUntilEventStartHourMinutes": f.TimeUntilEventStart % 60,
		"timeUntilEventStartFormatted":   f.TimeUntilEventStartFormatted,
		"timeUntilEventEnd":              f.TimeUntilEventEnd,
		"timeUntilEventEndFormatted":     f.TimeUntilEventEndFormatted,
		"shuffleAtEventStart":            f.ShuffleAtEventStart,
		"turnstile":                      f.Turnstile,
		"infiniteQueue":                  f.InfiniteQueue,
		"usersAheadKnown":                f.UsersAheadKnown,
		"usersAhead":                     f.UsersAhead,
		"usersQueued":                    f.UsersQueued,
		"positionKnown":                  f.PositionKnown,
		"position":                       f.Position,
		"positionOrdinal":                o.positionOrdinal,
		"ticketNumber":                   f.TicketNumber,
		"firstWaitingNumber":             f.FirstWaitingNumber,
		"lastWaitingNumber":              f.LastWaitingNumber,
		"claimWithinSeconds":             f.ClaimWithinSeconds,
		"claimRequired":                  f.ClaimRequired,
		"claimUntil":                     f.ClaimUntil,
		"refreshLeftSeconds":             f.RefreshLeftSeconds,
		"placeKeptSeconds":               f.PlaceKeptSeconds,
		"placeKeptMinutes":               f.PlaceKeptSeconds / 60,
		"rejoined":                       f.Rejoined,
		"notSent":                        d.NotSent,
		"message":                        f.Message,
		"address":                        o.address,
		"client":                         "",
		"admissionsPaused":               f.AdmissionsPaused,
		"bucketId":                       f.BucketID,
		"arrivedAt":                      f.ArrivedAt,
		"placedAt":                       f.PlacedAt,
		"eventStartTime":                 f.EventStartTime,
		"eventEndTime":                   f.EventEndTime,
		"shuffleSeedHash":                f.ShuffleSeedHash,
		"shuffleSeed":                    f.ShuffleSeed,
		"shuffleEntry":                   f.ShuffleEntry,
		"countsDown":                     d.countsDown(),
		"timeUntilEventStartIsShort":     d.Event.UntilStart <= 1,
		"roomName":                       d.RoomName,
		"isHeld":                         f.IsHeld,
		"soldOut":                        f.SoldOut,
		"itemsLeftKnown":                 f.ItemsLeftKnown,
		"itemsLeft":                      f.ItemsLeft,
	}
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
//   - logo, accent and accentText: of the [Identity];
//   - positionOrdinal: position as in "7th", in English, or empty;
//   - waitTimeHours and waitTimeHourMinutes: waitTime in hours and minutes; and the same for
//     the start of an event;
//   - lastUpdatedTime: the time of day of lastUpdated as "15:04:05 UTC";
//   - countsDown: true while the page tells when an event starts, and timeUntilEventStartIsShort:
//     true if that is within a minute;
//   - waitTimeIsLong: true above 240 minutes;
//   - waitTimeIsShort: true if a wait is known that is under a minute;
//   - waitTimeIsRange: true if the wait is best written as waitTime25Percentile to
//     waitTime75Percentile.
func Variables() []string {
	return slices.Sorted(maps.Keys(variables(Data{}, ownOf(Data{}))))
}
