package proxy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestACrowdOfOneIPv6SiteWaitsBehindEverybodyElse(t *testing.T) {
	f := start(t, trustingLoopback, settings(func(s *queue.Settings) { s.MaxWaitingPerNetwork = 2 }))
	f.full()
	for i := range 20 { // each from a network of its own
		require.False(t, f.visitor().get("/", with("X-Forwarded-For", fmt.Sprintf("2001:db8:0:%x00::1", i))).in())
	}
	f.pass(time.Second)
	assert.Equal(t, 8, f.status("shop").Queued, "four times what one network may")
	f.visitor().get("/", with("X-Forwarded-For", "2001:db8:1::1"))
	f.pass(time.Second)
	assert.Equal(t, 9, f.status("shop").Queued)
}

func TestACrowdOfOneNetworkWaitsBehindEverybodyElse(t *testing.T) {
	for name, c := range map[string]struct{ crowd, other string }{
		"IPv4": {"192.0.2.", "198.51.100.7"},
		"IPv6": {"2001:db8:0:7f01::", "2001:db8:0:8000::1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, trustingLoopback, settings(func(s *queue.Settings) { s.MaxWaitingPerNetwork, s.Bucket = 2, time.Second }))
			f.full()
			var crowd []*visitor
			for i := range 4 {
				v := f.visitor()
				require.False(t, v.get("/", with("X-Forwarded-For", c.crowd+string(rune('1'+i)))).in())
				crowd = append(crowd, v)
			}
			f.pass(time.Second)
			other := f.visitor()
			require.False(t, other.get("/", with("X-Forwarded-For", c.other)).in())
			assert.Equal(t, 3, f.status("shop").Queued)
			f.pass(30 * time.Second)
			require.False(t, other.get("/", with("X-Forwarded-For", c.other)).in())
			assert.Equal(t, 1, f.status("shop").Queued, "the others have missed their check-in")
			crowd[3].get("/", with("X-Forwarded-For", c.crowd+"4"))
			assert.Equal(t, 2, f.status("shop").Queued, "one who was beyond counts now")
		})
	}
}
