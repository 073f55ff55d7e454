package redisstore

import (
	"encoding/json"
	"fmt"

	"github.com/anteroom-gate/anteroom/queue"
)

// document is a room's settings as the store keeps them: the settings are for the nodes, and the rules, which follow from them, for the
// scripts.
type document struct {
	Settings queue.Settings `json:"settings"`
	Places   queue.Places   `json:"places"`
	Rules    rules          `json:"rules"`
}

// rules are what the scripts go by, under the names that they use. Times are in milliseconds.
type rules struct {
	Total     int    `json:"total"`
	PerMinute int    `json:"perminute"`
	Method    string `json:"method"`
	Pacing    string `json:"pacing"` // never auto
	QueueAll  bool   `json:"queueall"`
	Renewal   bool   `json:"renewal"`
	Fleeting  bool   `json:"fleeting"` // the configuration is forgotten with the rest of the room
	Duration  int64  `json:"duration"`
	Lasts     int64  `json:"lasts"`   // how long a session lasts from its grant
	Place     int64  `json:"place"`   // how long the store remembers who was let in: longer than a place can be left and come back to
	Dropout   int64  `json:"dropout"` // how long a place in an exact line lasts from a check-in
	Back      int64  `json:"back"`    // how soon after a check-in a visitor who stays makes the next one
}

// rulesOf are the rules that follow from the configuration.
func (s *Store) rulesOf(c queue.Configuration) rules {
	l := c.Settings
	return rules{
		Total: l.TotalActiveUsers, PerMinute: l.NewUsersPerMinute, Method: l.Method.String(), Pacing: l.PacingInForce().String(),
		QueueAll: l.QueueAll, Renewal: !l.DisableSessionRenewal, Fleeting: l.Fleeting,
		Duration: l.SessionDuration.Milliseconds(), Lasts: l.SessionLasts(s.slack).Milliseconds(),
		Place: c.Remembers().Milliseconds(), Dropout: l.LineDropout.Milliseconds(), Back: l.ReturnsWithin().Milliseconds(),
	}
}

// configurationArgs appends a configuration as conf.lua reads it.
func (s *Store) configurationArgs(args []any, c queue.Configuration) ([]any, error) {
	text, err := json.Marshal(document{Settings: c.Settings, Places: c.Places, Rules: s.rulesOf(c)})
	if err != nil {
		return nil, fmt.Errorf("writing the settings: %w", err)
	}
	return append(args, c.Version, text, c.Overrides, c.By, int64(c.At)), nil
}
