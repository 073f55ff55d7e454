package draws_test

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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

func TestEachGateLogsItsListOfEntriesAfterTheStartAndWhenItIsFinal(t *testing.T) {
	var logs []*observer.ObservedLogs
	logged := func(_ *proxy.Config, o *proxy.Options) {
		core, log := observer.New(zapcore.InfoLevel)
		o.Log, logs = zap.New(core), append(logs, log)
	}
	one, other, crowd := gatetest.Shuffled(t, 4, logged)
	for _, v := range crowd {
		v.Get("/") // those who come back have entries
	}
	startsIn := func() time.Duration { return gatetest.Opening.Add(6 * time.Minute).Sub(one.Clock.Now()) }
	one.Clock.Add(startsIn() - 5*time.Second)
	last := one.Visitor()
	last.Get("/")
	one.Clock.Add(startsIn())
	gatetest.Stands(t, "queueing", one, other)
	const begun, final = "entries of a draw so far", "list of entries of a draw"
	lists := func(message string, i int) []observer.LoggedEntry { return logs[i].FilterMessage(message).All() }
	assert.Empty(t, append(lists(begun, 0), lists(begun, 1)...), "requests may be under way")
	told := func(message string, entries ...int64) {
		t.Helper()
		for i, f := range []*gatetest.Fixture{one, other} {
			f.Soon(func() bool { return len(lists(message, i)) > 0 })
			a := f.API(http.MethodGet, "/api/v1/rooms/shop/events/sale/order", "", nil)
			order, err := event.ReadOrder(strings.NewReader(a.Body))
			require.NoError(t, err)
			assert.Equal(t, map[string]any{
				"room": "shop", "event": "sale", "entries": entries[i], "digest": order.Digest, "seed_hash": order.SeedHash,
			}, lists(message, i)[0].ContextMap())
		}
	}
	one.Clock.Add(2 * time.Second)
	told(begun, 2, 2)
	one.Clock.Add(18 * time.Second)
	last.Get("/")
	one.Clock.Add(time.Hour) // the event is over, and so are all places
	told(final, 3, 2)
	one.Clock.Add(time.Minute)
	one.Status("shop")
	other.Status("shop")
	for _, message := range []string{begun, final} {
		assert.Len(t, append(lists(message, 0), lists(message, 1)...), 2, "each gate logs it once")
	}
}

// A script takes entry after entry, and leaves each for the next.
func TestEntriesThatAreLeftForTheNextAreOutOfTheDraw(t *testing.T) {
	starts := gatetest.Opening.Add(6 * time.Minute)
	f := gatetest.Start(t, gatetest.Planned(gatetest.SaleAt(starts, 5*time.Minute, true)), gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 1 }))
	f.Clock.Add(time.Minute)
	gatetest.Stands(t, "event_prequeueing", f)
	honest, script := f.Visitor(), make([]*gatetest.Visitor, 12)
	until := func(moment time.Time) {
		for f.Clock.Now().Before(moment) {
			honest.Get("/")
			f.Clock.Add(2 * time.Second)
		}
	}
	for i := range script {
		script[i] = f.Visitor()
		script[i].Get("/")
		until(f.Clock.Now().Add(22 * time.Second))
	}
	until(starts)
	gatetest.Stands(t, "queueing", f)
	for in := false; !in; f.Clock.Add(2 * time.Second) {
		for i, v := range script {
			require.False(t, v.Get("/").In(), "entry %d", i)
		}
		in = honest.Get("/").In()
	}
}

// A page whose event stream checks in at one gate is answered at the other one after the start.
func TestWhoseStreamIsAtOneGateHasTheirDrawAtTheOther(t *testing.T) {
	t.Parallel()
	starts := gatetest.Opening.Add(6 * time.Minute)
	one, other := gatetest.StartTwo(t, gatetest.Planned(gatetest.SaleAt(starts, 5*time.Minute, true)), gatetest.Settings(func(s *queue.Settings) {
		s.TotalActiveUsers, s.SessionDuration, s.RefreshJitter, s.MaxWaitingPerNetwork = 1, time.Hour, 0, 2
	}))
	one.Full()
	one.Clock.Add(time.Minute)
	gatetest.Stands(t, "event_prequeueing", one, other)
	page, lapsed := one.Visitor(), one.Visitor()
	page.Get("/")
	lapsed.Get("/")
	l := page.Listen("")
	l.Next("place")
	until := func(before time.Duration) {
		for left := starts.Sub(one.Clock.Now()) - before; left > 0; left = starts.Sub(one.Clock.Now()) - before {
			one.Clock.Add(min(left, gatetest.Interval))
			if left >= gatetest.Interval {
				l.Next("place")
			}
		}
	}
	until(gatetest.Interval + 3*time.Second)
	one.Clock.Add(gatetest.Interval)
	assert.NotContains(t, l.Rest(), "admitted", "the stream ends, and its page opens another")
	l = page.Listen("")
	until(-gatetest.Interval)
	gatetest.Stands(t, "queueing", one, other)
	a := page.AtGate(other).Get("/", gatetest.AsJSON)
	assert.Equal(t, false, a.Told("rejoined"))
	assert.Less(t, a.Told("placedAt"), starts.Format(time.RFC3339), "what was drawn for them")
	a = lapsed.AtGate(other).Get("/", gatetest.AsJSON)
	assert.Equal(t, true, a.Told("rejoined"))
	assert.Greater(t, a.Told("placedAt"), starts.Format(time.RFC3339))
}
