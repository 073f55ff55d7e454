package queue_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/queue"
	"github.com/anteroom-gate/anteroom/queue/setting"
)

// A zero duration stands for the default: one that could be set would not last.
func TestNoSettingWithADefaultDurationMayBeZero(t *testing.T) {
	for _, f := range setting.Fields(reflect.TypeFor[queue.Settings]()) {
		if f.Type != reflect.TypeFor[time.Duration]() || f.Default == "" {
			continue
		}
		usual, err := time.ParseDuration(f.Default)
		require.NoError(t, err)
		least, err := time.ParseDuration(f.Min)
		require.NoError(t, err)
		assert.True(t, usual == 0 || least > 0, "%s: its default is %v, and it may be %v", f.Name, usual, least)
	}
}

func TestSettingsThatAnEarlierVersionDidNotWriteHaveTheirDefaults(t *testing.T) {
	all, err := json.Marshal(queue.Settings{TotalActiveUsers: 7, NewUsersPerMinute: 9, RefreshJitter: .5, LineGrace: time.Minute}.WithDefaults())
	require.NoError(t, err)
	for _, f := range setting.Fields(reflect.TypeFor[queue.Settings]()) {
		var written map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(all, &written))
		delete(written, f.Name)
		text, err := json.Marshal(written)
		require.NoError(t, err)
		var read queue.Settings
		require.NoError(t, json.Unmarshal(text, &read))
		if f.Default != "" {
			assert.Equal(t, f.Default, f.Text(f.Of(reflect.ValueOf(read))), f.Name)
		}
	}
}
