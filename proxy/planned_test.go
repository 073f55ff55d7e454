package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

func TestVisitorsAreToldOfAnEventInItsPhases(t *testing.T) {
	f := gatetest.Start(t, gatetest.Planned(gatetest.SaleAt(gatetest.Opening.Add(20*time.Minute), 10*time.Minute, false)))
	assert.Equal(t, "2021-05-27T16:04:10Z", describe(f)["next_event_prequeue_start_time"])
	assert.Equal(t, "2021-05-27T16:14:10Z", describe(f)["next_event_start_time"])
	in := f.Visitor()
	require.True(t, in.Get("/").In(), "before its prequeue the room is open")

	assert.EqualValues(t, 1, f.Families()["fairdoor_event_phase none shop"].GetGauge().GetValue())
	f.Clock.Add(10 * time.Minute)
	gatetest.Stands(t, "event_prequeueing", f)
	assert.EqualValues(t, 1, f.Families()["fairdoor_event_phase prequeueing shop"].GetGauge().GetValue())
	assert.EqualValues(t, 1, f.Families()["fairdoor_reason event shop"].GetGauge().GetValue())
	assert.Equal(t, "sale", f.Status("shop").EventID)
	assert.Nil(t, describe(f)["next_event_start_time"])
	assert.Equal(t, false, describe(f)["queue_all"], "it is the event that holds people")
	v := f.Visitor()
	a := v.Get("/", gatetest.AsJSON)
	for name, want := range map[string]any{
		"inWaitingRoom": true, "isEventActive": true, "isEventPrequeueing": true, "timeUntilEventStart": 10., "timeUntilEventStartFormatted": "10 minutes",
		"timeUntilEventEnd": 70., "timeUntilEventEndFormatted": "70 minutes", "shuffleAtEventStart": false, "queueAll": false, "admissionsPaused": true,
		"waitTimeKnown": false, "eventStartTime": "2021-05-27T16:14:10Z", "eventEndTime": "2021-05-27T17:14:10Z", "shuffleSeedHash": "", "usersAheadKnown": true,
	} {
		assert.Equal(t, want, a.Told(name), name)
	}
	page := v.Get("/").Body
	assert.Contains(t, page, "Time until the start")
	assert.Contains(t, page, "about 10\u00a0min")

	f.Clock.Add(10 * time.Minute)
	gatetest.Stands(t, "not_queueing", f)
	assert.Equal(t, "sale", f.Status("shop").EventID)
	assert.EqualValues(t, 1, f.Families()["fairdoor_event_phase started shop"].GetGauge().GetValue())
	assert.True(t, v.Get("/").In())
	w := f.Visitor()
	f.Clock.Add(time.Second)
	a = w.Get("/", gatetest.AsJSON)
	for name, want := range map[string]any{"isEventActive": true, "isEventPrequeueing": false, "timeUntilEventStart": 0., "timeUntilEventStartFormatted": "unavailable", "timeUntilEventEnd": 60.} {
		assert.Equal(t, want, a.Told(name), name)
	}
	f.Clock.Add(time.Hour)
	f.Soon(func() bool { return f.Status("shop").EventID == "" })
}

// away is a store that does not answer while it is away.
type away struct {
	queue.Store
	away atomic.Bool
}

var errAway = errors.New("the store is away")

func (s *away) Sync(ctx context.Context, room string, report *queue.Report) (*queue.View, error) {
	if s.away.Load() {
		return nil, errAway
	}
	return s.Store.Sync(ctx, room, report)
}

func (s *away) Admit(ctx context.Context, room string, report *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	if s.away.Load() {
		return queue.Status{}, errAway
	}
	return s.Store.Admit(ctx, room, report, claims, grants)
}

func (s *away) Configure(ctx context.Context, room string, c queue.Configuration) error {
	if s.away.Load() {
		return errAway
	}
	return s.Store.Configure(ctx, room, c)
}

func TestAPrequeueHoldsEveryoneNewAlsoWhileTheStoreIsAway(t *testing.T) {
	for policy, methods := range map[queue.ErrorPolicy][]queue.Method{queue.AdmitAll: {queue.FIFO, queue.Passthrough}, queue.Share: {queue.FIFO}} {
		for _, method := range methods {
			t.Run(policy.String()+" "+method.String(), func(t *testing.T) {
				store := &away{Store: memstore.New()}
				f := gatetest.Start(t, gatetest.Planned(gatetest.SaleAt(gatetest.Opening.Add(20*time.Minute), 10*time.Minute, false)), gatetest.Settings(func(s *queue.Settings) {
					s.OnStoreError, s.Method, s.TotalActiveUsers, s.SessionDuration = policy, method, 1000, time.Hour
				}), func(_ *proxy.Config, o *proxy.Options) { o.Store = store })
				f.Site.Will(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Cache-Control", "no-store") // else nobody gets a ticket in passthrough
					_, _ = io.WriteString(w, "in")
				})
				enters := func() bool { return f.Visitor().Get("/").In() }
				in := f.Visitor()
				require.True(t, in.Get("/").In())
				require.True(t, in.Get("/").In(), "with their ticket: else they would be newcomers later")
				store.away.Store(true)
				f.Soon(func() bool { return f.Status("shop").Reason == "store_unreachable" || method == queue.Passthrough })
				require.True(t, enters(), "that is what on_store_error says")
				f.Clock.Add(10 * time.Minute)
				f.Soon(func() bool { return !enters() })
				v := f.Waits()
				f.Clock.Add(9 * time.Minute)
				assert.False(t, v.Get("/").In())
				assert.False(t, enters())
				assert.True(t, in.Get("/").In(), "those who are in stay")
				f.Clock.Add(time.Minute)
				f.Soon(enters)
				store.away.Store(false)
				f.Soon(func() bool { // somebody may wait who came a moment before the start was noticed
					s := f.Status("shop")
					return s.EventID == "sale" && s.Reason != "store_unreachable" && s.Status != "event_prequeueing"
				})
			})
		}
	}
}

func TestThoseWhoAreActiveStayInAPrequeue(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line, queue.Passthrough, queue.Reject} {
		t.Run(method.String(), func(t *testing.T) {
			e := gatetest.SaleAt(gatetest.Opening.Add(5*time.Minute+30*time.Second), 5*time.Minute, false)
			f := gatetest.Start(t, gatetest.Planned(e), gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 5 }))
			in := f.Visitor()
			require.True(t, in.Get("/").In())
			f.Patch(`{"queueing_method": "` + method.String() + `"}`)
			f.Clock.Add(30 * time.Second)
			gatetest.Stands(t, "event_prequeueing", f)
			assert.True(t, in.Get("/").In(), "who is active")
			v := f.Visitor()
			a := v.Get("/", gatetest.AsJSON)
			assert.Equal(t, true, a.Told("isEventPrequeueing"), "who is new")
			assert.NotZero(t, a.Told("refreshIntervalSeconds"))
			assert.Equal(t, method.String(), a.Told("queueingMethod"))
		})
	}
}

func TestAChangeThatAnEventGoesOverIsToldSo(t *testing.T) {
	e := gatetest.SaleAt(gatetest.Opening.Add(6*time.Minute), 5*time.Minute, false)
	e.Overrides = event.Overrides{"session_duration": json.RawMessage(`"30s"`)}
	f := gatetest.Start(t, gatetest.Planned(e))
	assert.Equal(t, []any{}, describe(f)["overridden_by_event"])
	f.Clock.Add(time.Minute)
	gatetest.Stands(t, "event_prequeueing", f)
	var told map[string]any
	require.Equal(t, http.StatusOK, f.API(http.MethodPatch, "/api/v1/rooms/shop", `{"session_duration": "9m", "queue_all": false}`, &told).Status)
	assert.Equal(t, []any{"session_duration", "queue_all"}, told["overridden_by_event"])
	assert.Equal(t, "30s", told["session_duration"])
	f.Clock.Add(5 * time.Minute)
	f.Soon(func() bool { return len(describe(f)["overridden_by_event"].([]any)) == 1 })
	assert.Equal(t, []any{"session_duration"}, describe(f)["overridden_by_event"])
}

func TestFIFOOutsideOfAnEventIsByArrival(t *testing.T) {
	e := gatetest.SaleAt(gatetest.Opening.Add(time.Hour), 5*time.Minute, true)
	f := gatetest.Start(t, gatetest.Planned(e), gatetest.Settings(func(s *queue.Settings) { s.RefreshJitter = 0 }))
	f.Full()
	first := f.Waits()
	for range 3 {
		f.Pass(21 * time.Second)
		require.False(t, first.Get("/").In())
	}
	second := f.Waits()
	f.Pass(21 * time.Second)
	assert.Empty(t, second.Get("/", gatetest.AsJSON).Told("shuffleEntry"))
	require.False(t, first.Get("/").In())
	f.Patch(`{"total_active_users": 2}`)
	f.Pass(21 * time.Second)
	assert.False(t, second.Get("/").In())
	assert.True(t, first.Get("/").In())
}

func TestAnEventHasAPageOfItsOwn(t *testing.T) {
	e := gatetest.SaleAt(gatetest.Opening.Add(6*time.Minute), 5*time.Minute, false)
	e.Page = "<title>doors</title>{{timeUntilEventStartHourMinutes}} to go, {{#isEventPrequeueing}}not yet{{/isEventPrequeueing}}"
	f := gatetest.Start(t, gatetest.Planned(e))
	f.Clock.Add(time.Minute)
	gatetest.Stands(t, "event_prequeueing", f)
	a := f.Visitor().Get("/")
	assert.Contains(t, a.Body, "5 to go, not yet")
	assert.NotEmpty(t, a.Header.Get("Refresh"), "a page without the client is loaded again")
	f.Clock.Add(70 * time.Minute)
	f.Soon(func() bool { return f.Status("shop").EventID == "" })
	f.Clock.Add(time.Second)
	f.Full()
	assert.NotContains(t, f.Visitor().Get("/").Body, "to go")
}

func TestOperatorsPlanEventsByTheAPI(t *testing.T) {
	f := gatetest.Start(t, gatetest.Planned(gatetest.SaleAt(gatetest.Opening.Add(24*time.Hour), 5*time.Minute, false)))
	const events = "/api/v1/rooms/shop/events"
	made := f.API(http.MethodPost, events, `{"name": "night", "timezone": "Europe/Oslo", "event_start_time": "2021-05-27 22:00", "event_end_time": "2021-05-27 23:00",
		"prequeue_start_time": "2021-05-27 21:30", "total_active_users": 7, "new_users_per_minute": 5}`, nil)
	require.Equal(t, http.StatusCreated, made.Status, made.Body)
	assert.Equal(t, events+"/night", made.Header.Get("Location"))
	var list []map[string]any
	f.API(http.MethodGet, events, "", &list)
	require.Len(t, list, 2)
	assert.Equal(t, []any{"night", "2021-05-27T22:00:00+02:00", 7., nil, "none", false},
		[]any{list[0]["name"], list[0]["event_start_time"], list[0]["total_active_users"], list[0]["session_duration"], list[0]["phase"], list[0]["from_file"]})

	var details map[string]any
	f.API(http.MethodGet, events+"/night/details", "", &details)
	assert.Equal(t, []any{7., "8m", "2021-05-27T23:00:00+02:00"}, []any{details["total_active_users"], details["session_duration"], details["event_end_time"]})
	f.Patch(`{"session_duration": "9m"}`)
	f.API(http.MethodGet, events+"/night/details", "", &details)
	assert.Equal(t, "9m", details["session_duration"], "what it leaves out is the room's")

	require.Equal(t, http.StatusOK, f.API(http.MethodPatch, events+"/night", `{"session_duration": "1m"}`, nil).Status)
	f.API(http.MethodGet, events+"/night/details", "", &details)
	assert.Equal(t, "1m", details["session_duration"])
	whole, err := json.Marshal(map[string]any{"event_start_time": "2021-05-27T20:00:00Z", "event_end_time": "2021-05-27T21:00:00Z"})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, f.API(http.MethodPut, events+"/night", string(whole), nil).Status)
	var one map[string]any
	f.API(http.MethodGet, events+"/night", "", &one)
	assert.Nil(t, one["prequeue_start_time"])
	assert.Nil(t, one["session_duration"])

	for name, c := range map[string]struct {
		method, path, body string
		status             int
		says               string
	}{
		"a field that is wrong":     {http.MethodPost, "", `{"name": "x", "event_start_time": "2021-05-27T20:00:00Z", "event_end_time": "2021-05-27T19:00:00Z"}`, 422, "event_end_time has to be at least a minute after"},
		"overlapping":               {http.MethodPost, "", `{"name": "x", "event_start_time": "2021-05-27T20:59:00Z", "event_end_time": "2021-05-27T21:30:00Z"}`, 422, "event_start_time overlaps with the event night"},
		"an unknown zone":           {http.MethodPatch, "/night", `{"timezone": "Europe/Olso"}`, 422, "timezone is \\\"Europe/Olso\\\", which is not a zone"},
		"an unknown field":          {http.MethodPatch, "/night", `{"queue_all": true}`, 422, "queue_all is not among"},
		"a page that is no page":    {http.MethodPatch, "/night", `{"custom_page_html": "{{nothing}}"}`, 422, "custom_page_html: line 1: unknown variable"},
		"another name":              {http.MethodPatch, "/night", `{"name": "day"}`, 422, "name cannot change"},
		"a name that is taken":      {http.MethodPost, "", `{"name": "night", "event_start_time": "2021-05-28T20:00:00Z", "event_end_time": "2021-05-28T21:00:00Z"}`, 409, "there is an event of this name"},
		"an event of the file":      {http.MethodPatch, "/sale", `{"description": "x"}`, 409, "is in the configuration file. Change it there"},
		"its deletion":              {http.MethodDelete, "/sale", "", 409, "is in the configuration file"},
		"an event that there isn't": {http.MethodGet, "/day", "", 404, "There is no event of this name"},
		"no order":                  {http.MethodGet, "/night/order", "", 404, "whose order is drawn"},
		"no object":                 {http.MethodPatch, "/night", `[]`, 400, "is not a JSON object"},
		"another method":            {http.MethodPost, "/night", "", 405, "does not support"},
	} {
		t.Run(name, func(t *testing.T) {
			a := f.API(c.method, events+c.path, c.body, nil)
			assert.Equal(t, c.status, a.Status)
			assert.Contains(t, a.Body, c.says)
			assert.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
		})
	}
	assert.Equal(t, http.StatusNoContent, f.API(http.MethodDelete, events+"/night", "", nil).Status)
	f.API(http.MethodGet, events, "", &list)
	assert.Len(t, list, 1)
}

func TestChangesOfOneEventAtOnceAreAllMade(t *testing.T) {
	f := gatetest.Start(t, gatetest.Planned(gatetest.SaleAt(gatetest.Opening.Add(24*time.Hour), 5*time.Minute, false)))
	const events = "/api/v1/rooms/shop/events"
	require.Equal(t, http.StatusCreated, f.API(http.MethodPost, events,
		`{"name": "night", "event_start_time": "2021-05-27T20:00:00Z", "event_end_time": "2021-05-27T21:00:00Z", "total_active_users": 9, "new_users_per_minute": 9}`, nil).Status)
	for round := range 20 {
		fields := map[string]any{"total_active_users": 100. + float64(round), "new_users_per_minute": 50. + float64(round), "description": fmt.Sprint("round ", round)}
		var all sync.WaitGroup
		for name, value := range fields {
			body, err := json.Marshal(map[string]any{name: value})
			require.NoError(t, err)
			all.Go(func() {
				assert.Equal(t, http.StatusOK, f.API(http.MethodPatch, events+"/night", string(body), nil).Status)
			})
		}
		all.Wait()
		var now map[string]any
		f.API(http.MethodGet, events+"/night", "", &now)
		for name, want := range fields {
			assert.Equal(t, want, now[name], name)
		}
	}
}
