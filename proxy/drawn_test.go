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

	"github.com/anteroom-gate/anteroom/proxy"
	plan "github.com/anteroom-gate/anteroom/queue/event"
)

func TestEachGateLogsItsListOfEntriesAfterTheStartAndWhenItIsFinal(t *testing.T) {
	var logs []*observer.ObservedLogs
	logged := func(_ *proxy.Config, o *proxy.Options) {
		core, log := observer.New(zapcore.InfoLevel)
		o.Log, logs = zap.New(core), append(logs, log)
	}
	one, other, crowd := shuffled(t, 5, logged)
	for _, v := range crowd[1:] {
		v.get("/") // those who come back have entries
	}
	one.clock.add(opening.Add(6 * time.Minute).Sub(one.clock.Now()))
	stands(t, "not_queueing", one, other)
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
	one.clock.add(time.Minute)
	crowd[0].get("/")
	one.clock.add(time.Hour) // the event is over, and so are all places
	told(final, 3, 2)
	one.clock.add(time.Minute)
	one.status("shop")
	other.status("shop")
	for _, message := range []string{begun, final} {
		assert.Len(t, append(lists(message, 0), lists(message, 1)...), 2, "each gate logs it once")
	}
}
