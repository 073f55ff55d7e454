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

func TestEachGateLogsItsListOfEntriesWhenTheEventStarts(t *testing.T) {
	var logs []*observer.ObservedLogs
	logged := func(_ *proxy.Config, o *proxy.Options) {
		core, log := observer.New(zapcore.InfoLevel)
		o.Log, logs = zap.New(core), append(logs, log)
	}
	one, other, crowd := shuffled(t, 5, logged)
	for _, v := range crowd {
		v.get("/") // those who come back have entries
	}
	one.clock.add(opening.Add(6 * time.Minute).Sub(one.clock.Now()))
	stands(t, "not_queueing", one, other)
	lists := func(i int) []observer.LoggedEntry { return logs[i].FilterMessage("list of entries of a draw").All() }
	assert.Empty(t, append(lists(0), lists(1)...), "requests may be under way")
	one.clock.add(2 * time.Second)
	for i, f := range []*fixture{one, other} {
		f.soon(func() bool { return len(lists(i)) > 0 })
		a := f.api(http.MethodGet, "/api/v1/rooms/shop/events/sale/order", "", nil)
		order, err := plan.ReadOrder(strings.NewReader(a.body))
		require.NoError(t, err)
		assert.Equal(t, map[string]any{
			"room": "shop", "event": "sale", "entries": int64(3 - i), "digest": order.Digest, "seed_hash": order.SeedHash,
		}, lists(i)[0].ContextMap())
	}
	one.clock.add(time.Minute)
	one.status("shop")
	other.status("shop")
	assert.Len(t, append(lists(0), lists(1)...), 2, "each gate logs it once")
}
