package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

const (
	app     = "https://app.example"
	another = "https://other.example"
)

// listing lets the scripts of sites read the first room's answers.
func listing(sites ...string) func(*proxy.Config, *proxy.Options) {
	return gatetest.Room(func(r *proxy.RoomConfig) { r.CORSOrigins = sites })
}

// from makes a request one that a script of another site sends, with cookies.
func from(site string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Origin", site)
		r.Header.Set("Accept", "*/*")
		r.Header.Set("Sec-Fetch-Dest", "empty")
		r.Header.Set("Sec-Fetch-Mode", "cors")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
}

// readableBy says whether a browser lets a script of the site read an answer to a request
// with cookies, or without.
func readableBy(a gatetest.Answer, site string, cookies bool) bool {
	allowed := a.Header.Values("Access-Control-Allow-Origin")
	if len(allowed) != 1 {
		return false
	}
	if !cookies {
		return allowed[0] == site || allowed[0] == "*"
	}
	return allowed[0] == site && a.Header.Get("Access-Control-Allow-Credentials") == "true"
}

func TestListedSitesReadTheRoomsOwnAnswersAndNobodyElseDoes(t *testing.T) {
	f := gatetest.Start(t, listing("http://localhost:5173", app))
	f.Full()
	waiting := f.Visitor()
	waiting.Get("/", gatetest.AsJSON)
	for name, ask := range map[string]func(site string) gatetest.Answer{
		"who waits":  func(site string) gatetest.Answer { return waiting.Get("/api/cart", from(site)) },
		"a newcomer": func(site string) gatetest.Answer { return f.Visitor().Get("/api/cart", from(site)) },
		"an order": func(site string) gatetest.Answer {
			return waiting.Send(http.MethodPost, "/api/cart", strings.NewReader("a=1"), from(site))
		},
		"a page": func(site string) gatetest.Answer {
			return waiting.Get("/", from(site), gatetest.With("Accept", "text/html"))
		},
		"a picture": func(site string) gatetest.Answer { return f.Visitor().Get("/logo.svg", from(site), asImage) },
		"how it is": func(site string) gatetest.Answer { return waiting.Get("/.fairdoor/session?room=shop", from(site)) },
		"how it stays": func(site string) gatetest.Answer {
			return waiting.Get("/.fairdoor/session?room=shop&renew=1", from(site))
		},
	} {
		t.Run(name, func(t *testing.T) {
			listed := ask(app)
			assert.True(t, readableBy(listed, app, true), "%v", listed.Header)
			assert.Equal(t, "Fairdoor-Room, Retry-After", listed.Header.Get("Access-Control-Expose-Headers"))
			assert.Contains(t, listed.Header.Get("Vary"), "Origin")
			for _, site := range []string{another, "https://app.example.evil", "http://app.example", "null", app + ":8443"} {
				other := ask(site)
				assert.False(t, readableBy(other, site, true) || readableBy(other, site, false), site)
				assert.Contains(t, other.Header.Get("Vary"), "Origin", "caches keep the two apart")
			}
		})
	}
	f.Patch(`{"queueing_method": "reject"}`)
	assert.True(t, readableBy(f.Visitor().Get("/", from(app)), app, true), "where nobody is taken")
	assert.True(t, readableBy(f.Visitor().Send(http.MethodPost, "/", nil, from(app)), app, true), "whatever they send")
}

func TestOriginsAnswersAreLeftToTheOrigin(t *testing.T) {
	f := gatetest.Start(t, listing(app))
	f.Site.Will(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", another)
		_, _ = w.Write([]byte("in"))
	})
	in := f.Visitor().Get("/", from(app))
	require.True(t, in.In())
	assert.Equal(t, []string{another}, in.Header.Values("Access-Control-Allow-Origin"))
	assert.NotContains(t, in.Header, "Access-Control-Allow-Credentials")
	assert.NotContains(t, in.Header, "Vary")
	f.Site.Requests()
	f.Visitor().Send(http.MethodOptions, "/api/cart", nil, preflighting)
	assert.Equal(t, 1, ofMethod(f.Site.Requests(), http.MethodOptions), "and so are preflights of requests to it")
}

func TestAllSitesReadWithoutCookies(t *testing.T) {
	f := gatetest.Start(t, listing("*", app))
	f.Full()
	a := f.Visitor().Get("/", from(another))
	assert.True(t, readableBy(a, another, false))
	assert.Equal(t, []string{"*"}, a.Header.Values("Access-Control-Allow-Origin"))
	assert.NotContains(t, a.Header, "Access-Control-Allow-Credentials")
	assert.True(t, readableBy(f.Visitor().Get("/", from(app)), app, true), "who is listed besides has cookies")
}

func TestWithoutCORSOriginsNothingIsSaidToOtherSites(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	a := f.Visitor().Get("/", from(app))
	assert.False(t, readableBy(a, app, false))
	assert.Equal(t, "Accept, Accept-Language, Accept-Encoding, Cookie", a.Header.Get("Vary"))
	assert.Equal(t, http.StatusMethodNotAllowed, f.Visitor().Send(http.MethodOptions, "/.fairdoor/session", nil, preflighting).Status)
}

func TestGateAnswersThePreflightsOfItsOwnPaths(t *testing.T) {
	f := gatetest.Start(t, listing(app))
	preflight := func(path, site, method string) gatetest.Answer {
		return f.Visitor().Send(http.MethodOptions, path, nil, gatetest.With("Origin", site), gatetest.With("Access-Control-Request-Method", method),
			gatetest.With("Access-Control-Request-Headers", "fairdoor-visibility,authorization"))
	}
	for path, method := range map[string]string{"/.fairdoor/session?renew=1": "GET", "/.fairdoor/events?room=shop": "GET", "/.fairdoor/leave": "POST"} {
		a := preflight(path, app, method)
		assert.Equal(t, http.StatusNoContent, a.Status, path)
		assert.True(t, readableBy(a, app, true), path)
		assert.Equal(t, method, a.Header.Get("Access-Control-Allow-Methods"), path)
		assert.Equal(t, "fairdoor-visibility,authorization", a.Header.Get("Access-Control-Allow-Headers"), path)
		assert.Equal(t, http.StatusMethodNotAllowed, preflight(path, another, method).Status, path)
	}
	assert.Equal(t, http.StatusNotFound, preflight("/.fairdoor/nothing", app, "GET").Status)
	assert.Empty(t, f.Site.Requests())
}

func TestGoodbyesOfListedSitesCount(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.RefreshJitter = 0 }), listing(app))
	f.Full()
	waiting := f.Visitor()
	waiting.Get("/")
	for _, site := range []string{another, app} {
		gone := site == app
		a := waiting.Send(http.MethodPost, "/.fairdoor/leave", nil, from(site))
		assert.Equal(t, gone, a.Status == http.StatusNoContent, site)
		assert.Equal(t, gone, readableBy(a, site, true), site)
		f.Pass(time.Second)
		if gone {
			assert.Zero(t, f.Status("shop").Queued)
		} else {
			assert.Equal(t, 1, f.Status("shop").Queued, "nobody else says goodbye for them")
			waiting.Get("/")
		}
	}
}

func TestAnswersAboutSeveralRoomsAreForThoseThatAllRoomsList(t *testing.T) {
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) {
		one, other := c.Rooms[0], c.Rooms[0]
		one.CORSOrigins, other.CORSOrigins = []string{app, another}, []string{app}
		other.Name = "bar"
		other.Routes = append(other.Routes[:0:0], other.Routes...)
		other.Routes[0].Path = "/bar"
		c.Rooms = []proxy.RoomConfig{one, other}
	})
	v := f.Visitor()
	v.Get("/")
	assert.True(t, readableBy(v.Get("/.fairdoor/session", from(another)), another, true))
	v.Get("/bar")
	assert.True(t, readableBy(v.Get("/.fairdoor/session", from(app)), app, true))
	assert.False(t, readableBy(v.Get("/.fairdoor/session", from(another)), another, false))
	assert.True(t, readableBy(v.Get("/.fairdoor/session?room=shop", from(another)), another, true))
}

// What waits, and what the site says.
func TestAppsTellTheRoomsAnswersFromTheSites(t *testing.T) {
	for _, status := range []int{200, 429, 503} {
		f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.StatusCode = status }))
		f.Full()
		for name, a := range map[string]gatetest.Answer{
			"JSON":       f.Visitor().Get("/", gatetest.AsJSON),
			"a page":     f.Visitor().Get("/"),
			"HEAD":       f.Visitor().Send(http.MethodHead, "/", nil),
			"an order":   f.Visitor().Send(http.MethodPost, "/", strings.NewReader("a=1"), gatetest.AsJSON),
			"a withheld": f.Visitor().Get("/logo.svg", asImage),
		} {
			assert.Equal(t, "shop", a.Header.Get("Fairdoor-Room"), name)
			assert.NotEmpty(t, a.Header.Get("Retry-After"), "%s: ask again", name)
		}
		f.Patch(`{"queueing_method": "reject"}`)
		f.Pass(9 * time.Minute)
		for name, a := range map[string]gatetest.Answer{"JSON": f.Visitor().Get("/", gatetest.AsJSON), "an order": f.Visitor().Send(http.MethodPost, "/", nil, gatetest.AsJSON)} {
			assert.Equal(t, "shop", a.Header.Get("Fairdoor-Room"), name)
			assert.Empty(t, a.Header.Get("Retry-After"), "%s: nobody is taken", name)
			if a.Room != nil {
				assert.EqualValues(t, 0, a.Told("refreshIntervalSeconds"))
				assert.EqualValues(t, 0, a.Told("refreshLeftSeconds"))
			}
		}
	}
	f := gatetest.Start(t)
	v := f.Visitor()
	for _, status := range []int{200, 404, 429, 500, 503} {
		f.Site.Will(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		assert.NotContains(t, v.Get("/", gatetest.AsJSON).Header, "Fairdoor-Room", "the site answers with %d", status)
	}
	f.Site.Close()
	assert.NotContains(t, v.Get("/", gatetest.AsJSON).Header, "Fairdoor-Room", "nor does it answer")
}
