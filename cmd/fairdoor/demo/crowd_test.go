package demo_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/demo"
	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// inFront returns a gate for three in front of the site, which works until the
// test ends.
func inFront(t *testing.T, site http.Handler, session time.Duration) *httptest.Server {
	t.Helper()
	origin := httptest.NewServer(site)
	t.Cleanup(origin.Close)
	at, err := url.Parse(origin.URL)
	require.NoError(t, err)
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	g, err := proxy.New(t.Context(), proxy.Config{
		Keys: []cookie.Key{key},
		Rooms: []proxy.RoomConfig{{
			Name: "demo", Routes: []route.Route{{Path: "/"}}, Origin: at, Basics: config.Basics{JSON: true, Commands: []string{"revoke"}},
			Settings: queue.Settings{
				TotalActiveUsers: 3, NewUsersPerMinute: 1000, SessionDuration: session,
				RefreshInterval: time.Second, Bucket: time.Second, QueueTicketTTL: time.Minute,
			},
		}},
	}, proxy.Options{Store: memstore.New()})
	require.NoError(t, err)
	t.Cleanup(g.Close)
	gate := httptest.NewServer(g)
	t.Cleanup(gate.Close)
	return gate
}

func TestACrowdFillsThePlacesAndNeverMore(t *testing.T) {
	events := make(chan demo.Event, 1000)
	const session = 2 * time.Second
	origin, err := demo.NewOrigin(demo.Config{Session: session, Log: func(e demo.Event) { events <- e }})
	require.NoError(t, err)
	t.Cleanup(origin.Close)
	gate := inFront(t, origin, session)

	ctx, stop := context.WithCancel(t.Context())
	var crowd sync.WaitGroup
	crowd.Go(func() {
		demo.Crowd{
			URL: gate.URL, Size: 10, Ask: 200 * time.Millisecond,
			Stay: demo.Range{Min: 100 * time.Millisecond, Max: time.Second},
			Away: demo.Range{Max: time.Second},
		}.Run(ctx)
	})
	defer crowd.Wait()
	defer stop()

	most, ends, visitors := 0, map[demo.Kind]int{}, map[string]bool{}
	for len(visitors) < 10 || ends[demo.Left] == 0 || ends[demo.Gone] == 0 {
		select {
		case e := <-events:
			most = max(most, e.Taken)
			ends[e.Kind]++
			visitors[e.Visitor] = true
		case <-time.After(30 * time.Second):
			t.Fatalf("the crowd stands still: %d visitors were in, and it ended as %v", len(visitors), ends)
		}
	}
	assert.Equal(t, 3, most, "by the site's own log")
}

func TestTheCrowdWaitsForAsLongAsItIsTold(t *testing.T) {
	asked := make(chan time.Time, 100)
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- time.Now()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"cfWaitingRoom": {"inWaitingRoom": true, "refreshIntervalSeconds": 1}}`))
	}))
	defer gate.Close()
	ctx, stop := context.WithCancel(t.Context())
	var crowd sync.WaitGroup
	crowd.Go(func() {
		demo.Crowd{URL: gate.URL, Size: 1, Away: demo.Range{Max: time.Millisecond}}.Run(ctx)
	})
	first, second := <-asked, <-asked
	assert.GreaterOrEqual(t, second.Sub(first), 990*time.Millisecond)
	stop()
	crowd.Wait() // a crowd that is sent home goes at once
}
