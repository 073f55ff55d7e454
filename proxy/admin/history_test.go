package admin_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// trail is the history of the shop, whose clock goes on with each thing that is done.
type trail struct {
	t  *testing.T
	g  *gate
	o  *operator
	at time.Time
}

func newTrail(t *testing.T) *trail {
	x := &trail{t: t, g: newGate(t), at: now}
	x.o = &operator{handler: x.g.handlerAt("", func() time.Time { return x.at })}
	return x
}

// do sends a form, and says yes to the question that it is answered with.
func (x *trail) do(path string, form url.Values) {
	x.t.Helper()
	x.at = x.at.Add(time.Minute)
	asked := x.o.send("/rooms/shop/"+path, form)
	require.Equal(x.t, http.StatusOK, asked.Code, asked.Body.String())
	action, fields := x.form(asked.Body.String())
	require.NotEmpty(x.t, action, asked.Body.String())
	done := x.o.send(action, fields)
	require.Equal(x.t, http.StatusSeeOther, done.Code, done.Body.String())
	require.NoError(x.t, x.g.shop.Follow(x.t.Context(), x.at))
}

// form is the first form of a page that changes something.
func (x *trail) form(page string) (action string, fields url.Values) {
	found := regexp.MustCompile(`<form method="post" action="([^"]*)"`).FindStringSubmatch(page)
	if found == nil {
		return "", nil
	}
	return html.UnescapeString(found[1]), hidden(x.t, page, found[1])
}

// latest is the end of the latest line of the history that is about something: what it became, and a
// button or why there is none.
func (x *trail) latest(what string) string {
	x.t.Helper()
	line := regexp.MustCompile(`(?s)<code>` + regexp.QuoteMeta(what) + `</code>(.*?)</li>`).FindStringSubmatch(x.o.send("/rooms/shop/history", nil).Body.String())
	require.NotNil(x.t, line, what)
	return line[1]
}

// putBack undoes what the latest line about something says.
func (x *trail) putBack(what string) {
	x.t.Helper()
	action, fields := x.form(x.latest(what))
	require.NotEmpty(x.t, action, x.latest(what))
	x.at = x.at.Add(time.Minute)
	asked := x.o.send(action, fields).Body.String()
	to, answer := x.form(asked)
	require.NotEmpty(x.t, to, asked)
	done := x.o.send(to, answer)
	require.Equal(x.t, http.StatusSeeOther, done.Code, done.Body.String())
	require.NoError(x.t, x.g.shop.Follow(x.t.Context(), x.at))
}

func TestHistoryPutsBackMessagesAndHolds(t *testing.T) {
	x := newTrail(t)
	x.do("ask", url.Values{"was.message": {""}, "message": {"Back at eight."}})
	x.do("ask", url.Values{"was.queue_all": {"false"}, "queue_all": {"true"}})
	x.putBack("queue_all")
	assert.False(t, x.g.shop.Room.Queue().Settings().QueueAll)
	x.putBack("message")
	assert.Empty(t, x.g.shop.Room.Queue().Settings().Message)
	page := x.o.send("/rooms/shop/history", nil).Body.String()
	assert.Contains(t, page, "It is as before again.", "what has been put back has no button")
}

func TestHistoryPutsBackWhatWasDoneToEvents(t *testing.T) {
	x := newTrail(t)
	const sale = "event sale"
	names := func() (list []string) {
		for _, e := range x.g.shop.Events() {
			list = append(list, e.Name)
		}
		return list
	}
	plan := url.Values{"do": {"plan"}, "page": {"events"}, "name": {"sale"}, "description": {"Skis"}, "start": {"2021-05-28T17:00"}, "end": {"2021-05-28T18:00"}}
	x.do("events/ask", plan)
	require.Equal(t, []string{"sale"}, names())
	x.putBack(sale)
	assert.Empty(t, names(), "what was planned is cancelled")
	x.putBack(sale)
	require.Equal(t, []string{"sale"}, names(), "and what was cancelled is planned again")
	assert.Equal(t, "Skis", x.g.shop.Events()[0].Description, "with all that it had")

	change := url.Values{"do": {"edit"}, "event": {"sale"}, "page": {"events"}, "name": {"sale"}, "description": {"Skis"}, "start": {"2021-05-28T16:00"}, "end": {"2021-05-28T18:00"}}
	x.do("events/ask", change)
	x.putBack(sale)
	assert.Equal(t, 17, x.g.shop.Events()[0].Start.UTC().Hour())
	x.do("events/ask", url.Values{"do": {"suspend"}, "event": {"sale"}, "page": {"events"}})
	x.putBack(sale)
	assert.False(t, x.g.shop.Events()[0].Suspended)
	assert.Contains(t, x.o.send("/rooms/shop/history", nil).Body.String(), "It is as before again.")
}

func TestHistoryAsksBeforeItUndoesWhatOthersHaveChangedSince(t *testing.T) {
	x := newTrail(t)
	x.do("events/ask", url.Values{"do": {"plan"}, "page": {"events"}, "name": {"sale"}, "start": {"2021-05-28T17:00"}, "end": {"2021-05-28T18:00"}})
	action, fields := x.form(x.latest("event sale"))
	x.do("events/ask", url.Values{"do": {"suspend"}, "event": {"sale"}, "page": {"events"}})
	asked := x.o.send(action, fields).Body.String()
	assert.Contains(t, asked, "Somebody has changed this room since")
	assert.Contains(t, asked, "Cancel sale?")
	fields.Set("done", "17")
	assert.Equal(t, http.StatusGone, x.o.send(action, fields).Code)
}

func TestHistoryPutsBackWhoWasPutAhead(t *testing.T) {
	x := newTrail(t)
	code := "7F3K-Q2M9"
	require.Equal(t, http.StatusNoContent, ask(x.g, http.MethodPut, "/api/v1/rooms/shop/visitors/code:"+code+"/ahead", "").Code)
	x.putBack("visitor put ahead")
	assert.False(t, x.g.shop.IsAhead(x.at, code))
	assert.Contains(t, x.latest("visitor put ahead"), "It is as before again.")
}

func TestTheDaysOfARoomHaveReports(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	assert.Contains(t, o.send("/rooms/shop/history", nil).Body.String(), `<a href="/rooms/shop/report?day=2021-05-27" data-day="2021-05-27T15:54:10Z" data-ago="0">Thursday, 27 May</a>`)
	for query, want := range map[string]string{"": "Times are those of UTC", "&timezone=Asia/Kolkata": "Times are those of Asia/Kolkata", "&timezone=Etc/Unknown": "Times are those of UTC"} {
		w := o.send("/rooms/shop/report?day=2021-05-27"+query, nil)
		assert.Equal(t, http.StatusOK, w.Code)
		assert.Contains(t, w.Body.String(), "Thursday, 27 May 2021, 00:00 to")
		assert.Contains(t, w.Body.String(), want)
	}
	today := o.send("/rooms/shop/report", nil).Body.String()
	assert.Contains(t, today, "Thursday, 27 May 2021, 00:00 to", "today, where nothing is asked for")
	assert.Contains(t, today, `<a href="/rooms/shop/history">Back to the dashboard</a>`)
	none := o.send("/rooms/shop/report?day=yesterday", nil)
	assert.Equal(t, http.StatusUnprocessableEntity, none.Code)
	assert.Contains(t, none.Body.String(), "day is not a day as in 2026-11-28.")
	assert.Contains(t, none.Header().Get("Content-Type"), "text/html")
}

func TestAnEventHasAReport(t *testing.T) {
	x := newTrail(t)
	plan := url.Values{"do": {"plan"}, "page": {"events"}, "name": {"sale"}, "prequeue": {"2021-05-27T16:30"}, "start": {"2021-05-27T17:00"}, "end": {"2021-05-28T02:00"}, "shuffle": {"on"}}
	x.do("events/ask", plan)
	const link = `<a href="/rooms/shop/report?event=sale">`
	page := func(path string) string { return x.o.send("/rooms/shop/"+path, nil).Body.String() }
	assert.NotContains(t, page("events")+page("history"), link, "before it begins")
	assert.Contains(t, page("report?event=sale"), "that time has not come yet")

	x.at = time.Date(2021, 5, 27, 18, 0, 0, 0, time.UTC)
	require.NoError(t, x.g.shop.Follow(t.Context(), x.at))
	assert.Contains(t, page("events"), link+"The report of sale, so far</a>")
	assert.Contains(t, page("report?event=sale"), "<p>Thursday, 27 May 2021, 16:30 to 18:00</p>", "from its prequeue on")

	x.at = time.Date(2021, 5, 28, 12, 0, 0, 0, time.UTC)
	require.NoError(t, x.g.shop.Follow(t.Context(), x.at))
	assert.Contains(t, page("events"), link+"The report of sale</a>")
	assert.Contains(t, page("history"), link+"sale</a>")
	told := page("report?event=sale&timezone=Asia/Kolkata")
	assert.Contains(t, told, "<h1>sale, shop</h1>\n<p>27 May 2021, 22:00 to 28 May 2021, 07:30</p>", "to its end")
	assert.Contains(t, told, `<a href="/rooms/shop/history">Back to the dashboard</a>`)
	assert.Contains(t, page("report?event=gone"), "the room has no event &#34;gone&#34;.")
}

func TestAReportIsOfTheTimeThatAPersonPicks(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	for query, want := range map[string]string{
		"from=2021-05-27T15:00&to=2021-05-27T15:30":                                       "27 May 2021, 15:00 to 15:30",
		"from=2021-05-27T15:00:00.000Z&to=2021-05-27T15:30:00.000Z&timezone=Asia/Kolkata": "27 May 2021, 20:30 to 21:00",
		"from=2021-05-27T20:30&to=2021-05-27T21:00&timezone=Asia/Kolkata":                 "27 May 2021, 20:30 to 21:00",
		"from=2021-05-26T15:00&to=2021-05-27T15:30":                                       "26 May 2021, 15:00 to 27 May 2021, 15:30",
		"from=2021-05-27T15:30&to=2021-05-27T15:30":                                       "its begin is not before its end",
		"from=2021-05-01T15:30&to=2021-05-27T15:30":                                       "longer than the 14 days that the record keeps",
		"from=2021-05-27T15:30":                                                           "to is not a time as in 2026-11-28T18:00",
		"from=2021-05-28T15:30&to=2021-05-29T15:30":                                       "that time has not come yet",
	} {
		assert.Contains(t, o.send("/rooms/shop/report?"+query, nil).Body.String(), want, query)
	}
}

func TestWhatIsNotThereIsToldToBrowsersByAPage(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	for path, want := range map[string]string{
		"/rooms/shpo/limits": "There is no room of this name (did you mean &#34;shop&#34;?).", "/rooms/shop/nowhere": "The dashboard has no such page.",
		"/rooms/shop/visitors/short": "A support code has eight letters and digits",
	} {
		w := o.send(path, nil)
		assert.Equal(t, http.StatusNotFound, w.Code, path)
		assert.Contains(t, w.Header().Get("Content-Type"), "text/html", path)
		assert.Contains(t, w.Body.String(), want, path)
		assert.Contains(t, w.Body.String(), `<a class="home" href="/">`, path)
		asJSON := o.send(path, nil, func(q *http.Request) { q.Header.Set("Accept", "*/*") })
		assert.Equal(t, "application/problem+json", asJSON.Header().Get("Content-Type"), path)
	}
}
