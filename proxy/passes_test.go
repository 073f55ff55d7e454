package proxy_test

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/bind"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/passes"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// pass is a pass as the admin API has it.
type pass struct {
	ID, Code, Link string
	Uses, Used     int
}

// takingPasses has the first room take passes.
func takingPasses(t *testing.T) func(*proxy.Config, *proxy.Options) {
	name := filepath.Join(t.TempDir(), "passes.db")
	return func(c *proxy.Config, o *proxy.Options) {
		c.Rooms[0].Options = c.Rooms[0].Options.With(passes.RoomOptions{On: true})
		o.Record = func(ctx context.Context) (*waitlist.Store, error) { return waitlist.Open(ctx, name) }
	}
}

// passesOnly lets in nobody else.
var passesOnly = room(func(r *proxy.RoomConfig) { r.Admission = config.WithPass })

// pass makes a pass by the admin API.
func (f *fixture) makePass(order string) pass {
	f.t.Helper()
	var made struct{ Passes []pass }
	a := f.api(http.MethodPost, "/api/v1/rooms/shop/passes", order, &made)
	require.Equal(f.t, http.StatusOK, a.status)
	require.Len(f.t, made.Passes, 1)
	return made.Passes[0]
}

// presses looks at the page of a link, and presses its button.
func (v *visitor) presses(link string) answer {
	v.f.t.Helper()
	page := v.get(link)
	if page.status != http.StatusOK {
		return page
	}
	return v.sendsForm(page)
}

// sendsForm sends the form of a page, with more fields.
func (v *visitor) sendsForm(page answer, more ...string) answer {
	v.f.t.Helper()
	action, fields := formOf(v.f.t, page.body)
	for i := 0; i < len(more); i += 2 {
		fields.Set(more[i], more[i+1])
	}
	return v.postForm(action, fields)
}

// formOf is where the form of a page goes, and its fields.
func formOf(t testing.TB, page string) (action string, fields url.Values) {
	t.Helper()
	_, form, found := strings.Cut(page, `<form method="post" action="`)
	require.True(t, found, page)
	action, form, _ = strings.Cut(form, `"`)
	form, _, _ = strings.Cut(form, "</form>")
	fields = url.Values{}
	for _, input := range strings.Split(form, "<input")[1:] {
		_, name, _ := strings.Cut(input, `name="`)
		name, _, _ = strings.Cut(name, `"`)
		_, value, _ := strings.Cut(input, `value="`)
		value, _, _ = strings.Cut(value, `"`)
		fields.Set(name, value)
	}
	return action, fields
}

func TestTheHolderOfAPassTakesTheNextSlot(t *testing.T) {
	f := start(t, takingPasses(t))
	in := f.full()[0]
	others := []*visitor{f.waits(), f.waits()}
	link := f.makePass(`{"name": "press", "kind": "in", "for": "24h"}`).Link
	holder := f.visitor()
	a := holder.presses(link)
	require.Equal(t, http.StatusSeeOther, a.status)
	assert.Equal(t, "/", a.header.Get("Location"))
	assert.Equal(t, "strict-origin", a.header.Get("Referrer-Policy"))
	require.False(t, holder.get("/").in(), "the limits hold for passes, too")
	assert.EqualValues(t, 1, holder.get("/", asJSON).told("position"))

	in.get("/", with("Cookie", "")) // nobody
	f.api(http.MethodPatch, "/api/v1/rooms/shop", `{"total_active_users": 2}`, nil)
	f.pass(interval / 2)
	for _, v := range others {
		require.False(t, v.get("/").in())
	}
	f.pass(interval)
	assert.True(t, holder.get("/").in())
	assert.Equal(t, 2, f.status("shop").InRoom)
	for _, r := range f.site.requests() {
		assert.NotContains(t, r.Header.Get("Cookie"), "fairdoor")
	}
}

// Programs that look at links in mails and chats, and browsers that fetch them before anybody asks, use up nothing.
func TestLookingAtAPassUsesUpNothing(t *testing.T) {
	f := start(t, takingPasses(t))
	pass := f.makePass(`{"name": "press", "kind": "in", "for": "24h"}`)
	for range 3 {
		a := f.visitor().get(pass.Link)
		require.Equal(t, http.StatusOK, a.status)
		assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
		assert.Equal(t, "strict-origin", a.header.Get("Referrer-Policy"))
		assert.Empty(t, a.setCookies())
	}
	assert.Equal(t, http.StatusOK, f.visitor().send(http.MethodHead, pass.Link, nil).status)
	foreign := f.visitor().send(http.MethodPost, pass.Link, nil, with("Sec-Fetch-Site", "cross-site"))
	assert.Equal(t, http.StatusBadRequest, foreign.status, "a page of another site cannot press the button")

	first := f.visitor()
	page := first.get(pass.Link)
	require.Equal(t, http.StatusSeeOther, first.twin().sendsForm(page).status)
	require.Equal(t, http.StatusSeeOther, first.sendsForm(page).status, "pressed twice, it is one use")
	require.Equal(t, http.StatusSeeOther, first.postForm(pass.Link, nil).status, "they have used it already")
	for _, a := range []answer{f.visitor().presses(pass.Link), f.visitor().postForm(pass.Link, nil), f.visitor().get(pass.Link, asJSON)} {
		assert.Equal(t, http.StatusGone, a.status)
	}
}

func TestAHolderIsOneVisitorOnAllDevices(t *testing.T) {
	f := start(t, takingPasses(t), room(func(r *proxy.RoomConfig) { r.Settings.TotalActiveUsers = 5 }))
	holder := f.visitor()
	holder.presses(f.makePass(`{"name": "press", "kind": "in", "for": "24h"}`).Link)
	for range 3 {
		copied := f.visitor()
		copied.cookies["fairdoor_.pass.shop"] = holder.cookies["fairdoor_.pass.shop"]
		require.True(t, copied.get("/").in())
	}
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").InRoom)
}

func TestARoomForHoldersOfPassesLetsInNobodyElse(t *testing.T) {
	f := start(t, takingPasses(t), passesOnly)
	stranger := f.visitor()
	door := stranger.get("/")
	require.Equal(t, http.StatusOK, door.status)
	assert.Contains(t, door.body, "Only people with a link or a code can come in right now.")
	assert.Empty(t, stranger.cookies, "they have no place")
	assert.Equal(t, http.StatusForbidden, stranger.postForm("/buy", nil).status)
	assert.Equal(t, http.StatusForbidden, stranger.get("/a.png", with("Sec-Fetch-Dest", "image")).status)
	assert.Contains(t, stranger.get("/", asJSON).body, `"status":"none"`)

	wrong := stranger.sendsForm(door, "code", "AAAA-BBBB-CCCC")
	assert.Equal(t, http.StatusGone, wrong.status)
	assert.Contains(t, wrong.body, "This code does not work.")
	code := f.makePass(`{"name": "members", "kind": "join", "for": "24h"}`).Code
	require.Equal(t, http.StatusSeeOther, stranger.sendsForm(wrong, "code", strings.ToLower(strings.ReplaceAll(code, "-", " "))).status)
	assert.True(t, stranger.get("/").in())
	forged := f.visitor()
	forged.cookies["fairdoor_.pass.shop"] = stranger.cookies["fairdoor_shop"]
	assert.False(t, forged.get("/").in(), "a ticket is no pass")
	f.site.requests()
	f.visitor().get("/")
	assert.Empty(t, f.site.requests())
}

// A cache would serve it to people without a pass, also while nobody has to wait.
func TestNoSharedCacheKeepsWhatHoldersGetOfARoomForThemAlone(t *testing.T) {
	f := start(t, takingPasses(t), passesOnly, room(func(r *proxy.RoomConfig) { r.Settings.TotalActiveUsers = 5 }))
	f.site.will(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=60")
		_, _ = w.Write([]byte("in"))
	})
	holder := f.visitor()
	holder.presses(f.makePass(`{"name": "members", "kind": "join", "for": "24h"}`).Link)
	require.True(t, holder.get("/").in())
	a := holder.get("/")
	require.Empty(t, a.setCookies())
	assert.Equal(t, "private, max-age=60", a.header.Get("Cache-Control"))
}

func TestCodesAreTriedAFewTimesAMinute(t *testing.T) {
	f := start(t, takingPasses(t), trustingLoopback)
	from := func(address, code string) answer {
		return f.visitor().send(http.MethodPost, "/.fairdoor/pass", strings.NewReader(url.Values{"code": {code}}.Encode()),
			with("Content-Type", "application/x-www-form-urlencoded"), with("X-Forwarded-For", address))
	}
	var last answer
	for range 11 {
		last = from("192.0.2.7", "AAAA-BBBB-CCCC")
	}
	assert.Equal(t, http.StatusTooManyRequests, last.status)
	code := f.makePass(`{"name": "press", "kind": "in", "for": "24h"}`).Code
	assert.Equal(t, http.StatusTooManyRequests, from("192.0.2.99", code).status, "of the same network")
	assert.Equal(t, http.StatusSeeOther, from("198.51.100.7", code).status)
}

// Two gates share the record and the store.
func TestARevokedPassEndsAtEveryGate(t *testing.T) {
	shared := takingPasses(t)
	f := start(t, shared, passesOnly, inRealTime, room(func(r *proxy.RoomConfig) { r.Settings.TotalActiveUsers = 5 }))
	other := start(t, shared, passesOnly, inRealTime, func(c *proxy.Config, _ *proxy.Options) {
		c.Keys, c.Rooms[0].Settings.TotalActiveUsers = f.config.Keys, 5
	})
	made := f.makePass(`{"name": "press", "kind": "join", "uses": 2, "for": "24h"}`)
	here, there := f.visitor(), other.visitor()
	require.Equal(t, http.StatusSeeOther, here.presses(made.Link).status)
	require.Equal(t, http.StatusSeeOther, there.presses(made.Link).status, "a link is good at every gate")
	require.Equal(t, http.StatusGone, other.visitor().presses(made.Link).status, "both uses are counted together")
	require.True(t, here.get("/").in())
	require.True(t, there.get("/").in())

	var done struct{ Revoked, Sessions int }
	a := f.api(http.MethodDelete, "/api/v1/rooms/shop/passes/press?end_sessions=true", "", &done)
	require.Equal(t, http.StatusOK, a.status)
	assert.Equal(t, 1, done.Revoked)
	assert.Equal(t, 1, done.Sessions, "the store of the other gate is another one")
	assert.False(t, here.get("/").in(), "their session has ended")
	assert.Eventually(t, func() bool {
		v := other.visitor()
		v.cookies["fairdoor_.pass.shop"] = there.cookies["fairdoor_.pass.shop"]
		return !v.get("/").in()
	}, patience, 50*time.Millisecond, "the other gate learns of it")
	assert.Equal(t, http.StatusNotFound, f.api(http.MethodDelete, "/api/v1/rooms/shop/passes/press", "", nil).status)
	var list struct{ Passes []pass }
	f.api(http.MethodGet, "/api/v1/rooms/shop/passes", "", &list)
	require.Len(t, list.Passes, 1)
	assert.Equal(t, []int{2, 2}, []int{list.Passes[0].Uses, list.Passes[0].Used})
	assert.Empty(t, list.Passes[0].Code)
	assert.Empty(t, list.Passes[0].Link, "it is as good as the code")
}

func TestTheSessionsOfARevokedPassCanBeEndedLater(t *testing.T) {
	f := start(t, takingPasses(t), passesOnly)
	const path = "/api/v1/rooms/shop/passes/press"
	assert.Equal(t, http.StatusNotFound, f.api(http.MethodDelete, path+"?end_sessions=true", "", nil).status)
	holder := f.visitor()
	holder.presses(f.makePass(`{"name": "press", "kind": "in", "for": "24h"}`).Link)
	require.True(t, holder.get("/").in())
	require.Equal(t, http.StatusOK, f.api(http.MethodDelete, path, "", nil).status)
	var done struct{ Revoked, Sessions int }
	a := f.api(http.MethodDelete, path+"?end_sessions=true", "", &done)
	require.Equal(t, http.StatusOK, a.status)
	assert.Zero(t, done.Revoked)
	assert.Equal(t, 1, done.Sessions)
	assert.False(t, holder.get("/").in())
}

func TestAnOrderOfPassesThatMakesNoSenseIsRefused(t *testing.T) {
	f := start(t, takingPasses(t))
	for _, order := range []string{
		`{}`, `{"name": "a", "kind": "all", "for": "1h"}`, `{"name": "a", "kind": "in"}`, `{"name": "a", "kind": "in", "for": "-1h"}`,
		`{"name": "a\n", "kind": "in", "for": "1h"}`, `{"name": "a", "kind": "in", "for": "1h", "uses": 0}`, `{"name": "a", "kind": "in", "for": "1h", "count": 10001}`,
	} {
		assert.Equal(t, http.StatusUnprocessableEntity, f.api(http.MethodPost, "/api/v1/rooms/shop/passes", order, nil).status, order)
	}
	without := start(t)
	assert.Equal(t, http.StatusConflict, without.api(http.MethodGet, "/api/v1/rooms/shop/passes", "", nil).status)
	assert.Equal(t, http.StatusNotFound, without.visitor().get("/.fairdoor/pass").status)
}

// A gate that is started again, and one whose store has lost everything, know the passes and their uses.
func TestPassesOutlastTheStore(t *testing.T) {
	shared := takingPasses(t)
	f := start(t, shared)
	made, lost := f.makePass(`{"name": "press", "kind": "in", "for": "24h"}`), f.makePass(`{"name": "lost", "kind": "in", "for": "24h"}`)
	holder := f.visitor()
	require.Equal(t, http.StatusSeeOther, holder.presses(made.Link).status)
	f.api(http.MethodDelete, "/api/v1/rooms/shop/passes/lost", "", nil)
	f.Close()
	f.public.Close()

	again := start(t, shared, func(c *proxy.Config, _ *proxy.Options) { c.Keys = f.config.Keys })
	again.full()
	again.waits()
	holder.base, holder.client = again.public.URL, again.visitor().client
	require.False(t, holder.get("/").in())
	assert.EqualValues(t, 1, holder.get("/", asJSON).told("position"))
	assert.Equal(t, http.StatusGone, again.visitor().presses(made.Link).status)
	assert.Equal(t, http.StatusGone, again.visitor().presses(lost.Link).status)
}

func TestAPassThatIsUsedUpWorksForItsHolder(t *testing.T) {
	f := start(t, takingPasses(t))
	made := f.makePass(`{"name": "press", "kind": "in", "for": "24h"}`)
	holder := f.visitor()
	for range 2 {
		require.Equal(t, http.StatusSeeOther, holder.presses(made.Link).status)
		require.Equal(t, http.StatusSeeOther, holder.sendsForm(holder.get("/.fairdoor/pass"), "code", made.Code).status)
		assert.Equal(t, http.StatusOK, holder.get(made.Link, asJSON).status)
	}
	stranger := f.visitor()
	assert.Equal(t, http.StatusGone, stranger.presses(made.Link).status)
	assert.Equal(t, http.StatusGone, stranger.sendsForm(stranger.get("/.fairdoor/pass"), "code", made.Code).status)
}

func TestWhoIsInStaysInWhenTheirPassExpires(t *testing.T) {
	f := start(t, takingPasses(t), passesOnly, settings(func(s *queue.Settings) { s.SessionDuration = 5 * time.Minute }))
	holder := f.visitor()
	holder.presses(f.makePass(`{"name": "press", "kind": "join", "for": "10m"}`).Link)
	for range 15 {
		require.True(t, holder.get("/").in())
		f.pass(time.Minute)
	}
	require.True(t, holder.get("/").in())
	f.pass(10 * time.Minute)
	assert.False(t, holder.get("/").in(), "once their session is over, they have no pass")
	assert.Contains(t, holder.get("/").body, "Only people with a link or a code can come in right now.")
}

func TestARevokedPassWithItsSessionsThrowsOutWhoIsIn(t *testing.T) {
	f := start(t, takingPasses(t), passesOnly, inRealTime, naming, trustingLoopback, settings(func(s *queue.Settings) { s.TotalActiveUsers = 2 }))
	link := f.makePass(`{"name": "press", "kind": "join", "uses": 2, "for": "1h"}`).Link
	named, unnamed := f.visitor(), f.visitor()
	named.presses(link)
	unnamed.presses(link)
	require.True(t, named.get("/", as("alice")).in())
	require.True(t, unnamed.get("/").in())
	f.api(http.MethodDelete, "/api/v1/rooms/shop/passes/press?end_sessions=true", "", nil)
	assert.False(t, unnamed.get("/").in())
	assert.False(t, named.get("/", as("alice")).in())
}

func TestAUserWithAPassHasOneSlot(t *testing.T) {
	f := start(t, takingPasses(t), naming, trustingLoopback, settings(func(s *queue.Settings) { s.TotalActiveUsers = 5 }))
	phone, laptop := f.visitor(), f.visitor()
	phone.presses(f.makePass(`{"name": "press", "kind": "in", "for": "24h"}`).Link)
	require.True(t, phone.get("/", as("alice")).in())
	require.True(t, laptop.get("/", as("alice")).in())
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").InRoom)
}

func TestTheUseOfAPassIsOneUsers(t *testing.T) {
	f := start(t, takingPasses(t), passesOnly, naming, trustingLoopback, settings(func(s *queue.Settings) { s.TotalActiveUsers = 5 }))
	phone := f.visitor()
	phone.presses(f.makePass(`{"name": "press", "kind": "join", "for": "24h"}`).Link)
	copied := phone.twin()
	require.True(t, phone.get("/", as("alice")).in())
	assert.True(t, copied.twin().get("/", as("alice")).in())
	assert.False(t, copied.get("/", as("bob")).in())
}

func TestAPassCountsWhereItIsBoundTo(t *testing.T) {
	f := start(t, takingPasses(t), passesOnly, bound(bind.ByNetwork))
	made := f.makePass(`{"name": "press", "kind": "in", "for": "24h"}`)
	holder := f.visitor()
	a := holder.send(http.MethodPost, made.Link, nil, at("192.0.2.7"))
	require.Equal(t, http.StatusSeeOther, a.status)
	thief := holder.twin()
	assert.False(t, thief.get("/", at("198.51.100.1")).in())
	assert.Equal(t, http.StatusGone, thief.get(made.Link, at("198.51.100.1")).status)
	assert.True(t, holder.get("/", at("192.0.2.99")).in(), "at another address of the network")
}
