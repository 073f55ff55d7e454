package watch_test

import (
	"context"
	"crypto/x509"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func TestWebhooksTellWhatOperatorsChangeOnceOfTwoGates(t *testing.T) {
	h := newHooked(t)
	one, other := gatetest.StartTwo(t, telling(t, h, webhooks.Changed))
	require.Equal(t, http.StatusOK, other.Patch(`{"total_active_users": 7}`).Status)
	require.Equal(t, http.StatusOK, one.Patch(`{"message": "Back soon."}`).Status)
	one.Soon(func() bool { one.Clock.Add(100 * time.Millisecond); return len(h.all()) >= 2 })
	one.Clock.Add(time.Minute)
	one.Status("shop")
	gates, changes := h.named()
	assert.ElementsMatch(t, []string{"shop|total_active_users|1|7|127.0.0.1", "shop|message||Back soon.|127.0.0.1"}, changes)
	self, err := os.Hostname()
	require.NoError(t, err)
	assert.Equal(t, []string{self, self}, gates)
	assert.Equal(t, 2, h.deliveries(), "the other gate does not tell as well")
}

func TestWebhooksTellThatTheOriginFailsAndIsBack(t *testing.T) {
	h := newHooked(t)
	f := gatetest.Start(t, telling(t, h, webhooks.OriginFailing, webhooks.OriginBack))
	v := f.Visitor()
	require.True(t, v.Get("/").In())
	f.Site.Will(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	f.Soon(func() bool { v.Get("/"); f.Clock.Add(time.Second); return len(h.all()) == 1 })
	assert.Equal(t, []string{"origin_failing"}, h.all())
	f.Site.Will(nil)
	f.Soon(func() bool { f.Clock.Add(time.Second); return len(h.all()) == 2 })
	assert.Equal(t, []string{"origin_failing", "origin_back"}, h.all())
}

func TestWebhooksTellOnceOfTwoGatesWhatBothSeeAndByBothWhileTheStoreIsAway(t *testing.T) {
	h, store := newHooked(t), &gatetest.Fallible{Store: memstore.New()}
	tells := telling(t, h, webhooks.OriginFailing, webhooks.OriginBack)
	one := gatetest.Start(t, tells, func(_ *proxy.Config, o *proxy.Options) { o.Store = store })
	other := gatetest.Start(t, tells, func(c *proxy.Config, o *proxy.Options) { *c, o.Store, o.Clock = one.Config, store, one.Clock.Now })
	v := one.Visitor()
	require.True(t, v.Get("/").In())
	// until has both gates ask the site until so many deliveries have come, and then look again for a while.
	until := func(deliveries int) {
		t.Helper()
		ask := func() {
			v.Get("/")
			v.AtGate(other).Get("/")
			one.Clock.Add(500 * time.Millisecond)
			one.Status("shop")
			other.Status("shop")
		}
		one.Soon(func() bool { ask(); return h.deliveries() >= deliveries })
		for end := one.Clock.Now().Add(20 * time.Second); one.Clock.Now().Before(end); {
			ask()
		}
		require.Equal(t, deliveries, h.deliveries(), "%v", h.all())
	}
	one.Site.Will(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	until(1)
	store.Failing.Store(true)
	one.Site.Will(nil)
	until(3)
	assert.Equal(t, []string{"origin_failing", "origin_back"}, h.all(), "both tell by one id")
}

func TestWebhooksTellThatTheDatabaseIsAway(t *testing.T) {
	h, address := newHooked(t), porttest.Address(t)
	f := gatetest.Start(t, gatetest.TakingPasses(t), telling(t, h, webhooks.RecordLost, webhooks.RecordBack), func(_ *proxy.Config, o *proxy.Options) {
		o.Record = func(ctx context.Context) (*waitlist.Store, error) {
			return waitlist.Open(ctx, "postgres://gate@"+address+"/gate?sslmode=disable")
		}
	})
	f.Soon(func() bool { f.Clock.Add(time.Second); return len(h.all()) == 1 })
	assert.Equal(t, []string{"record_lost"}, h.all())
}

func TestWebhooksTellOnceThatACertificateEndsSoon(t *testing.T) {
	h := newHooked(t)
	var mu sync.Mutex
	var in []*x509.Certificate
	holds := func(f *gatetest.Fixture, days ...int) { // from now on
		mu.Lock()
		defer mu.Unlock()
		in = nil
		for _, d := range days {
			end := f.Clock.Now().Add(time.Duration(d) * 24 * time.Hour)
			in = append(in, &x509.Certificate{DNSNames: []string{"shop.test"}, NotBefore: end.Add(-90 * 24 * time.Hour), NotAfter: end})
		}
	}
	f := gatetest.Start(t, telling(t, h, webhooks.CertificateEnds), func(_ *proxy.Config, o *proxy.Options) {
		o.Certificates = func() []*x509.Certificate {
			mu.Lock()
			defer mu.Unlock()
			return in
		}
	})
	holds(f, 13, 16)
	f.Soon(func() bool { return h.deliveries() == 1 })
	f.Clock.Add(3 * 24 * time.Hour) // so that the other ends in 13 days, too
	f.Soon(func() bool { return h.deliveries() == 2 })
	for range 5 {
		f.Pass(time.Second)
	}
	assert.Equal(t, []string{"certificate_ending", "certificate_ending"}, h.all(), "of each once, also with the same names")
}
