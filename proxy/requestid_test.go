package proxy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
)

// idAtSite is the id of the visitors' latest request at the site.
func idAtSite(t *testing.T, f *gatetest.Fixture) string {
	t.Helper()
	all := slices.DeleteFunc(f.Site.Requests(), func(r *http.Request) bool { return r.Header["X-Forwarded-For"] == nil }) // the gate's own
	require.NotEmpty(t, all)
	ids := all[len(all)-1].Header["X-Request-Id"]
	require.Len(t, ids, 1)
	return ids[0]
}

func TestEachRequestHasAnIDAtTheSiteAndInTheAnswer(t *testing.T) {
	f, seen := gatetest.Start(t), map[string]bool{}
	v := f.Visitor()
	for _, change := range []func(*http.Request){
		func(*http.Request) {},
		gatetest.With("X-Request-Id", "a-stranger's"),
		gatetest.With("Connection", "X-Request-Id"),
	} {
		answer := v.Get("/", change)
		require.True(t, answer.In())
		id := idAtSite(t, f)
		assert.Regexp(t, "^[0-9a-f]{32}$", id)
		assert.False(t, seen[id])
		assert.Equal(t, []string{id}, answer.Header["X-Request-Id"])
		seen[id] = true
	}
}

func TestTheIDOfATrustedProxyIsTakenIfLogsCanHaveIt(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback)
	v := f.Visitor()
	for id, taken := range map[string]bool{
		"cf-7a8b9c": true, strings.Repeat("x", 128): true, "": false, strings.Repeat("x", 129): false, "two words": false, `a"b`: false, `a\b`: false, "größe": false,
	} {
		answer := v.Get("/", gatetest.With("X-Request-Id", id))
		require.True(t, answer.In())
		got := idAtSite(t, f)
		assert.Equal(t, taken, got == id, id)
		assert.Equal(t, []string{got}, answer.Header["X-Request-Id"])
	}
	v.Get("/", func(r *http.Request) { r.Header["X-Request-Id"] = []string{"one", "two"} })
	assert.Len(t, idAtSite(t, f), 32)
}

func TestTheGatesOwnAnswersHaveTheID(t *testing.T) {
	f := gatetest.Start(t, gatetest.TrustingLoopback)
	in := f.Full()[0]
	named := gatetest.With("X-Request-Id", "the-proxy's")
	for what, answer := range map[string]gatetest.Answer{
		"a page":           f.Visitor().Get("/", named),
		"a path of ours":   in.Get("/.fairdoor/session?room=shop", named),
		"a path of nobody": in.Get("/.fairdoor/nothing", named),
	} {
		assert.Equal(t, []string{"the-proxy's"}, answer.Header["X-Request-Id"], what)
	}
}

func TestAnAnswerOfTheSiteHasTheIDOnce(t *testing.T) {
	for name, answers := range map[string]http.HandlerFunc{
		"an id of its own": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Request-Id", "the site's") },
		"hints first": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "</style.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusOK)
		},
		"none": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			core, logged := observer.New(zap.DebugLevel)
			f := gatetest.Start(t, func(_ *proxy.Config, o *proxy.Options) { o.Log = zap.New(core) })
			v := f.Visitor()
			require.True(t, v.Get("/").In())
			f.Site.Will(answers)
			answer := v.Get("/")
			id := idAtSite(t, f)
			assert.Equal(t, []string{id}, answer.Header["X-Request-Id"])
			lines := logged.Filter(func(e observer.LoggedEntry) bool { return e.ContextMap()["requestId"] == id }).All()
			if name != "none" {
				assert.Empty(t, lines)
				return
			}
			require.Len(t, lines, 2)
			assert.Equal(t, "origin did not answer", lines[0].Message)
			assert.Equal(t, "a visitor was told that the origin did not answer", lines[1].Message)
			assert.NotEmpty(t, lines[1].ContextMap()["supportCode"])
		})
	}
}
