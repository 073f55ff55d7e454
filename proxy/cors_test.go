package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
)

const (
	app     = "https://app.example"
	another = "https://other.example"
)

// listing lets the scripts of sites read the first room's answers.
func listing(sites ...string) func(*proxy.Config, *proxy.Options) {
	return room(func(r *proxy.RoomConfig) { r.CORSOrigins = sites })
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
func (a answer) readableBy(site string, cookies bool) bool {
	allowed := a.header.Values("Access-Control-Allow-Origin")
	if len(allowed) != 1 {
		return false
	}
	if !cookies {
		return allowed[0] == site || allowed[0] == "*"
	}
	return allowed[0] == site && a.header.Get("Access-Control-Allow-Credentials") == "true"
}

func TestListedSitesReadTheRoomsOwnAnswersAndNobodyElseDoes(t *testing.T) {
	f := start(t, listing("http://localhost:5173", app))
	f.full()
	waiting := f.visitor()
	waiting.get("/", asJSON)
	for name, ask := range map[string]func(site string) answer{
		"who waits":  func(site string) answer { return waiting.get("/api/cart", from(site)) },
		"a newcomer": func(site string) answer { return f.visitor().get("/api/cart", from(site)) },
		"an order": func(site string) answer {
			return waiting.send(http.MethodPost, "/api/cart", strings.NewReader("a=1"), from(site))
		},
		"a page":       func(site string) answer { return waiting.get("/", from(site), with("Accept", "text/html")) },
		"a picture":    func(site string) answer { return f.visitor().get("/logo.svg", from(site), asImage) },
		"how it is":    func(site string) answer { return waiting.get("/.fairdoor/session?room=shop", from(site)) },
		"how it stays": func(site string) answer { return waiting.get("/.fairdoor/session?room=shop&renew=1", from(site)) },
	} {
		t.Run(name, func(t *testing.T) {
			listed := ask(app)
			assert.True(t, listed.readableBy(app, true), "%v", listed.header)
			assert.Equal(t, "Fairdoor-Room, Retry-After", listed.header.Get("Access-Control-Expose-Headers"))
			assert.Contains(t, listed.header.Get("Vary"), "Origin")
			for _, site := range []string{another, "https://app.example.evil", "http://app.example", "null", app + ":8443"} {
				other := ask(site)
				assert.False(t, other.readableBy(site, true) || other.readableBy(site, false), site)
				assert.Contains(t, other.header.Get("Vary"), "Origin", "caches keep the two apart")
			}
		})
	}
	f.patch(`{"queueing_method": "reject"}`)
	assert.True(t, f.visitor().get("/", from(app)).readableBy(app, true), "where nobody is taken")
	assert.True(t, f.visitor().send(http.MethodPost, "/", nil, from(app)).readableBy(app, true), "whatever they send")
}

func TestOriginsAnswersAreLeftToTheOrigin(t *testing.T) {
	f := start(t, listing(app))
	f.site.will(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", another)
		_, _ = w.Write([]byte("in"))
	})
	in := f.visitor().get("/", from(app))
	require.True(t, in.in())
	assert.Equal(t, []string{another}, in.header.Values("Access-Control-Allow-Origin"))
	assert.NotContains(t, in.header, "Access-Control-Allow-Credentials")
	assert.NotContains(t, in.header, "Vary")
	f.site.requests()
	f.visitor().send(http.MethodOptions, "/api/cart", nil, preflighting)
	assert.Equal(t, 1, ofMethod(f.site.requests(), http.MethodOptions), "and so are preflights of requests to it")
}

func TestAllSitesReadWithoutCookies(t *testing.T) {
	f := start(t, listing("*", app))
	f.full()
	a := f.visitor().get("/", from(another))
	assert.True(t, a.readableBy(another, false))
	assert.Equal(t, []string{"*"}, a.header.Values("Access-Control-Allow-Origin"))
	assert.NotContains(t, a.header, "Access-Control-Allow-Credentials")
	assert.True(t, f.visitor().get("/", from(app)).readableBy(app, true), "who is listed besides has cookies")
}

func TestWithoutCORSOriginsNothingIsSaidToOtherSites(t *testing.T) {
	f := start(t)
	f.full()
	a := f.visitor().get("/", from(app))
	assert.False(t, a.readableBy(app, false))
	assert.Equal(t, "Accept, Accept-Language, Accept-Encoding, Cookie", a.header.Get("Vary"))
	assert.Equal(t, http.StatusMethodNotAllowed, f.visitor().send(http.MethodOptions, "/.fairdoor/session", nil, preflighting).status)
}

func TestGateAnswersThePreflightsOfItsOwnPaths(t *testing.T) {
	f := start(t, listing(app))
	preflight := func(path, site, method string) answer {
		return f.visitor().send(http.MethodOptions, path, nil, with("Origin", site), with("Access-Control-Request-Method", method),
			with("Access-Control-Request-Headers", "fairdoor-visibility,authorization"))
	}
	for path, method := range map[string]string{"/.fairdoor/session?renew=1": "GET", "/.fairdoor/events?room=shop": "GET", "/.fairdoor/leave": "POST"} {
		a := preflight(path, app, method)
		assert.Equal(t, http.StatusNoContent, a.status, path)
		assert.True(t, a.readableBy(app, true), path)
		assert.Equal(t, method, a.header.Get("Access-Control-Allow-Methods"), path)
		assert.Equal(t, "fairdoor-visibility,authorization", a.header.Get("Access-Control-Allow-Headers"), path)
		assert.Equal(t, http.StatusMethodNotAllowed, preflight(path, another, method).status, path)
	}
	assert.Equal(t, http.StatusNotFound, preflight("/.fairdoor/nothing", app, "GET").status)
	assert.Empty(t, f.site.requests())
}

func TestGoodbyesOfListedSitesCount(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.RefreshJitter = 0 }), listing(app))
	f.full()
	waiting := f.visitor()
	waiting.get("/")
	for _, site := range []string{another, app} {
		gone := site == app
		a := waiting.send(http.MethodPost, "/.fairdoor/leave", nil, from(site))
		assert.Equal(t, gone, a.status == http.StatusNoContent, site)
		assert.Equal(t, gone, a.readableBy(site, true), site)
		f.pass(time.Second)
		if gone {
			assert.Zero(t, f.status("shop").Queued)
		} else {
			assert.Equal(t, 1, f.status("shop").Queued, "nobody else says goodbye for them")
			waiting.get("/")
		}
	}
}

func TestAnswersAboutSeveralRoomsAreForThoseThatAllRoomsList(t *testing.T) {
	f := start(t, func(c *proxy.Config, _ *proxy.Options) {
		one, other := c.Rooms[0], c.Rooms[0]
		one.CORSOrigins, other.CORSOrigins = []string{app, another}, []string{app}
		other.Name = "bar"
		other.Routes = append(other.Routes[:0:0], other.Routes...)
		other.Routes[0].Path = "/bar"
		c.Rooms = []proxy.RoomConfig{one, other}
	})
	v := f.visitor()
	v.get("/")
	assert.True(t, v.get("/.fairdoor/session", from(another)).readableBy(another, true))
	v.get("/bar")
	assert.True(t, v.get("/.fairdoor/session", from(app)).readableBy(app, true))
	assert.False(t, v.get("/.fairdoor/session", from(another)).readableBy(another, false))
	assert.True(t, v.get("/.fairdoor/session?room=shop", from(another)).readableBy(another, true))
}

// What waits, and what the site says.
func TestAppsTellTheRoomsAnswersFromTheSites(t *testing.T) {
	for _, status := range []int{200, 429, 503} {
		f := start(t, room(func(r *proxy.RoomConfig) { r.StatusCode = status }))
		f.full()
		for name, a := range map[string]answer{
			"JSON":       f.visitor().get("/", asJSON),
			"a page":     f.visitor().get("/"),
			"HEAD":       f.visitor().send(http.MethodHead, "/", nil),
			"an order":   f.visitor().send(http.MethodPost, "/", strings.NewReader("a=1"), asJSON),
			"a withheld": f.visitor().get("/logo.svg", asImage),
		} {
			assert.Equal(t, "shop", a.header.Get("Fairdoor-Room"), name)
			assert.NotEmpty(t, a.header.Get("Retry-After"), "%s: ask again", name)
		}
		f.patch(`{"queueing_method": "reject"}`)
		f.pass(9 * time.Minute)
		for name, a := range map[string]answer{"JSON": f.visitor().get("/", asJSON), "an order": f.visitor().send(http.MethodPost, "/", nil, asJSON)} {
			assert.Equal(t, "shop", a.header.Get("Fairdoor-Room"), name)
			assert.Empty(t, a.header.Get("Retry-After"), "%s: nobody is taken", name)
			if a.room != nil {
				assert.EqualValues(t, 0, a.told("refreshIntervalSeconds"))
				assert.EqualValues(t, 0, a.told("refreshLeftSeconds"))
			}
		}
	}
	f := start(t)
	v := f.visitor()
	for _, status := range []int{200, 404, 429, 500, 503} {
		f.site.will(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		assert.NotContains(t, v.get("/", asJSON).header, "Fairdoor-Room", "the site answers with %d", status)
	}
	f.site.Close()
	assert.NotContains(t, v.get("/", asJSON).header, "Fairdoor-Room", "nor does it answer")
}
