package endtoend_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
)

// nodes are gates that share a store, and so a line.
type nodes struct {
	t      *testing.T
	limits limits
	redis  *redistest.Server
	gates  []*gate
	origin *journal
	target string // where the origin is

	mu    sync.Mutex
	ready []*gate // those that the balancer sends visitors to
}

// settled is how long a gate may take to hear of what visitors did at another.
const settled = 2 * time.Second

// serveNodes starts n gates with the limits and a Redis of their own in front of
// a journal.
func serveNodes(t *testing.T, n int, l limits, flags ...string) *nodes {
	t.Helper()
	s := newNodes(t, n, l, flags...)
	s.start()
	return s
}

// newNodes is serveNodes of gates that are not started yet.
func newNodes(t *testing.T, n int, l limits, flags ...string) *nodes {
	t.Helper()
	journal := &journal{}
	origin := httptest.NewServer(journal)
	t.Cleanup(origin.Close)
	s := newNodesFor(t, n, origin.URL, l, flags...)
	s.origin = journal
	return s
}

// serveNodesFor is serveNodes in front of another origin.
func serveNodesFor(t *testing.T, n int, origin string, l limits, flags ...string) *nodes {
	t.Helper()
	s := newNodesFor(t, n, origin, l, flags...)
	s.start()
	return s
}

func newNodesFor(t *testing.T, n int, origin string, l limits, flags ...string) *nodes {
	t.Helper()
	s := &nodes{t: t, limits: l, target: origin, redis: redistest.Start(t, redistest.Options{})}
	key, _, code := run(t, "keygen")
	require.Zero(t, code)
	env := []string{"FAIRDOOR_COOKIE_KEYS=" + string(bytes.TrimSpace([]byte(key)))}
	for range n {
		s.gates = append(s.gates, newGate(t, env, append([]string{
			"--store", s.redis.URL(), "--origin", origin,
			"--total-active-users", fmt.Sprint(l.active), "--new-users-per-minute", fmt.Sprint(l.perMinute),
			"--session-duration", l.session.String(), "--refresh-interval", "1s", "--refresh-jitter", "0", "--bucket", "1s",
			"--queue-ticket-ttl", "1m",
		}, flags...)...))
	}
	s.ready = s.gates
	return s
}

// start starts all gates at once.
func (s *nodes) start() {
	s.t.Helper()
	for _, g := range s.gates {
		g.launch()
	}
	for _, g := range s.gates {
		g.await()
	}
}

// any is the address of a gate that is ready, as the balancer last knew: another
// one at every call.
func (s *nodes) any() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready[rand.N(len(s.ready))].url
}

// only has the balancer send visitors to these gates.
func (s *nodes) only(gates ...*gate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = gates
}

// check has the balancer look at /readyz of every gate, until the test ends.
func (s *nodes) check(every time.Duration) {
	var checking sync.WaitGroup
	ticker, done := time.NewTicker(every), make(chan struct{})
	checking.Go(func() {
		for {
			select {
			case <-ticker.C:
			case <-done:
				return
			}
			var ready []*gate
			for _, g := range s.gates {
				if g.ready() == http.StatusOK {
					ready = append(ready, g)
				}
			}
			if len(ready) > 0 {
				s.only(ready...)
			}
		}
	})
	s.t.Cleanup(func() {
		ticker.Stop()
		close(done)
		checking.Wait()
	})
}

// crowd is a crowd that the balancer sends to any gate, with every request.
func (s *nodes) crowd() *crowd {
	c := newCrowd(s.t, "", s.limits)
	c.where = s.any
	return c
}

// until waits for a condition.
func (s *nodes) until(what string, holds func() bool) {
	s.t.Helper()
	s.gates[0].until(what, holds)
}

// patch changes the room through the gate's admin API and returns the status.
func (g *gate) patch(changes string) int {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), http.MethodPatch, g.admin+"/api/v1/rooms/default", bytes.NewBufferString(changes))
	require.NoError(g.t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(g.t, err)
	defer resp.Body.Close()
	return resp.StatusCode
}

// status is what the admin API tells of how the room stands.
func (g *gate) status() (told map[string]any) {
	g.t.Helper()
	require.NoError(g.t, json.Unmarshal([]byte(g.get("/api/v1/rooms/default/status")), &told))
	return told
}

// get returns what the admin listener answers.
func (g *gate) get(path string) string {
	g.t.Helper()
	resp, err := http.Get(g.admin + path)
	require.NoError(g.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(g.t, err)
	return string(body)
}

// known leaves of the waits what a gate has surely heard of, wherever it was: a
// visitor counts as present once they have been so for a while.
func known(waits []wait) []wait {
	var kept []wait
	for _, w := range waits {
		if sure := w.arrived.Add(settled); w.from.Before(sure) {
			w.from = sure
		}
		if w.from.Before(w.to) {
			kept = append(kept, w)
		}
	}
	return kept
}
