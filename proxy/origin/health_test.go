package origin_test

import (
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
		o := newOrigin(t, back.URL, func(c *origin.Config) { c.HealthPath, c.ProbeInterval = "/healthz?deep", time.Millisecond })
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
		c.HealthPath, c.ProbeInterval, c.OnChange = "/healthz", time.Millisecond, func(bool) { changes.Add(1) }
	})
	o.Watch()
	require.Eventually(t, func() bool { return asked.Load() > 20 }, patience, time.Millisecond)
	assert.Zero(t, changes.Load())
}

func TestHealthPaths(t *testing.T) {
	t.Parallel()
	for path, good := range map[string]bool{"/": true, "/healthz?deep=1": true, "": true, "healthz": false, "//a": false, "/a b": false, "/a#b": false, "http://a/": false} {
		assert.Equal(t, good, strings.TrimSpace(origin.CheckHealthPath(path)) == "", path)
	}
}
