package admin_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/dashboard"
	"github.com/fairdoor-gate/fairdoor/proxy/overrides"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
)

// operator is somebody with a browser.
type operator struct {
	handler http.Handler
	cookies []*http.Cookie
}

// send sends a form, or asks for a page without one.
func (o *operator) send(path string, form url.Values, changes ...func(*http.Request)) *httptest.ResponseRecorder {
	w, q := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
	if form != nil {
		q = httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		q.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	q.Host = "localhost"
	q.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	for _, c := range o.cookies {
		q.AddCookie(c)
	}
	for _, change := range changes {
		change(q)
	}
	o.handler.ServeHTTP(w, q)
	return w
}

// hidden are the hidden fields of the form that a page sends to an address.
func hidden(t *testing.T, page, action string) url.Values {
	t.Helper()
	_, form, found := strings.Cut(page, `action="`+action+`"`)
	require.True(t, found, page)
	form, _, _ = strings.Cut(form, "</form>")
	fields := url.Values{}
	for _, field := range regexp.MustCompile(`type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(form, -1) {
		fields.Add(field[1], html.UnescapeString(field[2]))
	}
	return fields
}

func TestAChangeInTheDashboardIsAskedAboutAndThenMade(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	require.Contains(t, o.send("/rooms/shop", nil).Body.String(), "Hold everybody new")
	form := url.Values{
		"was.total_active_users": {"1"}, "total_active_users": {" 7 "}, "was.queue_all": {"false"}, "queue_all": {"true"},
		"was.new_users_per_minute": {"99"}, "new_users_per_minute": {"99"}, // which the room has not, and the operator has not touched
		"page": {"limits"}, "was.message": {""}, "message": {"Back at <8>,\r\nas you \"know\""},
	}
	asked := o.send("/rooms/shop/ask", form)
	require.Equal(t, http.StatusOK, asked.Code)
	for _, want := range []string{
		"Really change shop?", `<td>1</td><td class="then">7</td>`, `<td>off</td><td class="then">on</td>`, `<td class="then">Back at &lt;8&gt;,`,
		"Nobody new is let in while this is on.",
		"Those who wait read both: &#34;Admissions are paused at the moment.&#34; and",
	} {
		assert.Contains(t, asked.Body.String(), want)
	}
	assert.NotContains(t, asked.Body.String(), "new_users_per_minute")
	assert.Equal(t, 1, g.shop.Room.Queue().Settings().TotalActiveUsers, "nothing is changed before the operator says so")

	done := o.send("/rooms/shop/change", hidden(t, asked.Body.String(), "/rooms/shop/change"))
	require.Equal(t, http.StatusSeeOther, done.Code)
	assert.Regexp(t, `^/rooms/shop/limits\?done=`, done.Header().Get("Location"))
	s := g.shop.Room.Queue().Settings()
	assert.Equal(t, 7, s.TotalActiveUsers)
	assert.Equal(t, 10, s.NewUsersPerMinute)
	assert.True(t, s.QueueAll)
	assert.Equal(t, "Back at <8>,\nas you \"know\"", s.Message)
	page := o.send(done.Header().Get("Location"), nil).Body.String()
	for _, want := range []string{
		"shop is changed, on every gate.", "Visitors that may be active at once — <code>total_active_users</code>: 1 → <strong>7</strong>", "Queue-all",
		`<td>an operator at 192.0.2.1</td><td><time datetime="2021-05-27T15:54:10Z">2021-05-27 15:54:10 UTC</time></td>`,
	} {
		assert.Contains(t, page, want)
	}
	assert.Contains(t, o.send("/rooms/shop", nil).Body.String(), "Let people in again")

	back := o.send("/rooms/shop/ask", url.Values{"reset": {"queue_all"}})
	assert.Contains(t, back.Body.String(), `<td>on</td><td class="then">as in the file</td>`)
	require.Equal(t, http.StatusSeeOther, o.send("/rooms/shop/change", hidden(t, back.Body.String(), "/rooms/shop/change")).Code)
	assert.False(t, g.shop.Room.Queue().Settings().QueueAll)
}

func TestWhatWasDoneIsUndoneByOneButton(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	change := func(from, to string) string {
		t.Helper()
		asked := o.send("/rooms/shop/ask", url.Values{"page": {"limits"}, "was.total_active_users": {from}, "total_active_users": {to}}).Body.String()
		done := o.send("/rooms/shop/change", hidden(t, asked, "/rooms/shop/change"))
		require.Equal(t, http.StatusSeeOther, done.Code)
		return done.Header().Get("Location")
	}
	undo := hidden(t, o.send(change("1", "7"), nil).Body.String(), "/rooms/shop/undo")
	w := o.send("/rooms/shop/undo", undo)
	require.Equal(t, http.StatusSeeOther, w.Code)
	assert.Equal(t, 1, g.shop.Room.Queue().Settings().TotalActiveUsers)
	assert.Empty(t, overrides.Of(g.shop.Room.Queue().Configuration()).Changes, "it is as in the file again")

	again := o.send("/rooms/shop/undo", undo)
	assert.Equal(t, http.StatusOK, again.Code)
	assert.Contains(t, again.Body.String(), "Somebody has changed this room since you were asked.")
	assert.Equal(t, http.StatusGone, o.send("/rooms/shop/undo", url.Values{"done": {"17"}}).Code)
	assert.NotContains(t, o.send("/rooms/shop?done=17", nil).Body.String(), "is changed, on every gate")
}

func TestALinkToARoomIsFollowedByWhoHasLoggedIn(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handlerWith("secret")}
	login := hidden(t, o.send("/rooms/shop/history", nil).Body.String(), "/login")
	for to, want := range map[string]string{login.Get("to"): "/rooms/shop/history", "//evil.example": "/", "https://evil.example/": "/", `/\\evil.example`: "/", "": "/"} {
		in := o.send("/login", url.Values{"token": {"secret"}, "to": {to}})
		assert.Equal(t, want, in.Header().Get("Location"), to)
	}
}

func TestAChangeOfARoomThatWasChangedMeanwhileIsAskedAboutAgain(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	asked := o.send("/rooms/shop/ask", url.Values{"was.total_active_users": {"1"}, "total_active_users": {"7"}}).Body.String()
	require.Equal(t, http.StatusOK, ask(g, http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 3}`).Code)
	again := o.send("/rooms/shop/change", hidden(t, asked, "/rooms/shop/change"))
	require.Equal(t, http.StatusOK, again.Code)
	assert.Contains(t, again.Body.String(), "Somebody has changed this room since you were asked.")
	assert.Contains(t, again.Body.String(), `<td>3</td><td class="then">7</td>`)
	assert.Equal(t, 3, g.shop.Room.Queue().Settings().TotalActiveUsers)
	require.Equal(t, http.StatusSeeOther, o.send("/rooms/shop/change", hidden(t, again.Body.String(), "/rooms/shop/change")).Code)
	assert.Equal(t, 7, g.shop.Room.Queue().Settings().TotalActiveUsers)
}

func TestAChangeThatCannotBeMadeIsRefusedInWords(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	for name, c := range map[string]struct {
		path string
		form url.Values
		code int
		says string
	}{
		"a limit of none":      {"ask", url.Values{"was.total_active_users": {"1"}, "total_active_users": {"0"}}, 422, "total_active_users is 0, which is too small: at least 1"},
		"no number":            {"ask", url.Values{"was.total_active_users": {"1"}, "total_active_users": {"<b>"}}, 422, "total_active_users is &lt;b&gt;, which is not a whole number"},
		"nothing":              {"ask", url.Values{"was.total_active_users": {"1"}, "total_active_users": {"1"}}, 200, "the form has the values that the room had"},
		"what is not live":     {"ask", url.Values{"was.bucket": {"0s"}, "bucket": {"1m"}}, 200, "Nothing was changed"},
		"a patch of strangers": {"change", url.Values{"patch": {`{"bucket": "1m"}`}, "version": {"1"}}, 422, "bucket is not among what can be changed here"},
		"no patch":             {"change", url.Values{"patch": {`[]`}}, 400, "The body is not a JSON object."},
		"no form":              {"ask", url.Values{"x": {strings.Repeat("x", 300<<10)}}, 400, "the form could not be read"},
	} {
		w := o.send("/rooms/shop/"+c.path, c.form)
		assert.Equal(t, c.code, w.Code, name)
		assert.Contains(t, w.Body.String(), c.says, name)
	}
	assert.Equal(t, http.StatusNotFound, o.send("/rooms/nowhere/ask", url.Values{}).Code)
	assert.Empty(t, g.shop.Describe().Configuration.Overrides)
}

func TestPagesOfTheDashboardMayDoLittleAndBeFramedByNobody(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	pages := []*httptest.ResponseRecorder{
		o.send("/", nil), o.send("/rooms/shop", nil), o.send("/rooms/shop/limits", nil), o.send("/rooms/shop/events", nil), o.send("/rooms/shop/history", nil), o.send("/rooms/shop/ask", url.Values{"was.queue_all": {"false"}, "queue_all": {"true"}}),
		o.send("/rooms/shop/ask", url.Values{}), (&operator{handler: g.handlerWith("secret")}).send("/", nil),
	}
	for _, w := range pages {
		assert.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'; style-src 'self'; script-src 'self';")
		assert.Contains(t, w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'")
		assert.NotContains(t, w.Header().Get("Content-Security-Policy"), "unsafe")
		assert.Equal(t, "DENY", w.Header().Get("X-Frame-Options"))
		assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		assert.NotRegexp(t, `(?i)\son\w+=|\sstyle=|javascript:|//[a-z]`, w.Body.String(), "no handlers, no styles, nothing from elsewhere")
		for _, path := range regexp.MustCompile(`(?:href|src)="(`+dashboard.AssetPath+`[^"]+)"`).FindAllStringSubmatch(w.Body.String(), -1) {
			a := o.send(path[1], nil)
			assert.Equal(t, http.StatusOK, a.Code)
			assert.Contains(t, a.Header().Get("Cache-Control"), "immutable")
		}
	}
	assert.Equal(t, http.StatusNotFound, o.send(dashboard.AssetPath+"nothing.js", nil).Code)
}

// handlerWith is the handler with a token.
func (g *gate) handlerWith(token string) *admin.Handler {
	return g.handlerAt(token, func() time.Time { return now })
}

func (g *gate) handlerAt(token string, clock func() time.Time) *admin.Handler {
	return admin.New(admin.Config{
		Gate: g, Metrics: http.NotFoundHandler(), Record: g.record, Token: token, Clock: clock, Log: g.log,
		Operators: func() []admin.Operator { return g.operators }, File: func() string { return "fairdoor.yaml" },
	})
}

func TestAnOperatorLogsInWithTheTokenAndOut(t *testing.T) {
	g, at := newGate(t), now
	handler := g.handlerAt("secret", func() time.Time { return at })
	o := &operator{handler: handler}
	change := url.Values{"patch": {`{"queue_all": true}`}, "version": {"1"}}
	for _, w := range []*httptest.ResponseRecorder{o.send("/", nil), o.send("/rooms/shop/change", change), o.send("/login", url.Values{"token": {"wrong"}})} {
		assert.Equal(t, http.StatusUnauthorized, w.Code)
		assert.Contains(t, w.Body.String(), "Admin token")
		assert.NotContains(t, w.Body.String(), "shop", "strangers learn nothing")
		assert.Empty(t, w.Result().Cookies())
	}
	assert.False(t, g.shop.Room.Queue().Settings().QueueAll)

	in := o.send("/login", url.Values{"token": {"secret"}})
	require.Equal(t, http.StatusSeeOther, in.Code)
	require.Len(t, in.Result().Cookies(), 1)
	c := in.Result().Cookies()[0]
	assert.True(t, c.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, c.SameSite)
	assert.False(t, c.Secure)
	assert.NotContains(t, c.Value, "secret")
	secure := o.send("/login", url.Values{"token": {"secret"}}, func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") })
	assert.True(t, secure.Result().Cookies()[0].Secure)

	o.cookies = []*http.Cookie{c}
	assert.Contains(t, o.send("/", nil).Body.String(), "Log out")
	assert.Equal(t, http.StatusOK, o.send("/api/v1/rooms/shop/status", nil).Code, "the links of the dashboard work")
	assert.Equal(t, http.StatusForbidden, o.send("/rooms/shop/change", change, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }).Code)

	altered := *c
	altered.Value = "B" + c.Value[1:]
	for name, strange := range map[string]*operator{
		"an altered cookie": {handler: handler, cookies: []*http.Cookie{&altered}},
		"no cookie of ours": {handler: handler, cookies: []*http.Cookie{{Name: c.Name, Value: "secret"}}},
		"another token":     {handler: g.handlerWith("another"), cookies: o.cookies},
	} {
		assert.Equal(t, http.StatusUnauthorized, strange.send("/", nil).Code, name)
	}

	at = now.Add(13 * time.Hour)
	assert.Equal(t, http.StatusUnauthorized, o.send("/", nil).Code, "a session has an end")
	at = now
	out := o.send("/logout", url.Values{})
	assert.Negative(t, out.Result().Cookies()[0].MaxAge)
	assert.Equal(t, http.StatusUnauthorized, o.send("/", nil).Code, "the cookie counts for nothing, even if somebody has kept it")
}

func TestOperatorsHaveTokensOfTheirOwnAndViewersChangeNothing(t *testing.T) {
	const ada, eve = "0123456789abcdef-ada", "0123456789abcdef-eve"
	for name, given := range map[string]string{"beside the admin token": "secret", "without one": ""} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t)
			g.operators = []admin.Operator{{Name: "ada", Token: ada}, {Name: "eve", Token: eve, Views: true}}
			handler := g.handlerWith(given)
			as := func(token string) func(*http.Request) {
				return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
			}
			stranger := &operator{handler: handler}
			assert.Equal(t, http.StatusUnauthorized, stranger.send("/api/v1/rooms", nil).Code)
			assert.Equal(t, http.StatusUnauthorized, stranger.send("/api/v1/rooms", nil, as("0123456789abcdef")).Code)
			for _, token := range []string{ada, eve} {
				assert.Equal(t, http.StatusOK, stranger.send("/api/v1/rooms", nil, as(token)).Code)
			}
			change := func(of *operator, changes ...func(*http.Request)) *httptest.ResponseRecorder {
				version := strconv.FormatInt(g.shop.Room.Queue().Configuration().Version, 10)
				return of.send("/rooms/shop/change", url.Values{"patch": {`{"queue_all": true}`}, "version": {version}}, changes...)
			}
			looks := &operator{handler: handler}
			looks.cookies = looks.send("/login", url.Values{"token": {eve}}).Result().Cookies()
			assert.Contains(t, looks.send("/rooms/shop", nil).Body.String(), "You may look, and change nothing.")
			refused := change(looks)
			assert.Equal(t, http.StatusForbidden, refused.Code)
			assert.Contains(t, refused.Body.String(), "for looking only")
			assert.Equal(t, http.StatusForbidden, change(stranger, as(eve)).Code)
			assert.False(t, g.shop.Room.Queue().Settings().QueueAll)

			works := &operator{handler: handler}
			works.cookies = works.send("/login", url.Values{"token": {ada}, "name": {"somebody else"}}).Result().Cookies()
			require.Equal(t, http.StatusSeeOther, change(works).Code)
			assert.Equal(t, "ada (192.0.2.1)", overrides.Of(g.shop.Room.Queue().Configuration()).By["queue_all"].By, "the name is that of the token")

			g.operators = g.operators[1:]
			assert.Equal(t, http.StatusUnauthorized, works.send("/", nil).Code, "a log-in ends with its token")
			assert.Equal(t, http.StatusOK, looks.send("/", nil).Code)
			assert.Equal(t, http.StatusSeeOther, looks.send("/logout", url.Values{}).Code)
		})
	}
}

func TestAnOperatorIsANameARoleAndAToken(t *testing.T) {
	o, err := admin.ParseOperator("ada\toperator  0123456789abcdef")
	require.NoError(t, err)
	assert.Equal(t, admin.Operator{Name: "ada", Token: "0123456789abcdef"}, o)
	o, err = admin.ParseOperator("grafana@shop.example viewer 0123456789abcdef")
	require.NoError(t, err)
	assert.True(t, o.Views)
	for _, wrong := range []string{"", "ada", "ada 0123456789abcdef", "ada admin 0123456789abcdef", "ada operator short", "ada operator 0123456789abcdef x", "a(b operator 0123456789abcdef"} {
		_, err := admin.ParseOperator(wrong)
		require.Error(t, err, wrong)
		assert.NotContains(t, err.Error(), "0123456789abcdef")
	}
}

func TestLogInsAndWrongTokensAreLogged(t *testing.T) {
	g := newGate(t)
	core, entries := observer.New(zap.InfoLevel)
	g.log = zap.New(core)
	o := &operator{handler: g.handlerWith("secret")}
	o.send("/", nil)
	o.send("/login", url.Values{"token": {"wrong"}})
	o.send("/api/v1/rooms", nil, func(r *http.Request) { r.Header.Set("Authorization", "Bearer wrong") })
	o.cookies = o.send("/login", url.Values{"token": {"secret"}}).Result().Cookies()
	o.send("/logout", url.Values{})
	var lines []string
	for _, e := range entries.All() {
		lines = append(lines, e.Message)
		assert.Equal(t, "192.0.2.1", e.ContextMap()["by"])
		assert.Len(t, e.ContextMap(), 1)
	}
	assert.Equal(t, []string{"wrong admin token", "wrong admin token", "operator logged in", "operator logged out"}, lines)
}

func TestChangesAreSignedWithTheNameThatTheOperatorGives(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handlerWith("secret")}
	signed := func() string {
		doc := overrides.Of(g.shop.Room.Queue().Configuration())
		return doc.By["queue_all"].By
	}
	set := func(value string, changes ...func(*http.Request)) {
		t.Helper()
		version := strconv.FormatInt(g.shop.Room.Queue().Configuration().Version, 10)
		w := o.send("/rooms/shop/change", url.Values{"patch": {`{"queue_all": ` + value + `}`}, "version": {version}}, changes...)
		require.Equal(t, http.StatusSeeOther, w.Code)
	}
	as := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Header["Fairdoor-As"] = []string{name} }
	}
	o.cookies = o.send("/login", url.Values{"token": {"secret"}, "name": {" Zoë  <b>O'Neill</b> "}}).Result().Cookies()
	set("true")
	assert.Equal(t, "Zoë <b>O'Neill</b> (192.0.2.1)", signed())
	page := o.send("/rooms/shop/history", nil).Body.String()
	assert.Contains(t, page, "Zoë &lt;b&gt;O&#39;Neill&lt;/b&gt; (192.0.2.1)")
	assert.NotContains(t, page, "<b>O")
	for name, want := range map[string]string{
		"ann":                        "ann (192.0.2.1)",
		"ann (10.0.0.9)":             "ann 10.0.0.9 (192.0.2.1)",
		"a\tb\u202ec\u200bd\xff\x01": "a bcd (192.0.2.1)",
		strings.Repeat("ä", 200):     strings.Repeat("ä", 60) + " (192.0.2.1)",
		" () ":                       "Zoë <b>O'Neill</b> (192.0.2.1)", // which is none
	} {
		set("false")
		set("true", as(name))
		assert.Equal(t, want, signed(), name)
	}
	o.cookies = o.send("/login", url.Values{"token": {"secret"}}).Result().Cookies()
	set("false")
	assert.Equal(t, "192.0.2.1", signed(), "a name need not be given")
}

func TestACookieOfTheSameNameShutsNoOperatorOut(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handlerWith("secret")}
	ours := o.send("/login", url.Values{"token": {"secret"}}).Result().Cookies()
	o.cookies = append([]*http.Cookie{{Name: ours[0].Name, Value: "another program's"}}, ours...)
	assert.Equal(t, http.StatusOK, o.send("/", nil).Code)
	o.send("/logout", url.Values{})
	assert.Equal(t, http.StatusUnauthorized, o.send("/", nil).Code)
}

func TestTheDashboardComesInTimeWhileStoresHang(t *testing.T) {
	g := newGate(t)
	g.rooms, g.shop.hangs = 6, &hanging{}
	o := &operator{handler: g.handler()}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		assert.Contains(t, o.send("/", nil).Body.String(), "/rooms/shop")
		assert.Zero(t, time.Since(began), "how rooms stand is known")
		assert.Contains(t, o.send("/rooms/shop", nil).Body.String(), "Hold everybody new")
		assert.Equal(t, 2*time.Second, time.Since(began))
	})
	g.shop.hangs = &hanging{known: true}
	assert.Equal(t, http.StatusOK, o.send("/rooms/shop", nil).Code)
	assert.Zero(t, g.shop.hangs.asked, "a store that is known to fail is not asked")
}

func TestRoomsAreShownAsATable(t *testing.T) {
	g := newGate(t)
	w := ask(g, http.MethodGet, "/api/v1/rooms.csv", "")
	assert.Equal(t, "text/csv; charset=utf-8; header=present", w.Header().Get("Content-Type"))
	lines := strings.Split(w.Body.String(), "\n")
	require.Len(t, lines, 3)
	assert.True(t, strings.HasPrefix(lines[1], "shop,not_queueing,none,0,1,0,0,10,1,0,1,2021-05-27T15:54:10Z,0.0"), lines[1])
}

// posts makes an event of the shop with the API.
func posts(t *testing.T, g *gate, body string) {
	t.Helper()
	w := ask(g, http.MethodPost, "/api/v1/rooms/shop/events", body)
	require.Equal(t, http.StatusCreated, w.Code, w.Body)
}

func TestTheDashboardShowsTheEventsOfARoom(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	assert.Contains(t, o.send("/rooms/shop/events", nil).Body.String(), "No event is planned.")
	posts(t, g, `{"name": "sale", "description": "The <big> one", "prequeue_start_time": "2021-05-27T15:50:00Z", "event_start_time": "2021-05-27T16:00:00Z",
		"event_end_time": "2021-05-27T18:00:00Z", "shuffle_at_event_start": true, "total_active_users": 800, "new_users_per_minute": 500, "custom_page_html": "<p>Soon</p>"}`)
	posts(t, g, `{"name": "next", "event_start_time": "2021-05-28T16:00:00Z", "event_end_time": "2021-05-28T18:00:00Z", "suspended": true}`)
	require.NoError(t, g.shop.Follow(t.Context(), now))
	assert.Contains(t, o.send("/", nil).Body.String(), `<a href="/rooms/shop/events">sale</a> <span class="soft">in shop</span> <span class="busy">prequeue</span> — starts <time datetime="2021-05-27T16:00:00Z">`)
	page := o.send("/rooms/shop/events", nil).Body.String()
	for _, want := range []string{
		"Prequeue of sale", "An event is about to start: everybody new is held until it does.", `<h2 id="event-sale">sale <span`, "The &lt;big&gt; one",
		`<span class="busy">prequeue</span>`, `<dt>Prequeue, in which everybody new is held</dt><dd><time datetime="2021-05-27T15:50:00Z" data-day-of-week>Thursday, 2021-05-27 15:50:00 UTC</time></dd>`, ">Thursday, 2021-05-27 16:00:00 UTC</time></dd>",
		">Thursday, 2021-05-27 18:00:00 UTC</time></dd>",
		`<svg class="timeline" role="img"`, `<title>The times of sale, which is prequeue</title>`, `class="now"`,
		" <code>total_active_users</code>: 800</div>", record.SettingInWords("total_active_users"), " <code>new_users_per_minute</code>: 500</div>", "Page for those who wait <code>custom_page_html</code>", g.shop.Draw("sale").SeedHash(),
		`<span class="soft">suspended</span>`, `<a href="/api/v1/rooms/shop/events">All events as JSON</a>`,
	} {
		assert.Contains(t, page, want)
	}
	assert.NotContains(t, page, "/order", "nobody can know it yet")
	assert.Contains(t, o.send("/rooms/shop", nil).Body.String(), `name="was.queue_all" value="false"`, "no operator has switched it on")

	asked := o.send("/rooms/shop/ask", url.Values{"was.total_active_users": {"800"}, "total_active_users": {"7"}}).Body.String()
	assert.Contains(t, asked, "The event sale has its own total_active_users. The change shows when the event is over.")
}

func TestTheDashboardWarnsOfHoldsAndTellsWhatIsLeft(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	asked := o.send("/rooms/shop/ask", url.Values{"was.hold_active": {"off"}, "hold_active": {"now"}, "was.on_sold_out": {"keep"}, "on_sold_out": {"close"}}).Body.String()
	assert.Contains(t, asked, "those who are in are held at once")
	assert.Contains(t, asked, "everybody who waits is told so and turned away")
	require.Equal(t, http.StatusSeeOther, o.send("/rooms/shop/change", hidden(t, asked, "/rooms/shop/change")).Code)
	assert.Contains(t, o.send("/", nil).Body.String(), "Held</span>")

	require.Equal(t, http.StatusOK, ask(g, http.MethodPatch, "/api/v1/rooms/shop", `{"hold_active": null}`).Code)
	g.shop.Room.Queue().HearLeft(now, 0, "")
	require.NoError(t, g.shop.Room.Queue().Sync(t.Context(), now.Add(time.Second)))
	page := o.send("/rooms/shop", nil).Body.String()
	assert.Contains(t, page, "Sold out</p>")
	assert.Contains(t, page, "Items left, by the origin")
	status := ask(g, http.MethodGet, "/api/v1/rooms/shop/status", "").Body.String()
	assert.Contains(t, status, `"reason": "sold_out"`)
	assert.Contains(t, status, `"itemsLeft": 0`)
}

func TestTheDashboardSaysThatTheOriginIsSlow(t *testing.T) {
	g := newGate(t)
	o, q := &operator{handler: g.handler()}, g.shop.Room.Queue()
	require.Equal(t, http.StatusOK, ask(g, http.MethodPatch, "/api/v1/rooms/shop", `{"admission_control_latency": "1s", "total_active_users": 9}`).Code)
	require.NoError(t, q.Sync(t.Context(), now))
	for i := range byte(50) {
		q.FromOrigin(q.ToOrigin([16]byte{i}, "/"), 3*time.Second, pressure.Answered)
	}
	for _, after := range []time.Duration{pressure.Every, pressure.Every + time.Second} {
		require.NoError(t, q.Sync(t.Context(), now.Add(after)))
	}
	page := o.send("/rooms/shop", nil).Body.String()
	assert.Contains(t, page, "Admissions are slowed to 5 of 10 a minute, because the origin is slow or fails.")
	assert.Regexp(t, `Measured here, over 50 requests: p50 [23]\.\d\d s, p95 [23]\.\d\d s, 0\.0 % failed\.`, page)
}

func TestAForecastTellsWholeRatesAsWhole(t *testing.T) {
	g := newGate(t)
	o := &operator{handler: g.handler()}
	asked := o.send("/rooms/shop/ask", url.Values{"was.total_active_users": {"1"}, "total_active_users": {"2000"}, "was.new_users_per_minute": {"10"}, "new_users_per_minute": {"5"}}).Body.String()
	assert.Contains(t, asked, "About 5 a minute are let in then; now it is about 0.1.")
	assert.Contains(t, asked, "Whoever comes then is let in at once; whoever comes now is let in at once.")
}
