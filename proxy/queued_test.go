package proxy_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
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
			f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Page = c.page }))
			f.Full()
			a := f.Visitor().Get("/cart?x=1", gatetest.With("Accept", c.accept), gatetest.With("Accept-Encoding", "identity"))

			assert.Equal(t, http.StatusOK, a.Status)
			assert.Equal(t, c.kind, a.Header.Get("Content-Type"))
			assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
			assert.Equal(t, "Accept, Accept-Language, Accept-Encoding, Cookie", a.Header.Get("Vary"))
			assert.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
			assert.Empty(t, a.Header.Get("Etag"))
			assert.Equal(t, strconv.Itoa(len(a.Body)), a.Header.Get("Content-Length"))
			assert.Len(t, a.SetCookies(), 1)
			seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
			require.NoError(t, err)
			assert.InDelta(t, gatetest.Interval.Seconds(), seconds, .15*gatetest.Interval.Seconds()+1)
			if c.refresh {
				assert.Equal(t, a.Header.Get("Retry-After")+"; url=/cart?x=1", a.Header.Get("Refresh"))
			} else {
				assert.NotContains(t, a.Header, "Refresh")
			}
			if c.page == nil && c.kind != "application/json" {
				assert.Contains(t, a.Header.Get("Content-Security-Policy"), "default-src 'none'")
				assert.Equal(t, "en-US", a.Header.Get("Content-Language"))
			} else {
				assert.NotContains(t, a.Header, "Content-Language")
			}
			assert.Empty(t, f.Site.Requests(), "nobody who waits reaches the origin")
		})
	}
}

func TestQueueingStatusCodeIsThatOfAnswersToWhoWaits(t *testing.T) {
	for _, code := range []int{200, 202, 429, 503} {
		f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.StatusCode = code }))
		f.Full()
		assert.Equal(t, code, f.Visitor().Get("/").Status)
		assert.Equal(t, code, f.Visitor().Get("/", gatetest.AsJSON).Status)
	}
}

func TestJSONOfWhoWaits(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Bucket = time.Second }))
	f.Full()
	first := f.Visitor()
	first.Get("/")
	f.Pass(2 * time.Second)
	second := f.Visitor()
	second.Get("/")
	f.Pass(2 * time.Second)
	a := second.Get("/", gatetest.AsJSON)

	assert.Equal(t, true, a.Told("inWaitingRoom"))
	assert.Equal(t, "fifo", a.Told("queueingMethod"))
	assert.Equal(t, true, a.Told("isFIFOQueue"))
	assert.Equal(t, false, a.Told("queueAll"))
	assert.Equal(t, true, a.Told("usersAheadKnown"))
	assert.EqualValues(t, 1, a.Told("usersAhead"))
	assert.EqualValues(t, 2, a.Told("usersQueued"))
	assert.EqualValues(t, a.Told("refreshLeftSeconds"), a.Left(t))
	assert.EqualValues(t, a.Told("refreshIntervalSeconds"), a.Left(t)+2)
	updated, err := time.Parse("2006-01-02T15:04:05.000Z", a.Told("lastUpdated").(string))
	require.NoError(t, err)
	assert.Equal(t, f.Clock.Now().Add(-2*time.Second), updated, "an early check-in does not count")
}

func TestToldIntervalIsTheOneThatIsEnforced(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	for range 20 {
		v := f.Visitor()
		told := time.Duration(v.Get("/", gatetest.AsJSON).Told("refreshIntervalSeconds").(float64)) * time.Second
		asked := f.Clock.Now()
		f.Clock.Add(told * 3 / 4)
		assert.Equal(t, asked.Format("2006-01-02T15:04:05.000Z"), v.Get("/", gatetest.AsJSON).Told("lastUpdated"), "too early")
		f.Clock.Add(told - told*3/4)
		assert.Equal(t, f.Clock.Now().Format("2006-01-02T15:04:05.000Z"), v.Get("/", gatetest.AsJSON).Told("lastUpdated"), "in time")
	}
}

func TestAcceptDecidesBetweenPageAndJSON(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
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
		a := f.Visitor().Get("/", gatetest.With("Accept", accept))
		assert.Equal(t, json, a.Room != nil, "Accept: %q", accept)
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
	f := gatetest.Start(t)
	f.Full()
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
		a := f.Visitor().Get("/api/cart", fromScript(accept))
		assert.Equal(t, json, a.Room != nil, "Accept: %q", accept)
	}
	assert.Nil(t, f.Visitor().Get("/", gatetest.With("Sec-Fetch-Dest", "document"), gatetest.With("Accept", "*/*")).Room, "a page is for people")
}

func TestRoomWithoutJSONAnswersWithThePage(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.JSON = false }))
	f.Full()
	for _, asked := range []func(*http.Request){gatetest.AsJSON, fromScript("*/*"), gatetest.With("Accept", "application/vnd.api+json")} {
		assert.Contains(t, f.Visitor().Get("/", asked).Body, "<html")
	}
}

func TestPageIsInTheVisitorsLanguage(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Language = "fr-FR" }))
	f.Full()
	for accept, want := range map[string]string{
		"": "fr-FR", "de": "de-DE", "tlh, de-CH;q=0.5": "de-DE", "ja,en;q=0.9": "ja-JP", "!!": "fr-FR",
	} {
		a := f.Visitor().Get("/", gatetest.With("Accept-Language", accept))
		assert.Equal(t, want, a.Header.Get("Content-Language"), "Accept-Language: %q", accept)
		assert.Contains(t, a.Body, `lang="`+want+`"`)
	}
}

func TestHEADIsAnsweredLikeGETWithoutABody(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.StatusCode = http.StatusAccepted }))
	in := f.Full()[0]
	waiting := f.Visitor()
	for _, accept := range []string{"text/html", "application/json"} {
		head, get := waiting.Send(http.MethodHead, "/", nil, gatetest.With("Accept", accept)), f.Visitor().Get("/", gatetest.With("Accept", accept))
		assert.Empty(t, head.Body)
		assert.Equal(t, get.Status, head.Status)
		for _, name := range []string{"Cache-Control", "Content-Type", "Vary", "X-Content-Type-Options"} {
			assert.Equal(t, get.Header.Get(name), head.Header.Get(name), name)
		}
		assert.Equal(t, "20", head.Header.Get("Retry-After"))
	}
	assert.Equal(t, http.StatusOK, in.Send(http.MethodHead, "/", nil).Status)
	require.Len(t, f.Site.Requests(), 1)
}

func TestPlaceIsKeptAndTheOldestGoFirst(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) {
		s.Bucket, s.SessionDuration, s.RefreshJitter = time.Second, 30*time.Second, 0
	}))
	f.Full()
	first, second := f.Visitor(), f.Visitor()
	first.Get("/")
	f.Pass(2 * time.Second)
	second.Get("/")
	f.Pass(18 * time.Second) // the first is due
	first.Get("/")
	f.Pass(10 * time.Second) // the session has ended; the second is due
	assert.False(t, second.Get("/").In(), "the slot is the first one's")
	f.Pass(10 * time.Second)
	assert.True(t, first.Get("/").In())
}

func TestNewcomersDoNotPassThoseWhoWait(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random} {
		f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) {
			s.Method, s.SessionDuration, s.Pacing, s.RefreshJitter = method, 15*time.Second, queue.PacingMinute, 0
		}))
		f.Full()
		waiting := f.Visitor()
		waiting.Get("/")
		f.Pass(15 * time.Second) // a slot is free, and theirs who is not due yet
		for range 20 {
			assert.False(t, f.Visitor().Get("/").In(), "%v", method)
		}
	}
}
