package redisstore

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// What the tests look into.
var (
	CheckInfo = checkInfo
	Keys      = keys
)

// Client returns the store's own client.
func (s *Store) Client() redis.UniversalClient { return s.client }

// SetSlack makes the store count for another time than Slack.
func (s *Store) SetSlack(d time.Duration) { s.slack = d }

// SetBudget lets a call take another time than Budget.
func (s *Store) SetBudget(d time.Duration) { s.budget = d }

// AdmitWithBug runs the admit script with a line that has a bug, once the script has counted the
// report.
func (s *Store) AdmitWithBug(ctx context.Context, room string, p *queue.Report, bug string) error {
	buggy := script(baseLua + parts("state") + within(memoryLua+lineLua+bug+"\n"+parts("admit save")) + parts("retry"))
	return buggy.Run(ctx, s.client, keys(room), s.reportArgs(p)...).Err()
}

// Options returns what the store at the URL is dialled with.
func Options(rawURL string) (*redis.UniversalOptions, error) {
	t, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	return &t.opts, nil
}

// PacingScript tells, of a seed and a number of parts and for each moment of a minute that follows,
// how many parts have passed and when the next one's is.
var PacingScript = script(`local MINUTE = 60000
` + parts("pacing") + `
local x, passed, at, told = tonumber(ARGV[1]), nil, nil, {}
for i = 3, #ARGV do
  x, passed, at = pass(tonumber(ARGV[2]), tonumber(ARGV[i]), x, passed, at)
  told[#told + 1], told[#told + 2] = passed, math.floor(at)
end
return told`)

// DefaultRules are the rules of a room that is not configured, in JSON.
func DefaultRules(t testing.TB) map[string]json.RawMessage {
	t.Helper()
	text, err := json.Marshal(defaultRules())
	require.NoError(t, err)
	var rules map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &rules))
	return rules
}
