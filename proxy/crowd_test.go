package proxy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestACrowdOfOneIPv6SiteWaitsBehindEverybodyElse(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Settings(func(s *queue.Settings) { s.MaxWaitingPerNetwork = 2 }))
	f.Full()
	for i := range 20 { // each from a network of its own
		require.False(t, f.Visitor().Get("/", gatetest.With("X-Forwarded-For", fmt.Sprintf("2001:db8:0:%x00::1", i))).In())
	}
	f.Pass(time.Second)
	assert.Equal(t, 8, f.Status("shop").Queued, "four times what one network may")
	f.Visitor().Get("/", gatetest.With("X-Forwarded-For", "2001:db8:1::1"))
	f.Pass(time.Second)
	assert.Equal(t, 9, f.Status("shop").Queued)
}

func TestACrowdOfOneNetworkWaitsBehindEverybodyElse(t *testing.T) {
	for name, c := range map[string]struct{ crowd, other string }{
		"IPv4": {"192.0.2.", "198.51.100.7"},
		"IPv6": {"2001:db8:0:7f01::", "2001:db8:0:8000::1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Settings(func(s *queue.Settings) { s.MaxWaitingPerNetwork, s.Bucket = 2, time.Second }))
			f.Full()
			var crowd []*gatetest.Visitor
			for i := range 4 {
				v := f.Visitor()
				require.False(t, v.Get("/", gatetest.With("X-Forwarded-For", c.crowd+string(rune('1'+i)))).In())
				crowd = append(crowd, v)
			}
			f.Pass(time.Second)
			other := f.Visitor()
			require.False(t, other.Get("/", gatetest.With("X-Forwarded-For", c.other)).In())
			assert.Equal(t, 3, f.Status("shop").Queued)
			f.Pass(30 * time.Second)
			require.False(t, other.Get("/", gatetest.With("X-Forwarded-For", c.other)).In())
			assert.Equal(t, 1, f.Status("shop").Queued, "the others have missed their check-in")
			crowd[3].Get("/", gatetest.With("X-Forwarded-For", c.crowd+"4"))
			assert.Equal(t, 2, f.Status("shop").Queued, "one who was beyond counts now")
		})
	}
}
