package queue_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

func TestAZeroDurationStandsForTheDefaultWhereItMayNotBeZero(t *testing.T) {
	s := queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 1}.WithDefaults()
	for _, f := range setting.Fields(reflect.TypeFor[queue.Settings]()) {
		if f.Type != reflect.TypeFor[time.Duration]() || f.Default == "" {
			continue
		}
		want := f.Default
		if f.Min == "0s" {
			want = "0s"
		}
		assert.Equal(t, want, f.Text(f.Of(reflect.ValueOf(s))), f.Name)
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

func TestARoomThatIsKeptByConnectionsIsNotOpenToAll(t *testing.T) {
	s := queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 1, QueueWhen: 10}.WithDefaults()
	require.NoError(t, s.Validate())
	s.Occupancy = queue.ByConnection
	require.ErrorContains(t, s.Validate(), "queue_when")
}

func TestAnEdgeAsksAgainWellBeforeASessionEnds(t *testing.T) {
	s := queue.Settings{TotalActiveUsers: 1, NewUsersPerMinute: 1, SessionDuration: time.Minute, EdgeAdmission: 30 * time.Second}.WithDefaults()
	require.NoError(t, s.Validate())
	s.EdgeAdmission += time.Second
	require.ErrorContains(t, s.Validate(), "edge_admission is 31s, which is too long: at most half of session_duration, which is 1m")
	s.EdgeAdmission = time.Second
	require.ErrorContains(t, s.Validate(), "edge_admission is 1s, which is too short: at least 2s")
	s.EdgeAdmission, s.Occupancy = 30*time.Second, queue.ByConnection
	require.ErrorContains(t, s.Validate(), "edge_admission is 30s, which needs occupancy session")
}
