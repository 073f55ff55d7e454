package redisstore

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

// document is a room's settings as the store keeps them: the settings are for the nodes, and the
// rules, which follow from them, for the scripts.
type document struct {
	Settings queue.Settings `json:"settings"`
	Places   queue.Places   `json:"places"`

	Standstill queue.Standstill `json:"standstill"`

	Rules rules `json:"rules"`
}

// rules are what the scripts go by, under the names that they use. Times are in milliseconds. Gates
// of several versions may share the store: a name in it is never changed, and where a rule is
// missing the scripts take it from defaultRules.
type rules struct {
	Version    int64  `json:"version"`
	Total      int    `json:"total"`
	PerMinute  int    `json:"perminute"`
	Method     string `json:"method"`
	Pacing     string `json:"pacing"` // never auto
	QueueAll   bool   `json:"queueall"`
	Cuts       bool   `json:"cuts"`    // buckets are cut as finely as the order needs
	Longest    int64  `json:"longest"` // how long a bucket is at most
	Renewal    bool   `json:"renewal"`
	Fleeting   bool   `json:"fleeting"` // the configuration is forgotten with the rest of the room
	Duration   int64  `json:"duration"`
	Lasts      int64  `json:"lasts"`   // how long a session lasts from its grant
	Leases     bool   `json:"leases"`  // a session that is granted for a lease lasts only so long
	Remember   int64  `json:"place"`   // how long the store remembers who was let in: longer than a place can be left and come back to
	Dropout    int64  `json:"dropout"` // how long a place in an exact line lasts from a check-in
	Back       int64  `json:"back"`    // how soon after a check-in a visitor near the head makes the next one who stays
	QueueWhen  int    `json:"queuewhen"`
	OpensBelow int    `json:"opensbelow"`
	Shadow     bool   `json:"shadow"`

	MaxSession int64 `json:"maxsession"` // how long after its admission a session ends; 0 for never
	Stands     bool  `json:"stands"`     // sessions stand still
	Closes     bool  `json:"closes"`     // nobody is let in while nothing is left
	SellsFrom  int64 `json:"sellsfrom"`  // what was left before does not count

	AllBack    int64   `json:"allback"`    // how soon all do
	Each       float64 `json:"each"`       // how much later for each of the people ahead
	Unnumbered int64   `json:"unnumbered"` // how long after a check-in a place without a number is worth one in an exact line

	BySession bool `json:"bysession"` // sessions end by themselves, and not as connections close

	// The scripts set these.
	Lined   int64 `json:"lined"`    // the version with which the method became line
	LinedAt int64 `json:"lined_at"` // when that was
}

// rulesOf are the rules that follow from the configuration.
func rulesOf(c queue.Configuration, slack time.Duration) rules {
	l := c.Settings
	returning := l.Returning()
	return rules{
		Version: c.Version, Total: l.Slots(), PerMinute: l.Allowance(), Method: l.Method.String(), Pacing: l.PacingInForce().String(),
		QueueAll: l.HoldsNew(), Cuts: l.CutsBuckets(), Longest: l.LongestBucket().Milliseconds(), Renewal: !l.DisableSessionRenewal, Fleeting: l.Fleeting,
		Duration: l.SessionDuration.Milliseconds(), Lasts: l.SessionLasts(slack).Milliseconds(), Leases: l.Lease(1, slack) == 1,
		Remember: c.Remembers().Milliseconds(), Dropout: l.LineDropout.Milliseconds(), Back: returning.Near.Milliseconds(),
		AllBack: returning.All.Milliseconds(), Each: returning.Each, Unnumbered: l.UnnumberedFor().Milliseconds(),
		QueueWhen: l.QueueWhen, OpensBelow: l.OpensAgainBelow(), Shadow: l.Shadow,
		MaxSession: l.MaxSession.Milliseconds(), Stands: l.HoldsActive(), Closes: l.OnSoldOut == queue.CloseToAll,
		SellsFrom: int64(l.SellsFrom()), BySession: l.Occupancy == queue.BySession,
	}
}

// defaultRules follow from settings that are left out. So a rule that was added since a gate wrote
// the room's rules has the default of its setting. They are the rules of a room without a
// configuration, too: they open no slots, and renew no session for longer than a second.
func defaultRules() rules {
	var s queue.Settings
	v := reflect.ValueOf(&s).Elem()
	for _, f := range setting.Fields(v.Type()) {
		f.SetDefault(v)
	}
	s.SessionDuration = time.Second
	return rulesOf(queue.Configuration{Settings: s.WithDefaults()}, Slack)
}

// lua writes the rules as a table of the scripts.
func (r rules) lua() string {
	v, b := reflect.ValueOf(r), []byte("{")
	for i := range v.NumField() {
		b = fmt.Appendf(b, "%s = %#v, ", v.Type().Field(i).Tag.Get("json"), v.Field(i))
	}
	return string(append(b, '}'))
}

// configurationArgs appends a configuration as putinforce.lua reads it.
func (s *Store) configurationArgs(args []any, c queue.Configuration) ([]any, error) {
	text, err := json.Marshal(document{Settings: c.Settings, Places: c.Places, Standstill: c.Standstill, Rules: rulesOf(c, s.slack)})
	if err != nil {
		return nil, fmt.Errorf("writing the settings: %w", err)
	}
	return append(args, c.Version, text, c.Overrides, c.By, int64(c.At)), nil
}
