package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

const patience = time.Minute

func TestVisitorsWaitBesideEveryProxy(t *testing.T) {
	program, err := stage.Program(t.Context())
	require.NoError(t, err)
	for _, name := range []string{"nginx", "caddy", "caddy-short"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, said := free(t), &stagetest.Output{}
			stagetest.Start(t, at.admin, func(ctx context.Context, out io.Writer) error {
				return run(ctx, io.MultiWriter(out, said), at, name, program)
			})
			require.Eventually(t, func() bool { return strings.Contains(said.String(), "Open http") }, patience, 20*time.Millisecond)
			walk(t, at, name, "http://"+at.visitors)
		})
	}
	// These programs are not to be had here: servers that follow their rules stand for them, with
	// their configuration.
	for name, like := range map[string]func(*testing.T, addresses) http.Handler{"traefik": likeTraefik, "envoy": likeEnvoy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := free(t)
			stagetest.Start(t, at.admin, func(ctx context.Context, out io.Writer) error {
				return runGate(ctx, out, at, program, func(*stage.Processes) error { return nil })
			})
			s := httptest.NewServer(like(t, at))
			t.Cleanup(s.Close)
			walk(t, at, name, s.URL)
		})
	}
}

func TestAProxyHasToBeKnownAndInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	assert.EqualError(t, run(t.Context(), io.Discard, free(t), "apache", ""), `"apache" is none of nginx, caddy, caddy-short, traefik and envoy`)
	assert.EqualError(t, run(t.Context(), io.Discard, free(t), "nginx", ""), "this example needs nginx; on Debian and Ubuntu install with apt-get install nginx")
}

func free(t *testing.T) addresses {
	t.Helper()
	return addresses{site: &stagetest.Shop{Handler: stage.Shop()}, shop: porttest.Address(t), visitors: porttest.Address(t), gate: porttest.Address(t), admin: porttest.Address(t)}
}

// answer is a response, read.
type answer struct {
	*http.Response
	body string
}

func (a answer) in() bool { return strings.Contains(a.body, "Welcome to the shop") }

// ticket says whether the answer has one.
func (a answer) ticket() bool {
	return strings.HasPrefix(strings.Join(a.Header["Set-Cookie"], "\n"), "fairdoor_shop=")
}

// ask sends a request with headers, which are pairs of a name and a value.
func ask(t *testing.T, visitor *http.Client, method, url string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	if method == http.MethodPost {
		req, err = http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("goods=lamp"))
		require.NoError(t, err)
	}
	req.Header.Set("Accept", "text/html")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := visitor.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return answer{resp, string(text)}
}

// walk is what a visitor who is in and one who waits see behind a proxy.
func walk(t *testing.T, at addresses, name, site string) {
	t.Helper()
	in, waits := stagetest.Visitor(t), stagetest.Visitor(t)
	first := ask(t, in, http.MethodGet, site+"/")
	require.True(t, first.in(), first.body)
	assert.True(t, first.ticket(), "the ticket of who is let in reaches them")
	assert.True(t, ask(t, in, http.MethodGet, site+"/").in(), "and lets them stay in")

	page := ask(t, waits, http.MethodGet, site+"/")
	require.Contains(t, page.body, "You are in the waiting room")
	assert.NotEmpty(t, page.Header.Get("Retry-After"))
	assert.True(t, page.ticket(), "who waits has a place")
	assert.Contains(t, ask(t, waits, http.MethodGet, site+"/", "Accept", "application/json").body, `"inWaitingRoom":true`)
	assert.Equal(t, http.StatusTooManyRequests, ask(t, waits, http.MethodPost, site+"/leave").StatusCode)
	assert.Contains(t, ask(t, waits, http.MethodGet, site+"/api/offers").body, "kettle", "a rule exempts it")
	nothingGetsAround(t, waits, site)
	for _, target := range stagetest.Targets {
		a := ask(t, in, http.MethodGet, site+target)
		assert.True(t, a.in(), "%s: %s", target, a.Status)
		assert.NotContains(t, fmt.Sprint(a.Header), "{", "no header is a placeholder that the proxy did not fill")
		page := ask(t, waits, http.MethodGet, site+target)
		assert.Contains(t, page.body, "You are in the waiting room", target)
	}
	at.site.(*stagetest.Shop).TakesWhatSitesTake(t, in, waits, site) //nolint:forcetypeassert // as in free
	hears(t, waits, site)
	assert.Equal(t, 1, queued(t, at), "one person waits, whatever was asked")

	require.Eventually(t, func() bool {
		a := ask(t, in, http.MethodGet, site+"/")
		require.True(t, a.in())
		if a.ticket() && name != "traefik" { // which takes nothing but cookies
			assert.Contains(t, a.Header.Get("Cache-Control"), "no-store", "no cache keeps a ticket")
		}
		return a.ticket()
	}, patience, 100*time.Millisecond, "a session that goes on has new tickets")

	end(t, at)
	require.Eventually(t, func() bool { return ask(t, waits, http.MethodGet, site+"/").in() }, patience, 100*time.Millisecond)
	assert.False(t, ask(t, in, http.MethodGet, site+"/").in())
	bought := ask(t, waits, http.MethodPost, site+"/leave")
	assert.Contains(t, bought.body, "Goodbye", "forms of those who are in reach the shop")
}

// nothingGetsAround tries to have the gate asked about another request than the shop gets.
func nothingGetsAround(t *testing.T, waits *http.Client, site string) {
	t.Helper()
	for _, name := range []string{"X-Forwarded-Uri", "X-Forwarded-Path", "X-Original-Uri", "X-Original-Url", "X-Rewrite-Url", "X-Envoy-Original-Path", "X_Forwarded_Uri"} {
		assert.False(t, ask(t, waits, http.MethodGet, site+"/", name, "/api/offers").in(), name)
	}
	assert.False(t, ask(t, waits, http.MethodGet, site+"/", "X-Forwarded-Method", "OPTIONS", "Origin", "http://a.test", "Access-Control-Request-Method", "PUT").in())
	assert.False(t, ask(t, waits, http.MethodGet, site+"/", "X-Forwarded-Host", "other.test", "X-Forwarded-For", "127.0.0.1").in())
	assert.False(t, ask(t, waits, http.MethodGet, site+"/", "Connection", "Upgrade, X-Forwarded-Uri", "Upgrade", "websocket").in())
	for _, path := range []string{"/api/..%2f", "/api/%2e%2e/", "/.fairdoor/..%2f", "/.fairdoor/check", "/.fairdoor/check/"} {
		assert.False(t, ask(t, waits, http.MethodGet, site+path).in(), path)
	}
}

// hears has the page of who waits hear its place.
func hears(t *testing.T, waits *http.Client, site string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, site+"/.fairdoor/events?room=shop", nil)
	require.NoError(t, err)
	resp, err := waits.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	for lines := bufio.NewScanner(resp.Body); ; {
		require.True(t, lines.Scan(), "the stream ends")
		if lines.Text() == "event: place" {
			return
		}
	}
}

func queued(t *testing.T, at addresses) int {
	t.Helper()
	var told struct {
		Queued int `json:"estimated_queued_users"`
	}
	text := stagetest.Text(t, http.DefaultClient, http.MethodGet, "http://"+at.admin+"/api/v1/rooms/shop/status")
	require.NoError(t, json.Unmarshal([]byte(text), &told))
	return told.Queued
}

// end ends the session of whoever is in.
func end(t *testing.T, at addresses) {
	t.Helper()
	list := "http://" + at.admin + "/api/v1/rooms/shop/visitors"
	var told struct {
		Active []struct{ ID string }
	}
	require.NoError(t, json.Unmarshal([]byte(stagetest.Text(t, http.DefaultClient, http.MethodGet, list)), &told))
	require.Len(t, told.Active, 1)
	stagetest.Text(t, http.DefaultClient, http.MethodDelete, list+"/"+told.Active[0].ID)
}
