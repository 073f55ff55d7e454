package proxy_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

func TestWhoeverWaitsIsAnsweredByTheGate(t *testing.T) {
	custom, err := templates.Parse([]byte("<!doctype html><title>wait</title>{{refreshIntervalSeconds}}"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		accept  string
		page    *templates.Page
		kind    string
		refresh bool
	}{
		"with the built-in page, which refreshes itself": {"text/html", nil, "text/html; charset=utf-8", false},
		"with JSON, which says when to come again":       {"application/json", nil, "application/json", true},
		"with a page of the room's own":                  {"text/html", custom, "text/html; charset=utf-8", true},
		"with JSON though the room has a page":           {"application/json", custom, "application/json", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, room(func(r *proxy.RoomConfig) { r.Page = c.page }))
			f.full()
			a := f.visitor().get("/cart?x=1", with("Accept", c.accept), with("Accept-Encoding", "identity"))

			assert.Equal(t, http.StatusOK, a.status)
			assert.Equal(t, c.kind, a.header.Get("Content-Type"))
			assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
			assert.Equal(t, "Accept, Accept-Language, Accept-Encoding, Cookie", a.header.Get("Vary"))
			assert.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"))
			assert.Empty(t, a.header.Get("Etag"))
			assert.Equal(t, strconv.Itoa(len(a.body)), a.header.Get("Content-Length"))
			assert.Len(t, a.setCookies(), 1)
			seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
			require.NoError(t, err)
			assert.InDelta(t, interval.Seconds(), seconds, .15*interval.Seconds()+1)
			if c.refresh {
				assert.Equal(t, a.header.Get("Retry-After")+"; url=/cart?x=1", a.header.Get("Refresh"))
			} else {
				assert.NotContains(t, a.header, "Refresh")
			}
			if c.page == nil && c.kind != "application/json" {
				assert.Contains(t, a.header.Get("Content-Security-Policy"), "default-src 'none'")
				assert.Equal(t, "en-US", a.header.Get("Content-Language"))
			} else {
				assert.NotContains(t, a.header, "Content-Language")
			}
			assert.Empty(t, f.site.requests(), "nobody who waits reaches the origin")
		})
	}
}

func TestQueueingStatusCodeIsThatOfAnswersToWhoWaits(t *testing.T) {
	for _, code := range []int{200, 202, 429, 503} {
		f := start(t, room(func(r *proxy.RoomConfig) { r.StatusCode = code }))
		f.full()
		assert.Equal(t, code, f.visitor().get("/").status)
		assert.Equal(t, code, f.visitor().get("/", asJSON).status)
	}
}

func TestJSONOfWhoWaits(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.Bucket = time.Second }))
	f.full()
	first := f.visitor()
	first.get("/")
	f.pass(2 * time.Second)
	second := f.visitor()
	second.get("/")
	f.pass(2 * time.Second)
	a := second.get("/", asJSON)

	assert.Equal(t, true, a.told("inWaitingRoom"))
	assert.Equal(t, "fifo", a.told("queueingMethod"))
	assert.Equal(t, true, a.told("isFIFOQueue"))
	assert.Equal(t, false, a.told("queueAll"))
	assert.Equal(t, true, a.told("usersAheadKnown"))
	assert.EqualValues(t, 1, a.told("usersAhead"))
	assert.EqualValues(t, 2, a.told("usersQueued"))
	assert.EqualValues(t, a.told("refreshLeftSeconds"), a.left(t))
	assert.EqualValues(t, a.told("refreshIntervalSeconds"), a.left(t)+2)
	updated, err := time.Parse("2006-01-02T15:04:05.000Z", a.told("lastUpdated").(string))
	require.NoError(t, err)
	assert.Equal(t, f.clock.Now().Add(-2*time.Second), updated, "an early check-in does not count")
}

func TestToldIntervalIsTheOneThatIsEnforced(t *testing.T) {
	f := start(t)
	f.full()
	for range 20 {
		v := f.visitor()
		told := time.Duration(v.get("/", asJSON).told("refreshIntervalSeconds").(float64)) * time.Second
		asked := f.clock.Now()
		f.clock.add(told * 3 / 4)
		assert.Equal(t, asked.Format("2006-01-02T15:04:05.000Z"), v.get("/", asJSON).told("lastUpdated"), "too early")
		f.clock.add(told - told*3/4)
		assert.Equal(t, f.clock.Now().Format("2006-01-02T15:04:05.000Z"), v.get("/", asJSON).told("lastUpdated"), "in time")
	}
}

func TestAcceptDecidesBetweenPageAndJSON(t *testing.T) {
	f := start(t)
	f.full()
	for accept, json := range map[string]bool{
		"":                                       false,
		"*/*":                                    false,
		"application/*":                          false,
		"application/json":                       true,
		"application/json, text/html":            true,
		"text/html, application/json":            false,
		"text/html;q=0.9, application/json":      true,
		"text/html, application/json;q=0.9":      false,
		"application/json;q=0":                   false,
		"application/json, text/plain, */*":      true,
		"application/problem+json":               true,
		"application/vnd.shop.v1+json, */*":      true,
		"application/vnd.shop.v1":                true,
		"application/xml, */*":                   false,
		"text/event-stream":                      true,
		"APPLICATION/JSON":                       true,
		"text/html,application/xhtml+xml,*/*":    false,
		"application/json;q=oops, text/html":     false,
		"application/json; charset=utf-8":        true,
		"text/html;level=1, application/json":    false,
		"application/json;q=0.5, text/*;q=0.4":   true,
		"image/avif,image/webp,application/json": true,
	} {
		a := f.visitor().get("/", with("Accept", accept))
		assert.Equal(t, json, a.room != nil, "Accept: %q", accept)
	}
}

// fromScript makes a request one of a page's script, as browsers send it.
func fromScript(accept string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Dest", "empty")
		r.Header.Set("Sec-Fetch-Mode", "cors")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Accept", accept)
	}
}

func TestAScriptGetsJSONUnlessItNamesHTML(t *testing.T) {
	f := start(t)
	f.full()
	for accept, json := range map[string]bool{
		"*/*":                              true,
		"":                                 true,
		"text/plain":                       true,
		"application/json;q=0.5, */*":      true,
		"text/html":                        false,
		"text/html, */*; q=0.01":           false,
		"text/html, application/xhtml+xml": false,
		"application/json, text/html":      true,
		"text/html;q=0.9, application/vnd.shop.v1+json": true,
		"application/xhtml+xml":                         false,
		"text/html;q=0, */*":                            true,
	} {
		a := f.visitor().get("/api/cart", fromScript(accept))
		assert.Equal(t, json, a.room != nil, "Accept: %q", accept)
	}
	assert.Nil(t, f.visitor().get("/", with("Sec-Fetch-Dest", "document"), with("Accept", "*/*")).room, "a page is for people")
}

func TestRoomWithoutJSONAnswersWithThePage(t *testing.T) {
	f := start(t, room(func(r *proxy.RoomConfig) { r.JSON = false }))
	f.full()
	for _, asked := range []func(*http.Request){asJSON, fromScript("*/*"), with("Accept", "application/vnd.api+json")} {
		assert.Contains(t, f.visitor().get("/", asked).body, "<html")
	}
}

func TestPageIsInTheVisitorsLanguage(t *testing.T) {
	f := start(t, room(func(r *proxy.RoomConfig) { r.Language = "fr-FR" }))
	f.full()
	for accept, want := range map[string]string{
		"": "fr-FR", "de": "de-DE", "tlh, de-CH;q=0.5": "de-DE", "ja,en;q=0.9": "ja-JP", "!!": "fr-FR",
	} {
		a := f.visitor().get("/", with("Accept-Language", accept))
		assert.Equal(t, want, a.header.Get("Content-Language"), "Accept-Language: %q", accept)
		assert.Contains(t, a.body, `lang="`+want+`"`)
	}
}

func TestHEADIsAnsweredLikeGETWithoutABody(t *testing.T) {
	f := start(t, room(func(r *proxy.RoomConfig) { r.StatusCode = http.StatusAccepted }))
	in := f.full()[0]
	waiting := f.visitor()
	for _, accept := range []string{"text/html", "application/json"} {
		head, get := waiting.send(http.MethodHead, "/", nil, with("Accept", accept)), f.visitor().get("/", with("Accept", accept))
		assert.Empty(t, head.body)
		assert.Equal(t, get.status, head.status)
		for _, name := range []string{"Cache-Control", "Content-Type", "Vary", "X-Content-Type-Options"} {
			assert.Equal(t, get.header.Get(name), head.header.Get(name), name)
		}
		assert.Equal(t, "20", head.header.Get("Retry-After"))
	}
	assert.Equal(t, http.StatusOK, in.send(http.MethodHead, "/", nil).status)
	require.Len(t, f.site.requests(), 1)
}

func TestPlaceIsKeptAndTheOldestGoFirst(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) {
		s.Bucket, s.SessionDuration, s.RefreshJitter = time.Second, 30*time.Second, 0
	}))
	f.full()
	first, second := f.visitor(), f.visitor()
	first.get("/")
	f.pass(2 * time.Second)
	second.get("/")
	f.pass(18 * time.Second) // the first is due
	first.get("/")
	f.pass(10 * time.Second) // the session has ended; the second is due
	assert.False(t, second.get("/").in(), "the slot is the first one's")
	f.pass(10 * time.Second)
	assert.True(t, first.get("/").in())
}

func TestNewcomersDoNotPassThoseWhoWait(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random} {
		f := start(t, settings(func(s *queue.Settings) {
			s.Method, s.SessionDuration, s.Pacing, s.RefreshJitter = method, 15*time.Second, queue.PacingMinute, 0
		}))
		f.full()
		waiting := f.visitor()
		waiting.get("/")
		f.pass(15 * time.Second) // a slot is free, and theirs who is not due yet
		for range 20 {
			assert.False(t, f.visitor().get("/").in(), "%v", method)
		}
	}
}
