package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
	plan "github.com/fairdoor-gate/fairdoor/queue/event"
)

func TestEachGateLogsItsListOfEntriesAfterTheStartAndWhenItIsFinal(t *testing.T) {
	var logs []*observer.ObservedLogs
	logged := func(_ *proxy.Config, o *proxy.Options) {
		core, log := observer.New(zapcore.InfoLevel)
		o.Log, logs = zap.New(core), append(logs, log)
	}
	one, other, crowd := shuffled(t, 4, logged)
	for _, v := range crowd {
		v.get("/") // those who come back have entries
	}
	startsIn := func() time.Duration { return opening.Add(6 * time.Minute).Sub(one.clock.Now()) }
	one.clock.add(startsIn() - 5*time.Second)
	last := one.visitor()
	last.get("/")
	one.clock.add(startsIn())
	stands(t, "queueing", one, other)
	const begun, final = "entries of a draw so far", "list of entries of a draw"
	lists := func(message string, i int) []observer.LoggedEntry { return logs[i].FilterMessage(message).All() }
	assert.Empty(t, append(lists(begun, 0), lists(begun, 1)...), "requests may be under way")
	told := func(message string, entries ...int64) {
		t.Helper()
		for i, f := range []*fixture{one, other} {
			f.soon(func() bool { return len(lists(message, i)) > 0 })
			a := f.api(http.MethodGet, "/api/v1/rooms/shop/events/sale/order", "", nil)
			order, err := plan.ReadOrder(strings.NewReader(a.body))
			require.NoError(t, err)
			assert.Equal(t, map[string]any{
				"room": "shop", "event": "sale", "entries": entries[i], "digest": order.Digest, "seed_hash": order.SeedHash,
			}, lists(message, i)[0].ContextMap())
		}
	}
	one.clock.add(2 * time.Second)
	told(begun, 2, 2)
	one.clock.add(18 * time.Second)
	last.get("/")
	one.clock.add(time.Hour) // the event is over, and so are all places
	told(final, 3, 2)
	one.clock.add(time.Minute)
	one.status("shop")
	other.status("shop")
	for _, message := range []string{begun, final} {
		assert.Len(t, append(lists(message, 0), lists(message, 1)...), 2, "each gate logs it once")
	}
}

// A script takes entry after entry, and leaves each for the next.
func TestEntriesThatAreLeftForTheNextAreOutOfTheDraw(t *testing.T) {
	starts := opening.Add(6 * time.Minute)
	f := start(t, planned(saleAt(starts, 5*time.Minute, true)), settings(func(s *queue.Settings) { s.TotalActiveUsers = 1 }))
	f.clock.add(time.Minute)
	stands(t, "event_prequeueing", f)
	honest, script := f.visitor(), make([]*visitor, 12)
	until := func(moment time.Time) {
		for f.clock.Now().Before(moment) {
			honest.get("/")
			f.clock.add(2 * time.Second)
		}
	}
	for i := range script {
		script[i] = f.visitor()
		script[i].get("/")
		until(f.clock.Now().Add(22 * time.Second))
	}
	until(starts)
	stands(t, "queueing", f)
	for in := false; !in; f.clock.add(2 * time.Second) {
		for i, v := range script {
			require.False(t, v.get("/").in(), "entry %d", i)
		}
		in = honest.get("/").in()
	}
}

// A page whose event stream checks in at one gate is answered at the other one after the start.
func TestWhoseStreamIsAtOneGateHasTheirDrawAtTheOther(t *testing.T) {
	t.Parallel()
	starts := opening.Add(6 * time.Minute)
	one, other := startTwo(t, planned(saleAt(starts, 5*time.Minute, true)), settings(func(s *queue.Settings) {
		s.TotalActiveUsers, s.SessionDuration, s.RefreshJitter, s.MaxWaitingPerNetwork = 1, time.Hour, 0, 2
	}))
	one.full()
	one.clock.add(time.Minute)
	stands(t, "event_prequeueing", one, other)
	page, lapsed := one.visitor(), one.visitor()
	page.get("/")
	lapsed.get("/")
	l := page.listen("")
	l.next("place")
	until := func(before time.Duration) {
		for left := starts.Sub(one.clock.Now()) - before; left > 0; left = starts.Sub(one.clock.Now()) - before {
			one.clock.add(min(left, interval))
			if left >= interval {
				l.next("place")
			}
		}
	}
	until(interval + 3*time.Second)
	one.clock.add(interval)
	assert.NotContains(t, l.rest(), "admitted", "the stream ends, and its page opens another")
	l = page.listen("")
	until(-interval)
	stands(t, "queueing", one, other)
	a := page.atGate(other).get("/", asJSON)
	assert.Equal(t, false, a.told("rejoined"))
	assert.Less(t, a.told("placedAt"), starts.Format(time.RFC3339), "what was drawn for them")
	a = lapsed.atGate(other).get("/", asJSON)
	assert.Equal(t, true, a.told("rejoined"))
	assert.Greater(t, a.told("placedAt"), starts.Format(time.RFC3339))
}
