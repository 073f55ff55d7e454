//go:build soak

package endtoend_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slowSite answers so many requests at a time, and each takes it a while. Others wait. It reckons
// with the times at which it should be done: that its process gets late to run, where others take
// the processors, does not make it slower.
type slowSite struct {
	takes time.Duration

	mu   sync.Mutex
	free []time.Time     // when each of its workers is done, the earliest first
	took []time.Duration // of each request, with its waiting
}

func newSlowSite(workers int, takes time.Duration) *slowSite {
	return &slowSite{takes: takes, free: make([]time.Time, workers)}
}

func (s *slowSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	<-time.After(time.Until(s.work(r.URL.Path == "/")))
	w.Header().Set("Fairdoor-Test-Site", "yes")
	_, _ = io.WriteString(w, "in")
}

// work gives a request to the worker that is free first, and returns when it is done.
func (s *slowSite) work(counts bool) (done time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	done = s.free[0]
	if done.Before(now) {
		done = now
	}
	done = done.Add(s.takes)
	s.free = append(s.free[1:], done)
	if counts {
		s.took = append(s.took, done.Sub(now))
	}
	return done
}

// latency is the median, and the 95th percentile, of the requests since the last call.
func (s *slowSite) latency() (p50, p95 time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := s.took
	s.took = nil
	slices.Sort(took)
	if len(took) == 0 {
		return 0, 0
	}
	return took[len(took)/2], took[len(took)*95/100]
}

// visits has somebody come as a new visitor again and again, wait until they are let in, and look
// around for a while.
func visits(ctx context.Context, url string, stay time.Duration) {
	for ctx.Err() == nil {
		jar, _ := cookiejar.New(nil)
		client := &http.Client{Jar: jar}
		var until time.Time
		for ctx.Err() == nil && (until.IsZero() || time.Now().Before(until)) {
			in, again := look(ctx, client, url), time.Second
			if in {
				again = 200 * time.Millisecond
				if until.IsZero() {
					until = time.Now().Add(stay)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(again):
			}
		}
	}
}

// look asks for the page, and says whether it was the site's.
func look(ctx context.Context, client *http.Client, url string) bool {
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	resp, err := client.Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Header.Get("Fairdoor-Test-Site") != ""
}

// pressure is what the status says of the origin.
type pressure struct {
	AdmissionFactor float64
	Explanation     string
	Origin          struct{ LatencyP95Seconds float64 }
}

func (g *gate) pressure() (p pressure) {
	g.t.Helper()
	resp, err := http.Get(g.admin + "/api/v1/rooms/default/status")
	require.NoError(g.t, err)
	defer resp.Body.Close()
	require.NoError(g.t, json.NewDecoder(resp.Body).Decode(&p))
	return p
}

// A site that answers 200 requests a second is asked by people who send about four a second each.
// So some 45 of them fill it, and the limits would let in four times as many. It runs alone: what
// other tests take of the processors would make the gate slow.
func TestAdmissionControlHoldsTheLatencyOfASiteThatGetsSlow(t *testing.T) {
	const bound = 200 * time.Millisecond
	s := newSlowSite(4, 20*time.Millisecond)
	g := serve(t, nil, "--origin", site(t, s.ServeHTTP), "--total-active-users", "1000", "--new-users-per-minute", "3000",
		"--session-duration", "2s", "--refresh-interval", "1s", "--admission-control-latency", bound.String())
	ctx, end := context.WithCancel(context.Background())
	var crowd sync.WaitGroup
	for range 180 {
		crowd.Go(func() { visits(ctx, g.url, 4*time.Second) })
	}
	g.until("admissions are slowed", func() bool { return g.pressure().AdmissionFactor < 1 })
	assert.Contains(t, g.pressure().Explanation, "because the origin is slow")
	_, p95 := s.latency()
	assert.Greater(t, p95, bound)

	settled := time.After(8 * time.Second)
	<-settled
	s.latency()
	lowest, measured := 1., time.After(12*time.Second)
	for done := false; !done; {
		select {
		case <-measured:
			done = true
		case <-time.After(500 * time.Millisecond):
			lowest = min(lowest, g.pressure().AdmissionFactor)
		}
	}
	p50, p95 := s.latency()
	t.Logf("the site took %v, and %v for 95 of 100, at a bound of %v; admissions were slowed to %.0f %%", p50, p95, bound, 100*lowest)
	assert.Less(t, p50, bound)
	assert.Less(t, p95, 3*bound, "without the bound it is three and a half times as long")
	assert.Positive(t, p50, "somebody is always let in")

	end()
	crowd.Wait()
	low := g.pressure().AdmissionFactor
	g.until("admissions recover", func() bool { return g.pressure().AdmissionFactor > low })
}
