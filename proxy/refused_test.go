package proxy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// refused are the refusals of all minutes that the record has.
func refused(f *gatetest.Fixture) record.Refused {
	f.T.Helper()
	now := f.Clock.Now()
	return record.Sum(f.Excerpt(now.Add(-time.Hour), now.Add(time.Hour)).Minutes).Refused
}

func TestTicketsThatDoNotOpenAreCounted(t *testing.T) {
	f := gatetest.Start(t)
	refused(f)
	v := f.Waiter()
	v.Get("/")
	require.Len(t, v.Cookies, 1)
	assert.Zero(t, refused(f).BadTickets, "a true ticket, and none")
	for name, value := range v.Cookies {
		altered := []byte(value)
		altered[len(altered)/2] ^= 1
		for _, forged := range []string{string(altered), "forged", value[:len(value)-4]} {
			w := f.Visitor()
			w.Cookies[name] = forged
			require.False(t, w.Get("/").In())
		}
		both := f.Visitor()
		both.Get("/", gatetest.With("Cookie", name+"=forged; "+name+"="+value))
		other := f.Visitor()
		other.Get("/", gatetest.With("Cookie", "theirs=forged"))
	}
	assert.Equal(t, 3, refused(f).BadTickets)
	assert.Equal(t, 3, refused(f).Cheats())
	assert.InDelta(t, 3, f.Families()["fairdoor_refused_tickets_total shop"].GetCounter().GetValue(), 0)
}

func TestPlacesBeyondThoseOfANetworkAreCounted(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback, gatetest.Settings(func(s *queue.Settings) { s.MaxWaitingPerNetwork = 2 }))
	refused(f)
	f.Full()
	var crowd []*gatetest.Visitor
	for range 5 {
		v := f.Visitor()
		require.False(t, v.Get("/", gatetest.With("X-Forwarded-For", "192.0.2.1")).In())
		crowd = append(crowd, v)
	}
	require.False(t, f.Visitor().Get("/", gatetest.With("X-Forwarded-For", "198.51.100.7")).In())
	f.Pass(gatetest.Interval)
	for _, v := range crowd {
		v.Get("/", gatetest.With("X-Forwarded-For", "192.0.2.1"))
	}
	assert.Equal(t, 3, refused(f).Crowded, "each place once, however often its visitor comes")
	assert.InDelta(t, 3, f.Families()["fairdoor_crowded_places_total shop"].GetCounter().GetValue(), 0)
}
