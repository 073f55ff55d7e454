package proxy_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

func TestPatchChangesARoomWhileItRuns(t *testing.T) {
	for key, c := range map[string]struct{ value, was string }{
		"total_active_users":      {`7`, `1`},
		"new_users_per_minute":    {`9`, `1000`},
		"session_duration":        {`"1m30s"`, `"8m"`},
		"disable_session_renewal": {`true`, `false`},
		"queueing_method":         {`"random"`, `"fifo"`},
		"queue_all":               {`true`, `false`},
		"suspended":               {`true`, `false`},
		"refresh_interval":        {`"1m"`, `"20s"`},
		"refresh_jitter":          {`0`, `0.15`},
		"pacing":                  {`"even"`, `"auto"`},
		"queue_ticket_ttl":        {`"1h"`, `"30m"`},
		"message":                 {`"Back soon."`, `""`},
	} {
		f := gatetest.Start(t)
		told := func() (value, override string) {
			var one struct {
				Overrides map[string]json.RawMessage
			}
			var all map[string]json.RawMessage
			f.API(http.MethodGet, "/api/v1/rooms/shop", "", &one)
			f.API(http.MethodGet, "/api/v1/rooms/shop", "", &all)
			return string(all[key]), string(one.Overrides[key])
		}
		assert.Equal(t, http.StatusOK, f.Patch(`{"`+key+`": `+c.value+`}`).Status, key)
		value, override := told()
		assert.Equal(t, c.value, value, key)
		assert.Equal(t, c.value, override, key)

		require.NoError(t, f.Configure(t.Context(), f.Config))
		value, _ = told()
		assert.Equal(t, c.value, value, "%s: a new configuration does not undo what operators did", key)

		assert.Equal(t, http.StatusOK, f.Patch(`{"`+key+`": null}`).Status, key)
		value, override = told()
		assert.Equal(t, c.was, value, "%s: null goes back to what is configured", key)
		assert.Empty(t, override, key)
	}
}

func TestEverySettingIsToldAndChangedUnderItsName(t *testing.T) {
	f := gatetest.Start(t)
	told := describe(f)
	for _, s := range setting.Fields(reflect.TypeFor[queue.Settings]()) {
		value, ok := told[s.Name]
		require.True(t, ok, s.Name)
		text, err := json.Marshal(map[string]any{s.Name: value})
		require.NoError(t, err)
		want := http.StatusOK
		if !s.Live {
			want = http.StatusUnprocessableEntity
		}
		assert.Equal(t, want, f.Patch(string(text)).Status, "%s", text)
	}
}

func TestPatchTakesEffectAtOnce(t *testing.T) {
	f := gatetest.Start(t)
	f.Full()
	assert.False(t, f.Visitor().Get("/").In())
	f.Pass(time.Second)
	require.Equal(t, http.StatusOK, f.Patch(`{"total_active_users": 4}`).Status)
	assert.True(t, f.Visitor().Get("/").In(), "there is more than one slot for the one who waits")
	require.Equal(t, http.StatusOK, f.Patch(`{"queue_all": true}`).Status)
	assert.Equal(t, true, f.Visitor().Get("/", gatetest.AsJSON).Told("queueAll"))
	require.Equal(t, http.StatusOK, f.Patch(`{"queueing_method": "reject", "queue_all": false}`).Status)
	assert.Equal(t, true, f.Visitor().Get("/", gatetest.AsJSON).Told("isRejectQueue"))
	require.Equal(t, http.StatusOK, f.Patch(`{"queueing_method": null, "total_active_users": null}`).Status)
	a := f.Visitor().Get("/", gatetest.AsJSON)
	assert.Equal(t, true, a.Told("isFIFOQueue"))
	assert.NotZero(t, a.Told("refreshIntervalSeconds"))
}

func TestPatchTellsAllFaultsAtOnceAndChangesNothing(t *testing.T) {
	f := gatetest.Start(t)
	require.Equal(t, http.StatusOK, f.Patch(`{"total_active_users": 3}`).Status)
	before := describe(f)
	a := f.Patch(`{"total_active_users": 0, "new_users_per_minute": "many", "session_duration": 5, "queueing_method": "lane",
		"queue_all": "yes", "refresh_interval": "soon", "refresh_jitter": true, "bucket": "1m", "name": "x", "pacing": 1,
		"queue_ticket_ttl": "0s"}`)
	assert.Equal(t, http.StatusUnprocessableEntity, a.Status)
	var problem struct {
		Detail string
		Errors []string
	}
	require.NoError(t, json.Unmarshal([]byte(a.Body), &problem))
	assert.Equal(t, []string{
		"bucket is not among what can be changed here",
		"name is not among what can be changed here",
		"new_users_per_minute wants a whole number",
		"pacing wants one of auto, minute, even, random, early",
		"queue_all wants true or false",
		`queue_ticket_ttl is "0s", which is too short: at least 1s`,
		`queueing_method is "lane", which is not one of fifo, random, line, passthrough, reject`,
		`refresh_interval is "soon", which is not a duration such as 5m or 90s`,
		"refresh_jitter wants a number",
		"session_duration wants a duration such as 5m or 90s",
		"total_active_users is 0, which is too small: at least 1",
	}, problem.Errors)
	assert.Contains(t, problem.Detail, "total_active_users is 0")
	assert.Equal(t, before, describe(f), "not even what was changed before")

	assert.Equal(t, http.StatusUnprocessableEntity, f.Patch(`{"total_active_users": 9, "nothing": 1}`).Status)
	assert.Equal(t, before, describe(f))
	assert.Equal(t, http.StatusUnprocessableEntity, f.Patch(`{"refresh_interval": "1h", "queue_ticket_ttl": "1h"}`).Status, "places would not last two intervals")
	assert.Equal(t, http.StatusUnprocessableEntity, f.Patch(`{"session_duration": "25h"}`).Status, "the cookie would end before the session")
	assert.Equal(t, http.StatusUnprocessableEntity, f.Patch(`{"total_active_users": 2147483648}`).Status, "what a file may not hold")
}

func TestConfigureKeepsTheOldConfigurationIfTheNewOneIsFaulty(t *testing.T) {
	store := &gatetest.Fallible{}
	f := gatetest.Start(t, store.Between)
	in := f.Full()[0]
	before := describe(f)
	for name, change := range map[string]func(*proxy.Config){
		"overlapping routes": func(c *proxy.Config) {
			twin := c.Rooms[0]
			twin.Name = "twin"
			c.Rooms = append(c.Rooms, twin)
		},
		"no keys":          func(c *proxy.Config) { c.Keys = nil },
		"no origin":        func(c *proxy.Config) { c.Rooms[0].Origin = nil },
		"unknown language": func(c *proxy.Config) { c.Rooms[0].Language = "tlh" },
		"limits below one": func(c *proxy.Config) { c.Rooms[0].Settings.TotalActiveUsers = 0 },
		"a store that fails": func(c *proxy.Config) {
			c.Rooms[0].Settings.TotalActiveUsers = 50
			store.Failing.Store(true)
		},
		"a second room's fault after a good first one": func(c *proxy.Config) {
			c.Rooms[0].Settings.TotalActiveUsers = 50
			second := f.Room("second", "/second")
			second.Settings.NewUsersPerMinute = 0
			c.Rooms = append(c.Rooms, second)
		},
	} {
		next := f.Config
		next.Rooms = append([]proxy.RoomConfig(nil), f.Config.Rooms...)
		change(&next)
		assert.Error(t, f.Configure(t.Context(), next), name)
		store.Failing.Store(false)
		f.Pass(time.Second)
		assert.Equal(t, before, describe(f), name)
		assert.True(t, in.Get("/").In(), name)
		assert.False(t, f.Visitor().Get("/").In(), name)
	}
}

func TestConfigureSetsRoomsBackIfALaterOneFails(t *testing.T) {
	store := &gatetest.Fallible{}
	f := gatetest.Start(t, store.Between, func(c *proxy.Config, _ *proxy.Options) {
		second := c.Rooms[0]
		second.Name, second.Routes = "second", []route.Route{{Path: "/second"}}
		c.Rooms = append(c.Rooms, second)
	})
	store.Unset = "second"
	next := f.Config
	next.Rooms = append([]proxy.RoomConfig(nil), f.Config.Rooms...)
	next.Rooms[0].Settings.TotalActiveUsers, next.Rooms[1].Settings.TotalActiveUsers = 50, 50
	require.ErrorContains(t, f.Configure(t.Context(), next), `room "second"`)
	assert.Equal(t, 1., describe(f)["total_active_users"])
}

func TestConfigureTakesUpEverythingAtOnce(t *testing.T) {
	f := gatetest.Start(t)
	in := f.Full()[0]
	waiting := f.Visitor()
	before := waiting.Get("/", gatetest.AsJSON)
	next := f.Config
	next.Rooms = []proxy.RoomConfig{f.Config.Rooms[0], f.Room("tickets", "/tickets")}
	next.Rooms[0].Settings.Method = queue.Random
	next.Rooms[0].StatusCode = http.StatusAccepted
	next.OriginTimeout = time.Minute
	require.NoError(t, f.Configure(t.Context(), next))
	f.Config = next
	assert.True(t, in.Get("/").In())
	a := waiting.Get("/", gatetest.AsJSON)
	assert.Equal(t, http.StatusAccepted, a.Status)
	assert.Equal(t, "random", a.Told("queueingMethod"))
	assert.Equal(t, before.Told("lastUpdated"), a.Told("lastUpdated"), "the place is the same")
	assert.True(t, f.Visitor().Get("/tickets").In())

	next.Rooms = next.Rooms[1:]
	require.NoError(t, f.Configure(t.Context(), next))
	assert.Equal(t, http.StatusNotFound, f.API(http.MethodGet, "/api/v1/rooms/shop", "", nil).Status)
	assert.Equal(t, http.StatusNotFound, f.Visitor().Get("/").Status)
}

// A gate that did not start for what operators changed could not be told to take
// it back; one that is at work can.
func TestChangesThatDoNotGoWithTheConfigurationEndAtAStart(t *testing.T) {
	store := memstore.New()
	same := func(_ *proxy.Config, o *proxy.Options) { o.Store = store }
	f := gatetest.Start(t, same)
	require.Equal(t, http.StatusOK, f.Patch(`{"refresh_interval": "2m", "total_active_users": 7}`).Status)
	next := f.Config
	next.Rooms = slices.Clone(next.Rooms)
	next.Rooms[0].Settings.QueueTicketTTL = time.Minute
	require.ErrorContains(t, f.Configure(t.Context(), next), "taken back first")
	assert.Equal(t, "2m", describe(f)["refresh_interval"])

	f = gatetest.Start(t, same, gatetest.Settings(func(s *queue.Settings) { s.QueueTicketTTL = time.Minute }))
	told := describe(f)
	assert.Equal(t, "1m", told["queue_ticket_ttl"])
	assert.Equal(t, "20s", told["refresh_interval"])
	assert.Equal(t, map[string]any{"total_active_users": 7.0}, told["overrides"], "the others stay")
	assert.Equal(t, []string{"total_active_users"}, slices.Collect(maps.Keys(told["overridden_by"].(map[string]any))))
}

func TestWhatAGateReadsAgainTakesNothingBackThatANewerFileHas(t *testing.T) {
	store := memstore.NewShared(2 * time.Second)
	gate := func(limit int) *gatetest.Fixture {
		return gatetest.Start(t, func(_ *proxy.Config, o *proxy.Options) { o.Store = store }, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = limit }))
	}
	old, newer := gate(5), gate(8)
	require.Equal(t, 8.0, describe(newer)["total_active_users"])
	require.NoError(t, old.Renew(t.Context(), old.Config))
	old.Pass(2 * time.Second)
	assert.Equal(t, 8.0, describe(old)["total_active_users"])
	require.NoError(t, old.Configure(t.Context(), old.Config))
	assert.Equal(t, 5.0, describe(old)["total_active_users"], "who reloads last is obeyed")
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	f := gatetest.Start(t)
	_, err := proxy.New(t.Context(), f.Config, proxy.Options{})
	assert.ErrorContains(t, err, "store")
	store := &gatetest.Fallible{}
	store.Failing.Store(true)
	_, err = proxy.New(t.Context(), f.Config, proxy.Options{Store: store})
	assert.ErrorIs(t, err, gatetest.ErrStore)
}

func TestThePreviewOfThePageHasWhatThereIsToBuy(t *testing.T) {
	f := gatetest.Start(t)
	require.Equal(t, http.StatusOK, f.Patch(`{"items": [{"name": "Stalls", "price": "30 €", "left": 7}]}`).Status)
	f.Pass(time.Second)
	assert.Contains(t, f.API(http.MethodGet, "/rooms/shop/preview?state=fifo&lang=de", "", nil).Body, "Stalls")
}

func TestThePreviewBeginsWithThePageOfSomebodyWhoComesNow(t *testing.T) {
	f := gatetest.Start(t)
	now := func() string { return f.API(http.MethodGet, "/rooms/shop/preview?lang=en&message=Hello", "", nil).Body }
	f.Full()
	for range 4 {
		f.Waits()
	}
	f.Pass(20 * time.Second)
	assert.Regexp(t, `(?s)>Hello<.*>about 5 of 5<`, now())
	require.Equal(t, http.StatusOK, f.Patch(`{"queue_all": true}`).Status)
	f.Pass(time.Second)
	assert.Contains(t, now(), ">Admissions are paused at the moment.<")
	require.Equal(t, http.StatusOK, f.Patch(`{"queue_all": false, "queueing_method": "reject"}`).Status)
	f.Pass(time.Second)
	assert.Contains(t, now(), ">Nobody can come in right now<")
}
