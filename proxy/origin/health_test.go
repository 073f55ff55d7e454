package origin_test

import (
	"cmp"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// checked are origins whose health is asked for, and answered with the statuses that are set.
func checked(t *testing.T, names ...string) (of []*origin.Origin, statuses map[string]*atomic.Int64) {
	t.Helper()
	statuses = map[string]*atomic.Int64{}
	for _, name := range names {
		at := new(atomic.Int64)
		at.Store(http.StatusOK)
		statuses[name] = at
		back := site(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/healthz" {
				w.WriteHeader(int(at.Load()))
				return
			}
			_, _ = w.Write([]byte(name))
		})
		o := newOrigin(t, back.URL, func(c *origin.Config) { c.Health.Path, c.ProbeInterval = "/healthz?deep", time.Millisecond })
		o.Watch()
		of = append(of, o)
	}
	return of, statuses
}

func TestAnOriginThatIsNotWellGetsNoVisitorsBeforeOneIsLost(t *testing.T) {
	of, statuses := checked(t, "a", "b")
	b := origin.NewBalancer("", of...)
	statuses["a"].Store(http.StatusServiceUnavailable)
	require.Eventually(t, of[0].Failing, patience, time.Millisecond, "nobody has asked it for anything")
	assert.False(t, b.Failing())
	for range 10 {
		status, body := fetch(b)
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, "b", body)
	}
	statuses["b"].Store(http.StatusInternalServerError)
	require.Eventually(t, b.Failing, patience, time.Millisecond)
	statuses["a"].Store(http.StatusNoContent)
	require.Eventually(t, func() bool { return !of[0].Failing() }, patience, time.Millisecond)
	_, body := fetch(b)
	assert.Equal(t, "a", body)
}

func TestOneBadAnswerOfAHealthPathIsNone(t *testing.T) {
	var asked, changes atomic.Int64
	back := site(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1)%3 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	o := newOrigin(t, back.URL, func(c *origin.Config) {
		c.Health.Path, c.ProbeInterval, c.OnChange = "/healthz", time.Millisecond, func(bool) { changes.Add(1) }
	})
	o.Watch()
	require.Eventually(t, func() bool { return asked.Load() > 20 }, patience, time.Millisecond)
	assert.Zero(t, changes.Load())
}

func TestAFailedRequestBesideOneBadAnswerOfAHealthPathIsNone(t *testing.T) {
	var asked, changes atomic.Int64
	back := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/healthz":
			panic(http.ErrAbortHandler)
		case asked.Add(1)%2 == 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	o := newOrigin(t, back.URL, func(c *origin.Config) {
		c.Health.Path, c.ProbeInterval, c.OnChange = "/healthz", time.Millisecond, func(bool) { changes.Add(1) }
	})
	o.Watch()
	require.Eventually(t, func() bool {
		ask(o, visitor{id: 1, client: 1})
		return asked.Load() > 50
	}, patience, time.Millisecond)
	assert.Zero(t, changes.Load())
}

func TestAStrangersHostDoesNotSpeakForTheHealthOfTheSite(t *testing.T) {
	for _, host := range []string{"shop.test", ""} { // the origin's address, where none is given
		t.Run(host, func(t *testing.T) {
			var address string
			back := site(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/healthz" && r.Host != cmp.Or(host, address) {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			})
			address = strings.TrimPrefix(back.URL, "http://")
			var changes atomic.Int64
			var asked atomic.Int64
			o := newOrigin(t, back.URL, func(c *origin.Config) {
				c.Health, c.ProbeInterval, c.OnChange = origin.Health{Path: "/healthz", Host: host}, time.Millisecond, func(bool) { changes.Add(1) }
				c.Metrics.Answered = func(int, time.Duration) { asked.Add(1) }
			})
			ask(o, visitor{id: 1, client: 1}) // of example.com
			o.Watch()
			require.Eventually(t, func() bool {
				ask(o, visitor{id: 1, client: 1})
				return asked.Load() > 50
			}, patience, time.Millisecond)
			assert.Zero(t, changes.Load())
		})
	}
}

func TestHealthPaths(t *testing.T) {
	t.Parallel()
	for path, good := range map[string]bool{"/": true, "/healthz?deep=1": true, "": true, "healthz": false, "//a": false, "/a b": false, "/a#b": false, "http://a/": false} {
		assert.Equal(t, good, strings.TrimSpace(origin.CheckHealthPath(path)) == "", path)
	}
}
