package room_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

func TestSettingsLeftOutTakeTheirDefaults(t *testing.T) {
	s := queue.Settings{TotalActiveUsers: 2, NewUsersPerMinute: 1}.WithDefaults()
	assert.Equal(t, queue.Settings{
		TotalActiveUsers: 2, NewUsersPerMinute: 1,
		SessionDuration: 5 * time.Minute, RefreshInterval: 20 * time.Second, RefreshIntervalMax: 2 * time.Minute, StreamWithin: 5 * time.Minute, QueueTicketTTL: 30 * time.Minute,
		LineDropout: 68 * time.Second, LineGrace: 15 * time.Second,
	}, s)
	assert.NoError(t, s.Validate())
	assert.Equal(t, s, s.WithDefaults())

	slow := queue.Settings{TotalActiveUsers: 2, NewUsersPerMinute: 1, RefreshInterval: time.Hour, RefreshJitter: .5}.WithDefaults()
	assert.NoError(t, slow.Validate(), "the defaults go with each other")
	assert.Equal(t, 3*(90*time.Minute+450*time.Second), slow.LineDropout, "three check-ins, each as late as it may be")
}

func TestSettingsOutOfBoundsAreAllReported(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*queue.Settings)
		want   string
	}{
		{"no slots", func(s *queue.Settings) { s.TotalActiveUsers = 0 }, "total_active_users is 0"},
		{"no admissions", func(s *queue.Settings) { s.NewUsersPerMinute = -1 }, "new_users_per_minute is -1"},
		{"more slots than can be counted", func(s *queue.Settings) { s.TotalActiveUsers = math.MaxInt32 + 1 }, "total_active_users is 2147483648, which is too large: at most 2147483647"},
		{"more admissions than can be counted", func(s *queue.Settings) { s.NewUsersPerMinute = math.MaxInt }, "new_users_per_minute"},
		{"a session that its cookie does not last", func(s *queue.Settings) { s.SessionDuration = 24*time.Hour + 1 }, "session_duration is 24h0m0.000000001s, which is too long: at most 24h"},
		{"a place that its cookie does not last", func(s *queue.Settings) { s.QueueTicketTTL = 25 * time.Hour }, "queue_ticket_ttl"},
		{"a dropout of more than a day", func(s *queue.Settings) { s.LineDropout = 25 * time.Hour }, "line_dropout"},
		{"a grace of more than a day", func(s *queue.Settings) { s.LineGrace = 25 * time.Hour }, "line_grace"},
		{"too wide buckets", func(s *queue.Settings) { s.Bucket = 25 * time.Hour }, "bucket"},
		{"a session of less than a second", func(s *queue.Settings) { s.SessionDuration = time.Second - 1 }, "session_duration"},
		{"an unknown method", func(s *queue.Settings) { s.Method = 5 }, "queueing_method"},
		{"an unknown pacing", func(s *queue.Settings) { s.Pacing = 5 }, "pacing"},
		{"too short an interval", func(s *queue.Settings) { s.RefreshInterval = 999 * time.Millisecond }, "refresh_interval"},
		{"too long an interval", func(s *queue.Settings) { s.RefreshInterval, s.QueueTicketTTL = 25*time.Hour, 99*time.Hour }, "refresh_interval"},
		{"jitter below none", func(s *queue.Settings) { s.RefreshJitter = -.01 }, "refresh_jitter"},
		{"too much jitter", func(s *queue.Settings) { s.RefreshJitter = .51 }, "refresh_jitter"},
		{"jitter that is no number", func(s *queue.Settings) { s.RefreshJitter = math.NaN() }, "refresh_jitter"},
		{"too fine buckets", func(s *queue.Settings) { s.Bucket = time.Second - 1 }, "bucket"},
		{"places that end between check-ins", func(s *queue.Settings) { s.QueueTicketTTL = 39 * time.Second }, "queue_ticket_ttl"},
		{"a dropout before the check-in", func(s *queue.Settings) { s.Method, s.LineDropout = queue.Line, 22*time.Second }, "line_dropout is 22s, which is too short: longer than a refresh interval, which is 20s"},
		{"too short a grace", func(s *queue.Settings) { s.LineGrace = 3*time.Second - 1 }, "line_grace"},
		{"an unknown occupancy", func(s *queue.Settings) { s.Occupancy = 2 }, "occupancy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := settings(1, 1)
			c.change(&s)
			assert.ErrorContains(t, s.Validate(), c.want)
			_, err := room.New(t.Context(), start.Time(), room.Config{Name: "shop", Settings: s, Store: &fallible{}})
			assert.ErrorContains(t, err, c.want)
		})
	}
	err := queue.Settings{}.Validate()
	for _, setting := range []string{"total_active_users", "new_users_per_minute", "session_duration", "refresh_interval"} {
		assert.ErrorContains(t, err, setting)
	}
}

func TestNamesOfSettingsReadAsTheyAreWritten(t *testing.T) {
	for m := queue.FIFO; m <= queue.Reject; m++ {
		text, err := m.MarshalText()
		require.NoError(t, err)
		var got queue.Method
		require.NoError(t, got.UnmarshalText(text))
		assert.Equal(t, m, got)
	}
	for p := queue.PacingAuto; p <= queue.PacingEarly; p++ {
		text, err := p.MarshalText()
		require.NoError(t, err)
		var got queue.Pacing
		require.NoError(t, got.UnmarshalText(text))
		assert.Equal(t, p, got)
	}
	for o := queue.BySession; o <= queue.ByConnection; o++ {
		text, err := o.MarshalText()
		require.NoError(t, err)
		var got queue.Occupancy
		require.NoError(t, got.UnmarshalText(text))
		assert.Equal(t, o, got)
	}
	for p := queue.Hold; p <= queue.AdmitAll; p++ {
		var got queue.ErrorPolicy
		require.NoError(t, got.UnmarshalText([]byte(p.String())))
		assert.Equal(t, p, got)
	}
	method, pacing, policy := queue.Random, queue.PacingEven, queue.Share
	assert.ErrorContains(t, method.UnmarshalText([]byte("lifo")), "fifo random line passthrough reject")
	assert.ErrorContains(t, pacing.UnmarshalText([]byte("")), "pacing")
	assert.ErrorContains(t, policy.UnmarshalText([]byte("let")), "on_store_error")
	assert.Equal(t, queue.Random, method, "what is not understood changes nothing")
	assert.Equal(t, queue.PacingEven, pacing)
	assert.Equal(t, queue.Share, policy)
	assert.Equal(t, "unknown(9)", queue.Method(9).String())
}

func TestRefreshIntervalIsToldRoundedUpToTheSecond(t *testing.T) {
	for interval, want := range map[time.Duration]time.Duration{
		20 * time.Second:                      20 * time.Second,
		20*time.Second + time.Millisecond:     21 * time.Second,
		19*time.Second + 999*time.Millisecond: 20 * time.Second,
		0:                                     0,
	} {
		assert.Equal(t, want, queue.WholeSeconds(interval), interval)
	}
}

func TestSettingsAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := queue.Settings{
			TotalActiveUsers: rapid.Int().Draw(t, "total"), NewUsersPerMinute: rapid.IntRange(0, 9).Draw(t, "per minute"),
			SessionDuration: time.Duration(rapid.Int64().Draw(t, "session")), DisableSessionRenewal: rapid.Bool().Draw(t, "fixed"),
			Method: queue.Method(rapid.IntRange(0, 4).Draw(t, "method")), RefreshJitter: rapid.Float64().Draw(t, "jitter"),
			Pacing: queue.Pacing(rapid.IntRange(0, 3).Draw(t, "pacing")), Occupancy: queue.ByConnection, OnStoreError: queue.Share,
			LineGrace: time.Duration(rapid.IntRange(0, 1e12).Draw(t, "grace")), Fleeting: rapid.Bool().Draw(t, "fleeting"),
			Event: queue.ActiveEvent{Name: rapid.StringMatching(`[a-z]*`).Draw(t, "event"), Start: queue.Instant(rapid.Int64Range(0, 1e13).Draw(t, "start")),
				Prequeueing: rapid.Bool().Draw(t, "prequeueing"), Shuffle: rapid.Bool().Draw(t, "shuffle")},
		}
		text, err := json.Marshal(s)
		require.NoError(t, err)
		var got queue.Settings
		require.NoError(t, json.Unmarshal(text, &got))
		assert.Equal(t, s, got)
	})
	var s queue.Settings
	assert.NoError(t, json.Unmarshal([]byte(`{"bucket": "2m", "of a later version": [1]}`), &s))
	assert.Equal(t, 2*time.Minute, s.Bucket)
	for _, text := range []string{`[]`, `{"bucket": 5}`, `{"bucket": "long"}`, `{"queue_all": "true"}`, `{"queueing_method": 1}`, `{"total_active_users": "5"}`} {
		assert.Error(t, json.Unmarshal([]byte(text), &s), text)
	}
}

func TestAConfigurationThatWasMadeFromAnOlderOneIsRefused(t *testing.T) {
	s := settings(1, 10)
	d := open(t, s)
	was := d.room.Configuration()
	s.TotalActiveUsers = 2
	d.configure(s)
	s.TotalActiveUsers = 3
	next := queue.Configuration{Version: was.Version, Settings: s}
	require.ErrorIs(t, d.room.Configure(t.Context(), d.now.Time(), next), queue.ErrConflict)
	assert.Equal(t, 2, d.room.Settings().TotalActiveUsers)
	next.Version = d.room.Configuration().Version
	require.NoError(t, d.room.Configure(t.Context(), d.now.Time(), next))
	assert.Equal(t, 3, d.room.Settings().TotalActiveUsers)
}
