package proxy_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestStatusTabulatesTheBucketsAsTheRuleServesThem(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) {
		s.TotalActiveUsers, s.SessionDuration, s.QueueTicketTTL = 4, 50*time.Second, time.Hour
	}))
	assert.Equal(t, gatetest.Standing{Status: "not_queueing", Reason: "none", OpenSlots: 4}, withoutBuckets(f.Status("shop")))
	f.Full()
	var waiting []*gatetest.Visitor
	for _, people := range []int{3, 2} {
		for range people {
			v := f.Visitor()
			v.Get("/")
			waiting = append(waiting, v)
		}
		f.Pass(40 * time.Second)
		for _, v := range waiting {
			v.Get("/")
		}
	}
	f.Pass(time.Second)
	s := f.Status("shop")
	assert.Equal(t, "queueing", s.Status)
	assert.Equal(t, 5, s.Queued+s.Active)
	total, reserved := 0, 0
	for _, b := range s.Buckets {
		_, err := http.ParseTime(b.Key)
		assert.NoError(t, err)
		assert.Regexp(t, `^Thu, 27 May 2021 15:5[45]:00 GMT$`, b.Key)
		total, reserved = total+b.Data.Waiting, reserved+b.Data.Reserved
	}
	assert.Equal(t, s.Queued, total)
	assert.Equal(t, min(s.OpenSlots, s.Queued), reserved)
}

func withoutBuckets(s gatetest.Standing) gatetest.Standing {
	s.Buckets = nil
	return s
}

func TestStatusHasTheBucketTableOfTheArticle(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers, s.DisableSessionRenewal = 1, true }))
	f.Full()
	for i, people := range []int{5, 10, 10} {
		if i > 0 {
			f.Pass(25 * time.Second)
		}
		for range people {
			f.Visitor().Get("/", gatetest.With("Fairdoor-Visibility", "hidden"))
		}
	}
	f.Pass(time.Second)
	f.Patch(`{"total_active_users": 21}`)
	body := f.API(http.MethodGet, "/api/v1/rooms/shop/status", "", nil).Body
	var got map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &got))
	assert.JSONEq(t, `[
		{"key": "Thu, 27 May 2021 15:54:00 GMT", "data": {"waiting": 15, "reservedSlots": 15}},
		{"key": "Thu, 27 May 2021 15:55:00 GMT", "data": {"waiting": 10, "reservedSlots": 5}}
	]`, string(got["buckets"]))
	for name, want := range map[string]string{
		"activeUsers": "1", "openSlots": "20", "estimated_queued_users": "25", "estimated_total_active_users": "1",
		"event_id": `""`, "status": `"queueing"`, "max_estimated_time_minutes": "8", "admissionsPaused": "false", "waitsTold": "[]",
	} {
		assert.JSONEq(t, want, string(got[name]), name)
	}
}

func TestRoomsAreToldAsTheyAreConfigured(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Commands, r.CORSOrigins = config.Commands{config.Revoke}, []string{"https://app.test"}
		r.Rules = []route.Rule{{Action: route.BypassWaitingRoom, Description: "staff", Match: route.Conditions{
			CIDR: []string{"192.0.2.0/24"}, Header: "X-Pass: letmein", Cookie: "staff=yes",
		}}}
	}))
	var rooms []map[string]any
	f.API(http.MethodGet, "/api/v1/rooms", "", &rooms)
	require.Len(t, rooms, 1)
	var one map[string]any
	a := f.API(http.MethodGet, "/api/v1/rooms/shop", "", &one)
	assert.Equal(t, rooms[0], one)
	assert.Equal(t, "application/json", a.Header.Get("Content-Type"))
	assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
	for key, want := range map[string]any{
		"name": "shop", "host": "", "path": "/", "origin": f.Site.URL, "total_active_users": 1.0, "new_users_per_minute": 1000.0,
		"session_duration": "8m", "refresh_interval": "20s", "refresh_jitter": .15, "bucket": "0s", "queue_ticket_ttl": "30m", "message": "",
		"queueing_method": "fifo", "pacing": "auto", "queueing_status_code": 200.0, "json_response_enabled": true,
		"cors_origins":            []any{"https://app.test"},
		"disable_session_renewal": false, "queue_all": false, "suspended": false, "default_template_language": "en-US",
		"cookie_name": "fairdoor_shop", "enabled_origin_commands": []any{"revoke"}, "on_store_error": "hold",
		"cookie_suffix": "", "cookie_attributes": map[string]any{"samesite": "auto", "secure": "auto", "domain": ""},
		"rules": []any{map[string]any{"action": "bypass_waiting_room", "description": "staff", "match": map[string]any{
			"cidr": []any{"192.0.2.0/24"}, "header": "X-Pass: …", "cookie": "staff=…",
		}}},
		"additional_routes": []any{}, "custom_page": false, "overrides": map[string]any{},
	} {
		assert.Equal(t, want, one[key], key)
	}
}

func TestAdminRefusesWithProblems(t *testing.T) {
	f := gatetest.Start(t)
	for _, c := range []struct {
		method, path, body string
		change             func(*http.Request)
		status             int
	}{
		{"GET", "/api/v1/rooms/nowhere", "", nil, http.StatusNotFound},
		{"GET", "/api/v1/rooms/nowhere/status", "", nil, http.StatusNotFound},
		{"PATCH", "/api/v1/rooms/nowhere", "{}", nil, http.StatusNotFound},
		{"GET", "/api/v1/", "", nil, http.StatusNotFound},
		{"GET", "/", "", nil, http.StatusOK},
		{"GET", "/nothing", "", nil, http.StatusNotFound},
		{"POST", "/api/v1/rooms", "{}", nil, http.StatusMethodNotAllowed},
		{"DELETE", "/api/v1/rooms/shop", "", nil, http.StatusMethodNotAllowed},
		{"POST", "/readyz", "", nil, http.StatusMethodNotAllowed},
		{"PATCH", "/api/v1/rooms/shop/status", "{}", nil, http.StatusMethodNotAllowed},
		{"PATCH", "/api/v1/rooms/shop", `{}`, gatetest.With("Content-Type", "text/plain"), http.StatusUnsupportedMediaType},
		{"PATCH", "/api/v1/rooms/shop", `{}`, gatetest.With("Content-Type", ""), http.StatusUnsupportedMediaType},
		{"PATCH", "/api/v1/rooms/shop", `{}`, func(r *http.Request) { r.Header.Del("Content-Type") }, http.StatusOK},
		{"PATCH", "/api/v1/rooms/shop", `{"queue_all"`, nil, http.StatusBadRequest},
		{"PATCH", "/api/v1/rooms/shop", `null`, nil, http.StatusBadRequest},
		{"PATCH", "/api/v1/rooms/shop", `[]`, nil, http.StatusBadRequest},
		{"PATCH", "/api/v1/rooms/shop", `{}{}`, nil, http.StatusBadRequest},
		{"PATCH", "/api/v1/rooms/shop", `{"x":"` + strings.Repeat("x", 64<<10) + `"}`, nil, http.StatusRequestEntityTooLarge},
		{"PATCH", "/api/v1/rooms/shop", `{}`, gatetest.With("Origin", "https://evil.test"), http.StatusForbidden},
		{"PATCH", "/api/v1/rooms/shop", `{}`, gatetest.With("Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		{"GET", "/api/v1/rooms", "", func(r *http.Request) { r.Host = "evil.test" }, http.StatusMisdirectedRequest},
		{"GET", "/api/v1/rooms", "", func(r *http.Request) { r.Host = "localhost:9090" }, http.StatusOK},
		{"GET", "/api/v1/rooms", "", func(r *http.Request) { r.Host = "[::1]" }, http.StatusOK},
		{"GET", "/metrics", "", func(r *http.Request) { r.Host = "evil.test:9090" }, http.StatusMisdirectedRequest},
		{"GET", "/metrics", "", func(r *http.Request) { r.Host = "127.0.0.1:9090" }, http.StatusOK},
		{"GET", "/", "", func(r *http.Request) { r.Host = "evil.test:9090" }, http.StatusMisdirectedRequest},
		{"POST", "/rooms/shop/change", "", func(r *http.Request) { r.Host = "evil.test" }, http.StatusMisdirectedRequest},
		{"POST", "/rooms/shop/change", "", gatetest.With("Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		{"POST", "/rooms/shop/change", "", gatetest.With("Sec-Fetch-Site", "same-site"), http.StatusForbidden},
		{"GET", "/livez", "", func(r *http.Request) { r.Host = "gate.internal" }, http.StatusOK},
	} {
		var changes []func(*http.Request)
		if c.change != nil {
			changes = append(changes, c.change)
		}
		a := f.API(c.method, c.path, c.body, nil, changes...)
		assert.Equal(t, c.status, a.Status, "%s %s %.40s", c.method, c.path, c.body)
		if c.status == http.StatusOK {
			continue
		}
		assert.Equal(t, "application/problem+json", a.Header.Get("Content-Type"), "%s %s", c.method, c.path)
		var problem struct {
			Title, Detail string
			Status        int
		}
		require.NoError(t, json.Unmarshal([]byte(a.Body), &problem))
		assert.Equal(t, c.status, problem.Status)
		assert.NotEmpty(t, problem.Detail)
		if c.status == http.StatusMethodNotAllowed {
			assert.Contains(t, a.Header.Get("Allow"), "GET")
		}
	}
}

func TestAdminAsksForItsToken(t *testing.T) {
	f := gatetest.Start(t, func(_ *proxy.Config, o *proxy.Options) { o.AdminToken = "secret" })
	for _, path := range []string{"/api/v1/rooms", "/api/v1/rooms/shop", "/api/v1/rooms/shop/status", "/api/v1/nothing"} {
		for _, given := range []string{"", "Bearer", "Bearer secre", "Bearer secrets", "Basic secret", "secret"} {
			a := f.API(http.MethodGet, path, "", nil, gatetest.With("Authorization", given))
			assert.Equal(t, http.StatusUnauthorized, a.Status, "%s %q", path, given)
			assert.Equal(t, "Bearer", a.Header.Get("WWW-Authenticate"))
		}
	}
	assert.Equal(t, http.StatusUnauthorized, f.Patch(`{"queue_all": true}`).Status)
	token, elsewhere := gatetest.With("Authorization", "Bearer secret"), func(r *http.Request) { r.Host = "gate.internal:9090" }
	assert.Equal(t, http.StatusOK, f.API(http.MethodGet, "/api/v1/rooms", "", nil, token, elsewhere).Status)
	assert.Equal(t, http.StatusOK, f.API(http.MethodGet, "/api/v1/rooms", "", nil, gatetest.With("Authorization", "bearer secret")).Status, "schemes have no letter case")
	for _, open := range []string{"/livez", "/readyz", "/metrics"} {
		assert.Equal(t, http.StatusOK, f.API(http.MethodGet, open, "", nil).Status, open)
	}
}

func TestVisitorsAreToldWhetherTheGateTakesThemIfTheyMayBe(t *testing.T) {
	for public, status := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) { c.PublicHealth = public })
		health := func() gatetest.Answer { return f.Visitor().Get("/.fairdoor/health") }
		assert.Equal(t, status, health().Status)
		assert.Empty(t, health().Header["Set-Cookie"])
		f.Drain()
		assert.NotEqual(t, http.StatusOK, health().Status)
		assert.Empty(t, f.Site.Requests(), "the site is asked nothing")
	}
}

func TestAGateSaysWhoseCrowdsItAgreesTo(t *testing.T) {
	for _, hash := range []string{"", "9028ea0d15decaa35b2da21c0290af3b1a5ba0a30a591906f89b5074e209ea72"} {
		f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) { c.LoadToken = hash })
		a := f.Visitor().Get(proxy.LoadTokenPath)
		if hash == "" {
			assert.Equal(t, http.StatusNotFound, a.Status)
		} else {
			assert.Equal(t, hash+"\n", a.Body)
		}
		assert.Empty(t, a.Header["Set-Cookie"])
		assert.Empty(t, f.Site.Requests(), "the site is asked nothing")
	}
}

func TestReadiness(t *testing.T) {
	store := &gatetest.Fallible{}
	f := gatetest.Start(t, store.Between)
	in := f.Full()[0]
	ready := func() int { return f.API(http.MethodGet, "/readyz", "", nil).Status }
	require.Equal(t, http.StatusOK, ready())

	store.Failing.Store(true)
	f.Pass(time.Second)
	degraded := f.API(http.MethodGet, "/readyz", "", nil)
	assert.Equal(t, http.StatusOK, degraded.Status, "who is in is served here as anywhere")
	assert.Contains(t, degraded.Body, "degraded")
	assert.Equal(t, http.StatusOK, f.API(http.MethodGet, "/livez", "", nil).Status)
	assert.True(t, in.Get("/").In(), "whoever is in does not notice")
	assert.Equal(t, "queueing", f.Status("shop").Status, "the status is what was known last")
	patched := f.Patch(`{"queue_all": true}`)
	assert.Equal(t, http.StatusServiceUnavailable, patched.Status)
	assert.Contains(t, patched.Body, "may make the change all the same", "a store that hangs reads later what it was sent")
	assert.Contains(t, f.API(http.MethodGet, "/metrics", "", nil).Body, `fairdoor_store_failing{room="shop"} 1`)

	store.Failing.Store(false)
	f.Pass(time.Second)
	assert.Equal(t, http.StatusOK, ready())
	assert.Equal(t, map[string]any{}, describe(f)["overrides"], "what was refused has left no trace")

	f.Drain()
	assert.Equal(t, http.StatusServiceUnavailable, ready())
	assert.Equal(t, http.StatusOK, f.API(http.MethodGet, "/livez", "", nil).Status)
	assert.True(t, in.Get("/").In(), "a gate that drains goes on answering")
}

// describe is the room called shop as the admin API tells it.
func describe(f *gatetest.Fixture) (one map[string]any) {
	f.T.Helper()
	f.API(http.MethodGet, "/api/v1/rooms/shop", "", &one)
	return one
}
