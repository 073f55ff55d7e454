package redisstore

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// What the tests look into.
var (
	Judge = judge
	Keys  = keys
)

// Client returns the store's own client.
func (s *Store) Client() redis.UniversalClient { return s.client }

// SetSlack makes the store count for another time than Slack.
func (s *Store) SetSlack(d time.Duration) { s.slack = d }

// SetBudget lets a call take another time than Budget.
func (s *Store) SetBudget(d time.Duration) { s.budget = d }

// Options returns what the store at the URL is dialled with.
func Options(rawURL string) (*redis.UniversalOptions, error) {
	t, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	return &t.opts, nil
}
