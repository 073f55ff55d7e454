package proxy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// refused are the refusals of all minutes that the record has.
func (f *fixture) refused() record.Refused {
	f.t.Helper()
	now := f.clock.Now()
	return record.Sum(f.excerpt(now.Add(-time.Hour), now.Add(time.Hour)).Minutes).Refused
}

func TestTicketsThatDoNotOpenAreCounted(t *testing.T) {
	f := start(t)
	f.refused()
	v := f.waiter()
	v.get("/")
	require.Len(t, v.cookies, 1)
	assert.Zero(t, f.refused().BadTickets, "a true ticket, and none")
	for name, value := range v.cookies {
		altered := []byte(value)
		altered[len(altered)/2] ^= 1
		for _, forged := range []string{string(altered), "forged", value[:len(value)-4]} {
			w := f.visitor()
			w.cookies[name] = forged
			require.False(t, w.get("/").in())
		}
		both := f.visitor()
		both.get("/", with("Cookie", name+"=forged; "+name+"="+value))
		other := f.visitor()
		other.get("/", with("Cookie", "theirs=forged"))
	}
	assert.Equal(t, 3, f.refused().BadTickets)
	assert.Equal(t, 3, f.refused().Cheats())
	assert.InDelta(t, 3, f.metrics()["fairdoor_refused_tickets_total shop"].GetCounter().GetValue(), 0)
}

func TestPlacesBeyondThoseOfANetworkAreCounted(t *testing.T) {
	f := start(t, trustingLoopback, settings(func(s *queue.Settings) { s.MaxWaitingPerNetwork = 2 }))
	f.refused()
	f.full()
	var crowd []*visitor
	for range 5 {
		v := f.visitor()
		require.False(t, v.get("/", with("X-Forwarded-For", "192.0.2.1")).in())
		crowd = append(crowd, v)
	}
	require.False(t, f.visitor().get("/", with("X-Forwarded-For", "198.51.100.7")).in())
	f.pass(interval)
	for _, v := range crowd {
		v.get("/", with("X-Forwarded-For", "192.0.2.1"))
	}
	assert.Equal(t, 3, f.refused().Crowded, "each place once, however often its visitor comes")
	assert.InDelta(t, 3, f.metrics()["fairdoor_crowded_places_total shop"].GetCounter().GetValue(), 0)
}
