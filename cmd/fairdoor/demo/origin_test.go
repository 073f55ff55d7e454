package demo_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/demo"
)

// visitor asks an origin without a network, and keeps the site's cookie.
type visitor struct {
	t      *testing.T
	origin http.Handler
	host   string
	cookie *http.Cookie
}

func (v *visitor) ask(method, path string) *http.Response {
	v.t.Helper()
	r := httptest.NewRequestWithContext(v.t.Context(), method, path, nil)
	if v.host != "" {
		r.Host = v.host
	}
	if v.cookie != nil {
		r.AddCookie(v.cookie)
	}
	w := httptest.NewRecorder()
	v.origin.ServeHTTP(w, r)
	answer := w.Result()
	for _, c := range answer.Cookies() {
		v.cookie = c
	}
	return answer
}

type places struct {
	Session int
	Places  []struct {
		Name string
		You  bool
		Left int
	}
}

func (v *visitor) places() places {
	v.t.Helper()
	var p places
	answer := v.ask(http.MethodGet, "/seats")
	require.Equal(v.t, http.StatusOK, answer.StatusCode)
	require.NoError(v.t, json.NewDecoder(answer.Body).Decode(&p))
	return p
}

// log is a site's own.
type log struct {
	mu     sync.Mutex
	events []demo.Event
}

func (l *log) add(e demo.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *log) all() []demo.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

func newOrigin(t *testing.T) (*demo.Origin, *log) {
	t.Helper()
	l := &log{}
	o, err := demo.NewOrigin(demo.Config{Log: l.add})
	require.NoError(t, err)
	t.Cleanup(o.Close)
	return o, l
}

func TestAVisitorHasAPlaceForAsLongAsTheyAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origin, log := newOrigin(t)
		v := &visitor{t: t, origin: origin}
		require.Equal(t, http.StatusOK, v.ask(http.MethodGet, "/").StatusCode)
		for range 20 {
			<-time.After(10 * time.Second)
			require.True(t, v.places().Places[0].You)
		}
		require.Len(t, log.all(), 1, "only their coming is told")

		<-time.After(15 * time.Second)
		synctest.Wait()
		events := log.all()
		require.Len(t, events, 2)
		assert.Equal(t, demo.Gone, events[1].Kind)
		assert.Zero(t, events[1].Taken)
		assert.Equal(t, http.StatusConflict, v.ask(http.MethodGet, "/seats").StatusCode, "asking who is in takes no place")
	})
}

func TestAVisitorWhoLeavesFreesThePlaceAtOnceAndEndsTheSession(t *testing.T) {
	origin, log := newOrigin(t)
	first, second := &visitor{t: t, origin: origin}, &visitor{t: t, origin: origin}
	first.ask(http.MethodGet, "/")
	second.ask(http.MethodGet, "/")

	answer := first.ask(http.MethodPost, "/leave")
	assert.Equal(t, "revoke", answer.Header.Get("Fairdoor-Command"))
	assert.Equal(t, demo.Left, log.all()[2].Kind)
	p := second.places().Places
	require.Len(t, p, 3)
	assert.Empty(t, p[0].Name, "the place is free")
	assert.True(t, p[1].You, "the others stay where they are")
	assert.Equal(t, http.StatusConflict, first.ask(http.MethodGet, "/seats").StatusCode)
}

func TestTheSiteShowsEveryoneWhoIsIn(t *testing.T) {
	origin, _ := newOrigin(t)
	seen := map[string]bool{}
	for range 5 {
		v := &visitor{t: t, origin: origin}
		v.ask(http.MethodGet, "/")
		name, _, _ := strings.Cut(v.cookie.Value, "-")
		assert.False(t, seen[name], "nobody who is in shares a name")
		seen[name] = true
		assert.Len(t, v.places().Places, max(3, len(seen)), "whoever the gate lets in has a place")
	}
}

func TestTheSitesCookie(t *testing.T) {
	origin, _ := newOrigin(t)
	tests := map[string]struct {
		host, cookie string
		name         string // "" for any
		issued       bool
	}{
		"a newcomer gets one":                             {issued: true},
		"a host with a name in it names its visitor":      {host: "BEN.localhost:8080", name: "Ben", issued: true},
		"a name that the site does not know is not taken": {host: "mallory.localhost:8080", issued: true},
		"one that the site has issued stays":              {cookie: "Ada-0123abcd", name: "Ada"},
		"one with a strange name is replaced":             {cookie: "Mallory-0123abcd", issued: true},
		"one with strange digits is replaced":             {cookie: "Ada-<script>", issued: true},
		"one without digits is replaced":                  {cookie: "Ada", issued: true},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			v := &visitor{t: t, origin: origin, host: test.host}
			if test.cookie != "" {
				v.cookie = &http.Cookie{Name: "demo_visitor", Value: test.cookie}
			}
			answer := v.ask(http.MethodGet, "/")
			assert.Equal(t, test.issued, len(answer.Cookies()) == 1)
			assert.Regexp(t, `^`+test.name+`[A-Z]?[a-z]*-[0-9a-f]{8}$`, v.cookie.Value)
			v.ask(http.MethodPost, "/leave")
		})
	}
}

func TestOtherVisitor(t *testing.T) {
	for host, want := range map[string]string{
		"localhost:8080":     "http://ben.localhost:8080/",
		"ada.localhost:8080": "http://ben.localhost:8080/",
		"127.0.0.1:8080":     "http://ben.localhost:8080/",
		"[::1]:8080":         "http://ben.localhost:8080/",
		"localhost":          "http://ben.localhost/",
		"192.0.2.7:8080":     "",
		"shop.example":       "",
	} {
		assert.Equal(t, want, demo.OtherVisitor(host, "Ben"), host)
	}
}
