package passes_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/admin/admintest"
	"github.com/fairdoor-gate/fairdoor/proxy/bind"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// pass is a pass as the admin API has it.
type pass struct {
	ID, Code, Link string
	Uses, Used     int
}

// pass makes a pass by the admin API.
func makePass(f *gatetest.Fixture, order string) pass {
	f.T.Helper()
	var made struct{ Passes []pass }
	a := f.API(http.MethodPost, "/api/v1/rooms/shop/passes", order, &made)
	require.Equal(f.T, http.StatusOK, a.Status)
	require.Len(f.T, made.Passes, 1)
	return made.Passes[0]
}

// presses looks at the page of a link, and presses its button.
func presses(v *gatetest.Visitor, link string) gatetest.Answer {
	v.Fixture.T.Helper()
	page := v.Get(link)
	if page.Status != http.StatusOK {
		return page
	}
	return v.SendsForm(page)
}

func TestTheHolderOfAPassTakesTheNextSlot(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t))
	in := f.Full()[0]
	others := []*gatetest.Visitor{f.Waits(), f.Waits()}
	link := makePass(f, `{"name": "press", "kind": "in", "for": "24h"}`).Link
	holder := f.Visitor()
	a := presses(holder, link)
	require.Equal(t, http.StatusSeeOther, a.Status)
	assert.Equal(t, "/", a.Header.Get("Location"))
	assert.Equal(t, "strict-origin", a.Header.Get("Referrer-Policy"))
	require.False(t, holder.Get("/").In(), "the limits hold for passes, too")
	assert.EqualValues(t, 1, holder.Get("/", gatetest.AsJSON).Told("position"))

	in.Get("/", gatetest.With("Cookie", "")) // nobody
	f.API(http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 2}`, nil)
	f.Pass(gatetest.Interval / 2)
	for _, v := range others {
		require.False(t, v.Get("/").In())
	}
	f.Pass(gatetest.Interval)
	assert.True(t, holder.Get("/").In())
	assert.Equal(t, 2, f.Status("shop").InRoom)
	for _, r := range f.Site.Requests() {
		assert.NotContains(t, r.Header.Get("Cookie"), "fairdoor")
	}
}

// Programs that look at links in mails and chats, and browsers that fetch them before anybody asks,
// use up nothing.
func TestLookingAtAPassUsesUpNothing(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t))
	pass := makePass(f, `{"name": "press", "kind": "in", "for": "24h"}`)
	for range 3 {
		a := f.Visitor().Get(pass.Link)
		require.Equal(t, http.StatusOK, a.Status)
		assert.Equal(t, "no-store", a.Header.Get("Cache-Control"))
		assert.Equal(t, "strict-origin", a.Header.Get("Referrer-Policy"))
		assert.Empty(t, a.SetCookies())
	}
	assert.Equal(t, http.StatusOK, f.Visitor().Send(http.MethodHead, pass.Link, nil).Status)
	foreign := f.Visitor().Send(http.MethodPost, pass.Link, nil, gatetest.With("Sec-Fetch-Site", "cross-site"))
	assert.Equal(t, http.StatusBadRequest, foreign.Status, "a page of another site cannot press the button")

	first := f.Visitor()
	page := first.Get(pass.Link)
	require.Equal(t, http.StatusSeeOther, first.Twin().SendsForm(page).Status)
	require.Equal(t, http.StatusSeeOther, first.SendsForm(page).Status, "pressed twice, it is one use")
	require.Equal(t, http.StatusSeeOther, first.PostForm(pass.Link, nil).Status, "they have used it already")
	for _, a := range []gatetest.Answer{presses(f.Visitor(), pass.Link), f.Visitor().PostForm(pass.Link, nil), f.Visitor().Get(pass.Link, gatetest.AsJSON)} {
		assert.Equal(t, http.StatusGone, a.Status)
	}
}

func TestAHolderIsOneVisitorOnAllDevices(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t), gatetest.Room(func(r *proxy.RoomConfig) { r.Settings.TotalActiveUsers = 5 }))
	holder := f.Visitor()
	presses(holder, makePass(f, `{"name": "press", "kind": "in", "for": "24h"}`).Link)
	for range 3 {
		copied := f.Visitor()
		copied.Cookies["fairdoor_.pass.shop"] = holder.Cookies["fairdoor_.pass.shop"]
		require.True(t, copied.Get("/").In())
	}
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").InRoom)
}

func TestARoomForHoldersOfPassesLetsInNobodyElse(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t), gatetest.PassesOnly)
	stranger := f.Visitor()
	door := stranger.Get("/")
	require.Equal(t, http.StatusOK, door.Status)
	assert.Contains(t, door.Body, "Only people with a link or a code can come in right now.")
	assert.Empty(t, stranger.Cookies, "they have no place")
	assert.Equal(t, http.StatusForbidden, stranger.PostForm("/buy", nil).Status)
	assert.Equal(t, http.StatusForbidden, stranger.Get("/a.png", gatetest.With("Sec-Fetch-Dest", "image")).Status)
	assert.Contains(t, stranger.Get("/", gatetest.AsJSON).Body, `"status":"none"`)

	wrong := stranger.SendsForm(door, "code", "AAAA-BBBB-CCCC")
	assert.Equal(t, http.StatusGone, wrong.Status)
	assert.Contains(t, wrong.Body, "This code does not work.")
	code := makePass(f, `{"name": "members", "kind": "join", "for": "24h"}`).Code
	require.Equal(t, http.StatusSeeOther, stranger.SendsForm(wrong, "code", strings.ToLower(strings.ReplaceAll(code, "-", " "))).Status)
	assert.True(t, stranger.Get("/").In())
	forged := f.Visitor()
	forged.Cookies["fairdoor_.pass.shop"] = stranger.Cookies["fairdoor_shop"]
	assert.False(t, forged.Get("/").In(), "a ticket is no pass")
	f.Site.Requests()
	f.Visitor().Get("/")
	assert.Empty(t, f.Site.Requests())
}

// A cache would serve it to people without a pass, also while nobody has to wait.
func TestNoSharedCacheKeepsWhatHoldersGetOfARoomForThemAlone(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t), gatetest.PassesOnly, gatetest.Room(func(r *proxy.RoomConfig) { r.Settings.TotalActiveUsers = 5 }))
	f.Site.Will(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=60")
		_, _ = w.Write([]byte("in"))
	})
	holder := f.Visitor()
	presses(holder, makePass(f, `{"name": "members", "kind": "join", "for": "24h"}`).Link)
	require.True(t, holder.Get("/").In())
	a := holder.Get("/")
	require.Empty(t, a.SetCookies())
	assert.Equal(t, "private, max-age=60", a.Header.Get("Cache-Control"))
}

func TestCodesAreTriedAFewTimesAMinute(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t), gatetest.TrustingLoopback)
	from := func(address, code string) gatetest.Answer {
		return f.Visitor().Send(http.MethodPost, "/.fairdoor/pass", strings.NewReader(url.Values{"code": {code}}.Encode()),
			gatetest.With("Content-Type", "application/x-www-form-urlencoded"), gatetest.With("X-Forwarded-For", address))
	}
	var last gatetest.Answer
	for range 11 {
		last = from("192.0.2.7", "AAAA-BBBB-CCCC")
	}
	assert.Equal(t, http.StatusTooManyRequests, last.Status)
	code := makePass(f, `{"name": "press", "kind": "in", "for": "24h"}`).Code
	assert.Equal(t, http.StatusTooManyRequests, from("192.0.2.99", code).Status, "of the same network")
	assert.Equal(t, http.StatusSeeOther, from("198.51.100.7", code).Status)
}

// Two gates share the record and the store.
func TestARevokedPassEndsAtEveryGate(t *testing.T) {
	shared := gatetest.TakingPasses(t)
	f := gatetest.Start(t, shared, gatetest.PassesOnly, gatetest.InRealTime, gatetest.Room(func(r *proxy.RoomConfig) { r.Settings.TotalActiveUsers = 5 }))
	other := gatetest.Start(t, shared, gatetest.PassesOnly, gatetest.InRealTime, func(c *proxy.Config, _ *proxy.Options) {
		c.Keys, c.Rooms[0].Settings.TotalActiveUsers = f.Config.Keys, 5
	})
	made := makePass(f, `{"name": "press", "kind": "join", "uses": 2, "for": "24h"}`)
	here, there := f.Visitor(), other.Visitor()
	require.Equal(t, http.StatusSeeOther, presses(here, made.Link).Status)
	require.Equal(t, http.StatusSeeOther, presses(there, made.Link).Status, "a link is good at every gate")
	require.Equal(t, http.StatusGone, presses(other.Visitor(), made.Link).Status, "both uses are counted together")
	require.True(t, here.Get("/").In())
	require.True(t, there.Get("/").In())

	var done struct{ Revoked, Sessions int }
	a := f.API(http.MethodDelete, "/api/v1/rooms/shop/passes/press?end_sessions=true", "", &done)
	require.Equal(t, http.StatusOK, a.Status)
	assert.Equal(t, 1, done.Revoked)
	assert.Equal(t, 1, done.Sessions, "the store of the other gate is another one")
	assert.False(t, here.Get("/").In(), "their session has ended")
	assert.Eventually(t, func() bool {
		v := other.Visitor()
		v.Cookies["fairdoor_.pass.shop"] = there.Cookies["fairdoor_.pass.shop"]
		return !v.Get("/").In()
	}, gatetest.Patience, 50*time.Millisecond, "the other gate learns of it")
	assert.Equal(t, http.StatusNotFound, f.API(http.MethodDelete, "/api/v1/rooms/shop/passes/press", "", nil).Status)
	var list struct{ Passes []pass }
	f.API(http.MethodGet, "/api/v1/rooms/shop/passes", "", &list)
	require.Len(t, list.Passes, 1)
	assert.Equal(t, []int{2, 2}, []int{list.Passes[0].Uses, list.Passes[0].Used})
	assert.Empty(t, list.Passes[0].Code)
	assert.Empty(t, list.Passes[0].Link, "it is as good as the code")
}

func TestTheSessionsOfARevokedPassCanBeEndedLater(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t), gatetest.PassesOnly)
	const path = "/api/v1/rooms/shop/passes/press"
	assert.Equal(t, http.StatusNotFound, f.API(http.MethodDelete, path+"?end_sessions=true", "", nil).Status)
	holder := f.Visitor()
	presses(holder, makePass(f, `{"name": "press", "kind": "in", "for": "24h"}`).Link)
	require.True(t, holder.Get("/").In())
	require.Equal(t, http.StatusOK, f.API(http.MethodDelete, path, "", nil).Status)
	var done struct{ Revoked, Sessions int }
	a := f.API(http.MethodDelete, path+"?end_sessions=true", "", &done)
	require.Equal(t, http.StatusOK, a.Status)
	assert.Zero(t, done.Revoked)
	assert.Equal(t, 1, done.Sessions)
	assert.False(t, holder.Get("/").In())
}

func TestAnOrderOfPassesThatMakesNoSenseIsRefused(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t))
	for _, order := range []string{
		`{}`, `{"name": "a", "kind": "all", "for": "1h"}`, `{"name": "a", "kind": "in"}`, `{"name": "a", "kind": "in", "for": "-1h"}`,
		`{"name": "a\n", "kind": "in", "for": "1h"}`, `{"name": "a", "kind": "in", "for": "1h", "uses": 0}`, `{"name": "a", "kind": "in", "for": "1h", "count": 10001}`,
	} {
		assert.Equal(t, http.StatusUnprocessableEntity, f.API(http.MethodPost, "/api/v1/rooms/shop/passes", order, nil).Status, order)
	}
	without := gatetest.Start(t)
	assert.Equal(t, http.StatusConflict, without.API(http.MethodGet, "/api/v1/rooms/shop/passes", "", nil).Status)
	assert.Equal(t, http.StatusNotFound, without.Visitor().Get("/.fairdoor/pass").Status)
}

// A gate that is started again, and one whose store has lost everything, know the passes and their
// uses.
func TestPassesOutlastTheStore(t *testing.T) {
	shared := gatetest.TakingPasses(t)
	f := gatetest.Start(t, shared)
	made, lost := makePass(f, `{"name": "press", "kind": "in", "for": "24h"}`), makePass(f, `{"name": "lost", "kind": "in", "for": "24h"}`)
	holder := f.Visitor()
	require.Equal(t, http.StatusSeeOther, presses(holder, made.Link).Status)
	f.API(http.MethodDelete, "/api/v1/rooms/shop/passes/lost", "", nil)
	f.Close()
	f.Public.Close()

	again := gatetest.Start(t, shared, func(c *proxy.Config, _ *proxy.Options) { c.Keys = f.Config.Keys })
	again.Full()
	again.Waits()
	holder.Base, holder.Client = again.Public.URL, again.Visitor().Client
	require.False(t, holder.Get("/").In())
	assert.EqualValues(t, 1, holder.Get("/", gatetest.AsJSON).Told("position"))
	assert.Equal(t, http.StatusGone, presses(again.Visitor(), made.Link).Status)
	assert.Equal(t, http.StatusGone, presses(again.Visitor(), lost.Link).Status)
}

func TestAPassThatIsUsedUpWorksForItsHolder(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t))
	made := makePass(f, `{"name": "press", "kind": "in", "for": "24h"}`)
	holder := f.Visitor()
	for range 2 {
		require.Equal(t, http.StatusSeeOther, presses(holder, made.Link).Status)
		require.Equal(t, http.StatusSeeOther, holder.SendsForm(holder.Get("/.fairdoor/pass"), "code", made.Code).Status)
		assert.Equal(t, http.StatusOK, holder.Get(made.Link, gatetest.AsJSON).Status)
	}
	stranger := f.Visitor()
	assert.Equal(t, http.StatusGone, presses(stranger, made.Link).Status)
	assert.Equal(t, http.StatusGone, stranger.SendsForm(stranger.Get("/.fairdoor/pass"), "code", made.Code).Status)
}

func TestWhoIsInStaysInWhenTheirPassExpires(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t), gatetest.PassesOnly, gatetest.Settings(func(s *queue.Settings) { s.SessionDuration = 5 * time.Minute }))
	holder := f.Visitor()
	presses(holder, makePass(f, `{"name": "press", "kind": "join", "for": "10m"}`).Link)
	for range 15 {
		require.True(t, holder.Get("/").In())
		f.Pass(time.Minute)
	}
	require.True(t, holder.Get("/").In())
	f.Pass(10 * time.Minute)
	assert.False(t, holder.Get("/").In(), "once their session is over, they have no pass")
	assert.Contains(t, holder.Get("/").Body, "Only people with a link or a code can come in right now.")
}

func TestARevokedPassWithItsSessionsThrowsOutWhoIsIn(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t), gatetest.PassesOnly, gatetest.InRealTime, gatetest.Naming, gatetest.TrustingLoopback, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 2 }))
	link := makePass(f, `{"name": "press", "kind": "join", "uses": 2, "for": "1h"}`).Link
	named, unnamed := f.Visitor(), f.Visitor()
	presses(named, link)
	presses(unnamed, link)
	require.True(t, named.Get("/", gatetest.As("alice")).In())
	require.True(t, unnamed.Get("/").In())
	f.API(http.MethodDelete, "/api/v1/rooms/shop/passes/press?end_sessions=true", "", nil)
	assert.False(t, unnamed.Get("/").In())
	assert.False(t, named.Get("/", gatetest.As("alice")).In())
}

func TestAUserWithAPassHasOneSlot(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t), gatetest.Naming, gatetest.TrustingLoopback, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 5 }))
	phone, laptop := f.Visitor(), f.Visitor()
	presses(phone, makePass(f, `{"name": "press", "kind": "in", "for": "24h"}`).Link)
	require.True(t, phone.Get("/", gatetest.As("alice")).In())
	require.True(t, laptop.Get("/", gatetest.As("alice")).In())
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").InRoom)
}

func TestTheUseOfAPassIsOneUsers(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t), gatetest.PassesOnly, gatetest.Naming, gatetest.TrustingLoopback, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 5 }))
	phone := f.Visitor()
	presses(phone, makePass(f, `{"name": "press", "kind": "join", "for": "24h"}`).Link)
	copied := phone.Twin()
	require.True(t, phone.Get("/", gatetest.As("alice")).In())
	assert.True(t, copied.Twin().Get("/", gatetest.As("alice")).In())
	assert.False(t, copied.Get("/", gatetest.As("bob")).In())
}

func TestAPassCountsWhereItIsBoundTo(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t), gatetest.PassesOnly, gatetest.Bound(bind.ByNetwork))
	made := makePass(f, `{"name": "press", "kind": "in", "for": "24h"}`)
	holder := f.Visitor()
	a := holder.Send(http.MethodPost, made.Link, nil, gatetest.At("192.0.2.7"))
	require.Equal(t, http.StatusSeeOther, a.Status)
	thief := holder.Twin()
	assert.False(t, thief.Get("/", gatetest.At("198.51.100.1")).In())
	assert.Equal(t, http.StatusGone, thief.Get(made.Link, gatetest.At("198.51.100.1")).Status)
	assert.True(t, holder.Get("/", gatetest.At("192.0.2.99")).In(), "at another address of the network")
}

func TestTheDocumentHasTheFieldsOfAPass(t *testing.T) {
	admintest.HasFields(t, gatetest.Start(t).Admin(), "Pass", passes.PassJSON{})
}

// sendsForm sends a form of the dashboard, answers yes to what it asks, and returns the question and
// the page that comes then.
func sendsForm(f *gatetest.Fixture, path string, form url.Values) (asked, then string) {
	f.T.Helper()
	send := func(path string, form url.Values) string {
		return f.API(http.MethodPost, path, form.Encode(), nil, gatetest.With("Content-Type", "application/x-www-form-urlencoded")).Body
	}
	asked = send(path, form)
	_, question, found := strings.Cut(asked, `class="card"`)
	require.True(f.T, found, asked)
	action, fields := gatetest.FormOf(f.T, question)
	return asked, send(action, fields)
}

func TestPassesAreMadeShownAndRevokedInTheDashboard(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t))
	order := url.Values{"do": {"make"}, "page": {"passes"}, "name": {"Friday press"}, "people": {"10"}, "links": {"one"}, "kind": {"in"}, "for": {"24h"}, "site": {"shop.example/x"}}
	assert.Contains(t, f.API(http.MethodGet, "/rooms/shop", "", nil).Body, `href="/rooms/shop/passes"`)
	asked, page := sendsForm(f, "/rooms/shop/passes/ask", order)
	assert.Contains(t, asked, "Make Friday press?")
	assert.Contains(t, asked, "for 10 people")
	assert.Contains(t, page, "Friday press is made.")
	link := regexp.MustCompile(`href="https://shop\.example(/\.fairdoor/pass/shop\?t=[^"]+)"`).FindStringSubmatch(page)
	require.NotNil(t, link, page)
	assert.Contains(t, page, `<img src="data:image/svg`)
	code := regexp.MustCompile(`[A-Z2-7]{4}-[A-Z2-7]{4}-[A-Z2-7]{4}`).FindString(page)
	require.NotEmpty(t, code)

	f.Full()
	holder := f.Visitor()
	require.Equal(t, http.StatusSeeOther, presses(holder, html.UnescapeString(link[1])).Status)
	require.False(t, holder.Get("/").In())
	f.Pass(time.Second)
	for _, by := range []string{"Friday press", code, strings.ToLower(code)} {
		var found struct{ Visitors []struct{ Status string } }
		f.API(http.MethodGet, "/api/v1/visitors?q="+url.QueryEscape(by), "", &found)
		require.Len(t, found.Visitors, 1, by)
		assert.Equal(t, "waiting", found.Visitors[0].Status)
	}
	assert.Contains(t, f.API(http.MethodGet, "/rooms/shop/passes", "", nil).Body, "1 of 10")

	asked, page = sendsForm(f, "/rooms/shop/passes/ask", url.Values{"do": {"revoke"}, "page": {"passes"}, "pass": {"Friday press"}})
	assert.Contains(t, asked, "It cannot be undone.")
	assert.Contains(t, page, "The pass is revoked")
	assert.Contains(t, page, `<span class="soft">revoked</span>`)
	history := f.API(http.MethodGet, "/rooms/shop/history", "", nil).Body
	assert.Contains(t, history, "Friday press (in, 1 × 10)")
	assert.Contains(t, history, "passes revoked</code> Friday press")
	assert.Contains(t, history, "Whoever has a revoked pass needs another: make one.", "why there is no button")
}

func TestALinkForEachIsMadeInTheDashboard(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t))
	order := url.Values{"do": {"make"}, "page": {"passes"}, "name": {"crew"}, "people": {"3"}, "links": {"each"}, "kind": {"ahead"}, "for": {"1h"}}
	asked, page := sendsForm(f, "/rooms/shop/passes/ask", order)
	assert.Contains(t, asked, "3, for one person each")
	assert.Contains(t, page, "3 passes are made.")
	assert.Equal(t, 3, strings.Count(page, "It begins with the site's address, which is asked for below."), "a link without it would lead to the dashboard")

	order.Set("people", "101")
	refused := f.API(http.MethodPost, "/rooms/shop/passes/ask", order.Encode(), nil, gatetest.With("Content-Type", "application/x-www-form-urlencoded"))
	assert.Contains(t, refused.Body, "at most 100 links")
	order.Set("people", "many")
	refused = f.API(http.MethodPost, "/rooms/shop/passes/ask", order.Encode(), nil, gatetest.With("Content-Type", "application/x-www-form-urlencoded"))
	assert.Contains(t, refused.Body, "The number of people is a whole number from 1")

	asked, _ = sendsForm(f, "/rooms/shop/passes/ask", url.Values{"do": {"revoke"}, "page": {"passes"}, "pass": {"crew"}})
	assert.Contains(t, asked, "3, for 3 people together", "all of the name are revoked")
}

func TestOnlyWhoMakesPassesSaysWhereLinksLead(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t))
	page := "/rooms/shop/passes/" + makePass(f, `{"name": "press", "kind": "in", "for": "1h"}`).ID
	assert.Contains(t, f.API(http.MethodGet, page+"?site=other.example", "", nil).Body, `href="https://other.example/.fairdoor/pass/shop?t=`)
	assert.NotContains(t, f.API(http.MethodGet, page, "", nil).Body, "other.example", "it was for that answer alone")
	assert.NotContains(t, f.API(http.MethodGet, "/rooms/shop/passes", "", nil).Body, "other.example")

	sendsForm(f, "/rooms/shop/passes/ask", url.Values{"do": {"make"}, "page": {"passes"}, "name": {"crew"}, "people": {"1"}, "kind": {"in"}, "for": {"1h"}, "site": {"shop.example"}})
	assert.Contains(t, f.API(http.MethodGet, page, "", nil).Body, `href="https://shop.example/.fairdoor/pass/shop?t=`)
}

func TestAViewerSeesPassesAndNothingThatLetsThemIn(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t), func(c *proxy.Config, _ *proxy.Options) {
		c.Operators = []admin.Operator{{Name: "ada", Token: "the token of ada"}, {Name: "eve", Views: true, Token: "the token of eve"}}
	})
	as := func(name string) func(*http.Request) {
		return gatetest.With("Authorization", "Bearer the token of "+name)
	}
	f.API(http.MethodPost, "/api/v1/rooms/shop/passes", `{"name": "press", "kind": "in", "for": "1h"}`, nil, as("ada"))
	const page, link = "/rooms/shop/passes/press?site=shop.example", "https://shop.example/.fairdoor/pass/shop?t="
	assert.Contains(t, f.API(http.MethodGet, page, "", nil, as("ada")).Body, link)
	looked := f.API(http.MethodGet, page, "", nil, as("eve"))
	assert.Equal(t, http.StatusOK, looked.Status)
	assert.NotContains(t, looked.Body, ".fairdoor/pass")
	assert.NotContains(t, looked.Body, "<img")
	assert.Contains(t, looked.Body, "Your token is for looking only")
	assert.NotContains(t, looked.Body, "Nobody can use it any more")
}

func TestACodeIsShownForAFewMinutesWhileItCanBeUsed(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t))
	code := regexp.MustCompile(`[A-Z2-7]{4}-[A-Z2-7]{4}-[A-Z2-7]{4}`)
	page := func(name string) string {
		return f.API(http.MethodGet, "/rooms/shop/passes/"+name+"?site=shop.example", "", nil).Body
	}
	makes := func(name string) {
		_, then := sendsForm(f, "/rooms/shop/passes/ask", url.Values{"do": {"make"}, "page": {"passes"}, "name": {name}, "people": {"1"}, "kind": {"in"}, "for": {"1h"}})
		require.Regexp(t, code, then)
	}
	makes("press")
	f.Clock.Add(4 * time.Minute)
	assert.Regexp(t, code, page("press"))
	f.Clock.Add(time.Minute)
	assert.NotRegexp(t, code, page("press"))
	assert.Contains(t, page("press"), "/.fairdoor/pass/shop?t=", "the link is there as before")

	makes("crew")
	sendsForm(f, "/rooms/shop/passes/ask", url.Values{"do": {"revoke"}, "page": {"passes"}, "pass": {"crew"}})
	assert.NotRegexp(t, code, page("crew"))
}

func TestAPageSaysThatPassesAreRevokedWhoseSessionsGoOn(t *testing.T) {
	store := &gatetest.Fallible{}
	f := gatetest.Start(t, gatetest.TakingPasses(t), store.Between)
	holder := f.Visitor()
	presses(holder, makePass(f, `{"name": "press", "kind": "in", "for": "1h"}`).Link)
	require.True(t, holder.Get("/").In())
	store.Failing.Store(true)
	_, then := sendsForm(f, "/rooms/shop/passes/ask", url.Values{"do": {"end"}, "page": {"passes"}, "pass": {"press"}})
	assert.Contains(t, then, "<!doctype html>")
	assert.Contains(t, then, "The passes are revoked, but sessions by them go on")
	assert.NotContains(t, then, "Nothing was changed")
	a := f.API(http.MethodDelete, "/api/v1/rooms/shop/passes/press?end_sessions=true", "", nil)
	assert.Equal(t, http.StatusServiceUnavailable, a.Status)
	assert.Contains(t, a.Body, "The passes are revoked, but sessions by them go on")
}

func TestThePageOfANameIsAboutAllItsPasses(t *testing.T) {
	f := gatetest.Start(t, gatetest.TakingPasses(t))
	const order = `{"name": "crew", "kind": "in", "uses": 2, "for": "1h"}`
	first := makePass(f, order)
	f.Clock.Add(time.Second)
	last := makePass(f, order)
	require.Equal(t, http.StatusSeeOther, presses(f.Visitor(), first.Link).Status)
	require.Equal(t, http.StatusOK, f.API(http.MethodDelete, "/api/v1/rooms/shop/passes/"+last.ID, "", nil).Status)
	page := f.API(http.MethodGet, "/rooms/shop/passes/crew", "", nil).Body
	assert.Contains(t, page, `crew <span class="soft">can be used until <time`)
	assert.Contains(t, page, "1 of 4, by 2 passes")
	_, form, _ := strings.Cut(page, `class="answer" method="post"`)
	assert.Contains(t, form, `name="pass" value="crew"`)
	assert.Contains(t, form, "Revoke…")
}

func TestARoomWithoutPassesSaysHowItGetsThem(t *testing.T) {
	f := gatetest.Start(t)
	browser := gatetest.With("Accept", "text/html")
	assert.NotContains(t, f.API(http.MethodGet, "/rooms/shop", "", nil, browser).Body, "/rooms/shop/passes")
	page := f.API(http.MethodGet, "/rooms/shop/passes", "", nil, browser)
	assert.Equal(t, http.StatusConflict, page.Status)
	assert.Contains(t, page.Header.Get("Content-Type"), "text/html")
	assert.Contains(t, page.Body, "There is nothing here")
	assert.Contains(t, page.Body, "The room takes no passes, by which people get in or ahead of others. Set passes: true for it in the configuration, and have the gate read it again")
	assert.Contains(t, f.API(http.MethodGet, "/api/v1/rooms/shop/passes", "", nil, browser).Header.Get("Content-Type"), "json", "programs are answered as ever")
}
