package overrides_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// TestWhatIsReadBesideAMessageIsWhatThePageSays goes by the file of the page's language.
func TestWhatIsReadBesideAMessageIsWhatThePageSays(t *testing.T) {
	var english struct {
		Page     map[string]string
		Problems map[string]struct{ Title string }
	}
	source, err := os.ReadFile("../../templates/lang/en-US.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(source, &english))
	says := []string{english.Problems["origin"].Title}
	for _, text := range english.Page {
		says = append(says, text)
	}
	was, then := queue.Settings{}, queue.Settings{Message: "Back soon", OnSoldOut: queue.CloseToAll}
	for reason, change := range map[estimate.Reason]func(s *queue.Settings){
		estimate.ActiveHeld:    func(s *queue.Settings) { s.HoldActive = queue.HoldNow },
		estimate.QueueAll:      func(s *queue.Settings) { s.QueueAll = true },
		estimate.OriginFailing: func(*queue.Settings) {},
		estimate.EventHolds:    func(*queue.Settings) {},
		estimate.SoldOut:       func(*queue.Settings) {},
		estimate.MethodRejects: func(s *queue.Settings) { s.Method = queue.Reject },
	} {
		s := then
		change(&s)
		told := overrides.ReadTogether(&was, &s, reason)
		found := false
		for _, text := range says {
			found = found || told == `Those who wait read both: "`+text+`" and "Back soon"`
		}
		assert.True(t, found, "%s: %q", reason, told)
	}
	assert.Empty(t, overrides.ReadTogether(&was, &then, estimate.LimitReached))
}

func TestOperatorsAreToldWhatThePageSays(t *testing.T) {
	page, err := os.ReadFile("../../templates/lang/en-US.json")
	require.NoError(t, err)
	for reason, sentence := range overrides.ReadBeside {
		assert.Contains(t, string(page), `: "`+sentence+`"`, reason)
	}
}

func TestAMessageThatTheStateHasLeftBehindIsLoggedOnce(t *testing.T) {
	e := sale()
	r, logs := reading(t, memstore.New(), start, overrides.File{Settings: file, Events: event.List{e}})
	now := start
	at := func(then time.Time) int {
		for now.Before(then) {
			now = now.Add(min(then.Sub(now), 10*time.Second))
			follow(t, now, r)
			follow(t, now, r)
		}
		return logs.FilterMessageSnippet("may be out of date").Len()
	}
	say := func(patch string, lasts time.Duration) {
		require.NoError(t, r.Patch(bg, now, []byte(patch), lasts, "ann"))
	}
	say(`{"message": "Welcome"}`, 0)
	say(`{"queue_all": true}`, time.Minute)
	assert.Zero(t, at(start.Add(50*time.Second)), "operators have seen both")
	assert.Equal(t, 1, at(start.Add(2*time.Minute)), "the hold has ended by itself")
	last := func() string {
		all := logs.FilterMessageSnippet("may be out of date").All()
		return all[len(all)-1].Message
	}
	assert.Equal(t, `The message "Welcome" may be out of date: beside it people read their wait now, and "Admissions are paused at the moment." when operators saw to it last.`, last())
	say(`{"total_active_users": 7}`, 0)
	assert.Equal(t, 1, at(start.Add(3*time.Minute)), "once")
	say(`{"message": "Welcome"}`, 0)
	assert.Equal(t, 1, at(start.Add(3*time.Minute+30*time.Second)), "operators keep it")
	assert.Equal(t, 2, at(e.Prequeue.Add(time.Minute)))
	assert.Contains(t, last(), "people read \"Time until the start\" now, and their wait")
	assert.Equal(t, 2, at(e.Start.Add(time.Minute)), "what is beside it is what it was")
	say(`{"message": null}`, 0)
	assert.Equal(t, 2, at(e.End.Add(time.Minute)))
}
