package admin_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

func TestAPlannedEventIsChangedAndCancelledAndBroughtBack(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	posts(t, g, `{"name": "sale", "description": "Skis", "prequeue_start_time": "2021-05-28T15:50:00Z", "event_start_time": "2021-05-28T16:00:00Z",
		"event_end_time": "2021-05-28T18:00:00Z", "shuffle_at_event_start": true, "total_active_users": 800, "new_users_per_minute": 500, "custom_page_html": "<p>Soon</p>"}`)
	sale := func() string {
		require.NoError(t, g.shop.Follow(t.Context(), now))
		return ask(g, http.MethodGet, "/api/v1/rooms/shop/events/sale", "").Body.String()
	}
	yes := func(asked string) string {
		w := o.send("/rooms/shop/events/change", hidden(t, asked, "/rooms/shop/events/change"))
		require.Equal(t, http.StatusSeeOther, w.Code, w.Body.String())
		return o.send(w.Header().Get("Location"), nil).Body.String()
	}
	undo := func(page string) {
		require.Equal(t, http.StatusSeeOther, o.send("/rooms/shop/events/change", hidden(t, page, "/rooms/shop/events/change")).Code)
	}
	form := o.send("/rooms/shop/events?change=sale", nil).Body.String()
	for _, want := range []string{
		"Change sale", `name="do" value="edit"`, `name="name" value="sale" readonly`, `value="2021-05-28T15:50" type="datetime-local"`, `value="800"`, `value="on" checked`,
	} {
		assert.Contains(t, form, want)
	}
	was := sale()
	asked := o.send("/rooms/shop/events/ask", url.Values{
		"do": {"edit"}, "event": {"sale"}, "page": {"events"}, "name": {"sale"}, "description": {"Skis and boots"}, "prequeue": {""},
		"start": {"2021-05-28T17:00"}, "end": {"2021-05-28T18:00"}, "total_active_users": {""}, "new_users_per_minute": {""},
	}).Body.String()
	assert.Contains(t, asked, "Change sale?")
	assert.NotContains(t, asked, "From the prequeue on", "it has none any more")
	assert.Contains(t, asked, "The start moves, and the end stays: the event lasts 1 hour then.")
	assert.Contains(t, asked, "Friday, 2021-05-28 17:00:00 UTC</time>")
	later := url.Values{"do": {"edit"}, "event": {"sale"}, "name": {"sale"}, "prequeue": {"2021-05-28T15:50"}, "start": {"2021-05-28T17:05"}, "end": {"2021-05-28T18:30"}, "shuffle": {"on"}}
	moved := o.send("/rooms/shop/events/ask", later).Body.String()
	assert.Contains(t, moved, "the prequeue lasts 1 hour 15 minutes then, and the event 1 hour 25 minutes.")
	assert.Contains(t, moved, g.shop.Draw("sale").SeedHash())
	assert.Contains(t, moved, "How anybody can check the draw")
	assert.Equal(t, was, sale(), "nothing is changed before the operator says so")
	page := yes(asked)
	assert.Contains(t, page, "sale is changed, on every gate.")
	changed := sale()
	assert.Contains(t, changed, `"event_start_time": "2021-05-28T17:00:00Z"`)
	assert.Contains(t, changed, "Skis and boots")
	assert.Contains(t, changed, "Soon", "what the form does not have stays")
	assert.NotContains(t, changed, "800")
	undo(page)
	assert.JSONEq(t, withoutDraw(t, was), withoutDraw(t, sale()))

	page = yes(o.send("/rooms/shop/events/ask", url.Values{"do": {"delete"}, "event": {"sale"}, "page": {"events"}}).Body.String())
	assert.Contains(t, page, "sale is cancelled, on every gate.")
	assert.Contains(t, sale(), "There is no event of this name")
	undo(page)
	assert.JSONEq(t, withoutDraw(t, was), withoutDraw(t, sale()))
	assert.Contains(t, o.send("/rooms/shop/events/ask", url.Values{
		"do": {"edit"}, "event": {"sale"}, "page": {"events"}, "name": {"sale"}, "start": {"2021-05-28T19:00"}, "end": {"2021-05-28T18:00"},
	}).Body.String(), "event_end_time")
}

func TestTheFormOfAnEventHasWhatMostSalesAre(t *testing.T) {
	x := newTrail(t)
	page := x.o.send("/rooms/shop/events", nil).Body.String()
	for _, want := range []string{`<option value="30m" selected>`, `<option value="2h" selected>`, `name="shuffle" type="checkbox" value="on" checked`} {
		assert.Contains(t, page, want)
	}
	assert.Contains(t, page, `name="start" value="`+now.Add(25*time.Hour).Truncate(time.Hour).UTC().Format("2006-01-02T15:04")+`" type="datetime-local"`)
	plan := url.Values{"do": {"plan"}, "page": {"events"}, "name": {"sale"}, "start": {"2021-05-28T18:00"}, "before": {""}, "lasts": {"2h"}, "shuffle": {"on"}}
	x.do("events/ask", plan)
	assert.False(t, x.g.shop.Events()[0].Shuffle, "without a prequeue there is nothing to draw")
}

func TestAnEventThatOthersHaveChangedMeanwhileIsNotChanged(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	long := strings.Repeat("<p>Soon</p>", 5000)
	posts(t, g, `{"name": "sale", "event_start_time": "2021-05-28T16:00:00Z", "event_end_time": "2021-05-28T18:00:00Z", "custom_page_html": "`+long+`"}`)
	edit := url.Values{"do": {"edit"}, "event": {"sale"}, "page": {"events"}, "name": {"sale"}, "start": {"2021-05-28T17:00"}, "end": {"2021-05-28T18:00"}}
	do := func(fields url.Values) *httptest.ResponseRecorder { return o.send("/rooms/shop/events/change", fields) }
	asked := hidden(t, o.send("/rooms/shop/events/ask", edit).Body.String(), "/rooms/shop/events/change")
	require.Equal(t, http.StatusSeeOther, do(url.Values{"do": {"suspend"}, "event": {"sale"}, "page": {"events"}}).Code)
	refused := do(asked)
	assert.Equal(t, http.StatusConflict, refused.Code)
	assert.Contains(t, refused.Body.String(), "somebody has changed the event meanwhile")
	assert.True(t, g.shop.Events()[0].Suspended)

	w := do(hidden(t, o.send("/rooms/shop/events/ask", edit).Body.String(), "/rooms/shop/events/change"))
	require.Equal(t, http.StatusSeeOther, w.Code, "a page of 55 kB is no hindrance")
	undo := hidden(t, o.send(w.Header().Get("Location"), nil).Body.String(), "/rooms/shop/events/change")
	require.Equal(t, http.StatusSeeOther, do(url.Values{"do": {"resume"}, "event": {"sale"}, "page": {"events"}}).Code)
	assert.Equal(t, http.StatusConflict, do(undo).Code, "what others have done since is not undone")
}

// withoutDraw is an event without its draw, which is another one each time.
func withoutDraw(t *testing.T, text string) string {
	t.Helper()
	var e map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &e))
	delete(e, "draw")
	left, err := json.Marshal(e)
	require.NoError(t, err)
	return string(left)
}

func TestATimedChangeOfATimedChangeIsUndoneForWhatIsLeftOfItsTime(t *testing.T) {
	g, at := newGate(t), now
	o := &operator{handler: g.handlerAt("", func() time.Time { return at })}
	change := func(to, lasts string) string {
		asked := o.send("/rooms/shop/ask", url.Values{"was.total_active_users": {"0"}, "total_active_users": {to}, "page": {"limits"}}).Body.String()
		fields := hidden(t, asked, "/rooms/shop/change")
		fields.Set("for", lasts)
		w := o.send("/rooms/shop/change", fields)
		require.Equal(t, http.StatusSeeOther, w.Code, w.Body.String())
		return o.send(w.Header().Get("Location"), nil).Body.String()
	}
	ends := func() time.Time {
		return overrides.Of(g.shop.Describe().Configuration).By["total_active_users"].Until
	}
	change("5", "1h")
	first := ends()
	at = at.Add(time.Minute)
	page := change("7", "5m")
	require.NotEqual(t, first, ends())
	at = at.Add(time.Minute)
	require.Equal(t, http.StatusSeeOther, o.send("/rooms/shop/undo", hidden(t, page, "/rooms/shop/undo")).Code)
	assert.Equal(t, 5, g.shop.Room.Queue().Settings().TotalActiveUsers)
	assert.WithinDuration(t, first, ends(), time.Second)
}

func TestAnEventOfTheFileSaysWhereItIsChanged(t *testing.T) {
	g := newGate(t)
	planned := event.Event{Name: "sale", Start: now.Add(time.Hour), End: now.Add(2 * time.Hour), FromFile: true}
	_, err := g.shop.Reload(t.Context(), now, overrides.File{Settings: g.shop.Room.Queue().Settings(), Events: event.List{planned}})
	require.NoError(t, err)
	page := (&operator{handler: g.handler()}).send("/rooms/shop/events", nil).Body.String()
	assert.Contains(t, page, "Planned by fairdoor.yaml: change or cancel it there, and have the gate read it again: systemctl reload fairdoor")
	assert.NotContains(t, page, "Cancel…")
}
