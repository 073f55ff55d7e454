package admin_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
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
		told := admin.ReadTogether(&was, &s, reason)
		found := false
		for _, text := range says {
			found = found || told == `Those who wait read both: "`+text+`" and "Back soon"`
		}
		assert.True(t, found, "%s: %q", reason, told)
	}
	assert.Empty(t, admin.ReadTogether(&was, &then, estimate.LimitReached))
}

func TestOperatorsAreToldWhatThePageSays(t *testing.T) {
	page, err := os.ReadFile("../../templates/lang/en-US.json")
	require.NoError(t, err)
	for reason, sentence := range admin.ReadBeside {
		assert.Contains(t, string(page), `: "`+sentence+`"`, reason)
	}
}
