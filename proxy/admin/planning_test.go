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

func TestAnEventIsPlannedByUsualTimesFromItsStart(t *testing.T) {
	x := newTrail(t)
	page := func() string { return x.o.send("/rooms/shop/events", nil).Body.String() }
	for _, want := range []string{
		`name="name" value="sale"`, `value="2021-05-28T18:00" type="datetime-local" required data-wall>`, `<option value="30m0s" selected>30 minutes before</option>`,
		`<option value="2h0m0s" selected>2 hours</option>`, `value="on" checked`,
	} {
		assert.Contains(t, page(), want, "what most sales are")
	}
	plan := url.Values{"do": {"plan"}, "page": {"events"}, "name": {"sale"}, "start": {"2021-05-28T18:00"}, "before": {"30m0s"}, "lasts": {"2h0m0s"}, "shuffle": {"on"}}
	asked := x.o.send("/rooms/shop/events/ask", plan).Body.String()
	assert.Regexp(t, `(?s)From the prequeue on, <time [^>]*>Friday, 2021-05-28 17:30:00 UTC</time>, everybody new is held. The event starts <time [^>]*>Friday, 2021-05-28 18:00:00 UTC</time>, `+
		`and those who came before are let in in an order that is drawn. It ends <time [^>]*>Friday, 2021-05-28 20:00:00 UTC</time>, after 2 hours; then the room is as before.`, asked)
	x.do("events/ask", plan)
	assert.Contains(t, page(), `name="name" value="sale-2"`)
	change := x.o.send("/rooms/shop/events?change=sale", nil).Body.String()
	assert.Contains(t, change, `<option value="30m0s" selected>`)
	assert.Contains(t, change, `<option value="2h0m0s" selected>`)

	plan.Set("name", "plain")
	plan.Set("before", "0s")
	asked = x.o.send("/rooms/shop/events/ask", plan).Body.String()
	assert.Contains(t, asked, "Plan plain?", "there is nothing to draw without a prequeue, and so the tick counts for nothing")
	assert.NotContains(t, asked, "prequeue on")
	plan.Set("lasts", "other")
	plan.Set("start", "2021-05-29T18:00")
	plan.Set("end", "2021-05-29T18:42")
	x.do("events/ask", plan)
	assert.Contains(t, x.o.send("/rooms/shop/events?change=plain", nil).Body.String(), `<option value="other" selected>until another time</option>`)
}

func TestACancelledEventIsShownForADay(t *testing.T) {
	x := newTrail(t)
	page := func() string { return x.o.send("/rooms/shop/events", nil).Body.String() }
	x.do("events/ask", url.Values{"do": {"plan"}, "page": {"events"}, "name": {"sale"}, "description": {"Skis"}, "start": {"2021-05-29T18:00"}, "lasts": {"2h0m0s"}})
	assert.NotContains(t, page(), "cancelled")
	x.do("events/ask", url.Values{"do": {"delete"}, "page": {"events"}, "event": {"sale"}})
	assert.Contains(t, page(), `<h2 id="cancelled-sale">sale <span class="soft">cancelled</span></h2>`)
	assert.Contains(t, page(), "by 192.0.2.1. It was planned for")
	action, fields := x.form(page())
	again := x.o.send(action, fields).Body.String()
	assert.Contains(t, again, "Plan sale?")
	assert.Contains(t, again, "Skis")
	x.at = x.at.Add(25 * time.Hour)
	assert.NotContains(t, page(), "cancelled", "after a day it is in the history")
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
