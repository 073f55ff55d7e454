package proxy_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/bind"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// TestNobodyElseGetsThrough tries what strangers try at the door of a room for guests.
func TestNobodyElseGetsThrough(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	guest := p.guest("ada@example.com")
	require.True(t, guest.get("/").in())
	p.site.requests()
	stranger, known := p.visitor(), p.member("ben@example.com")
	for _, v := range []*visitor{stranger, known} {
		assert.Equal(t, http.StatusOK, v.get("/").status)
		assert.Equal(t, "shop", v.get("/", asJSON).header.Get("Fairdoor-Room"))
		assert.Equal(t, http.StatusOK, v.send(http.MethodHead, "/", nil).status)
		for name, try := range map[string]answer{
			"a form":      v.postForm("/buy", url.Values{"n": {"1"}}),
			"an app":      v.postJSON("/buy", nil),
			"a picture":   v.get("/a.png", with("Sec-Fetch-Dest", "image")),
			"prefetching": v.get("/", with("Sec-Purpose", "prefetch")),
		} {
			assert.Equal(t, http.StatusForbidden, try.status, name)
		}
		v.get("/socket", with("Connection", "Upgrade"), with("Upgrade", "websocket"))
		assert.NotEqual(t, http.StatusOK, v.get("/.fairdoor/events").status)
	}
	assert.Equal(t, "none", p.entry(stranger.get("/", asJSON)).Status)
	forged := p.visitor()
	forged.cookies["fairdoor_.beta"] = "x" + guest.cookies["fairdoor_.beta"][1:]
	assert.Equal(t, http.StatusOK, forged.get("/").status)
	swapped := p.visitor() // a ticket of the room is none for the list, and the other way round
	swapped.cookies["fairdoor_.beta"], swapped.cookies["fairdoor_shop"] = guest.cookies["fairdoor_shop"], guest.cookies["fairdoor_.beta"]
	assert.Equal(t, "none", p.entry(swapped.get("/", asJSON)).Status)
	assert.Empty(t, p.site.requests())

	assert.True(t, guest.get("/").in())
	page, err := p.record.Entries(t.Context(), waitlist.Search{Status: waitlist.Accepted})
	require.NoError(t, err)
	require.Len(t, page.Entries, 1)
	require.NoError(t, p.record.Remove(t.Context(), page.Entries[0].Number, "olga", p.clock.Now()))
	assert.Eventually(t, func() bool { return !guest.get("/").in() }, patience, 50*time.Millisecond, "somebody who was removed is out, session or not")
}

func TestAnOpenRoomGivesGuestsPriority(t *testing.T) {
	p := startParty(t, room(func(r *proxy.RoomConfig) {
		r.Admission, r.Options, r.Settings.Method = config.Everybody, r.Options.With(guests.RoomOptions{Priority: 10}), queue.Line
	}))
	p.full()
	first, guest := p.visitor(), p.guest("ada@example.com")
	require.False(t, first.get("/").in())
	require.False(t, guest.get("/").in())
	p.pass(time.Second)
	assert.EqualValues(t, 1, guest.get("/", asJSON).told("position"))
	assert.EqualValues(t, 2, first.get("/", asJSON).told("position"))
}

// roomy gives the room slots to spare.
var roomy = settings(func(s *queue.Settings) { s.TotalActiveUsers, s.NewUsersPerMinute = 50, 100 })

func TestAnInviteIsOnePersonHoweverManyCookiesThereAreOfIt(t *testing.T) {
	p := startParty(t, roomy, list(func(c *guests.Config) { c.Settings.Capacity = 1 }))
	guest := p.guest("ada@example.com")
	for range 20 {
		guest.twin().get("/")
	}
	p.pass(time.Second)
	assert.Equal(t, 1, p.status("shop").InRoom)
}

func TestAnInviteIsOnePlaceAheadOfOthers(t *testing.T) {
	p := startParty(t, room(func(r *proxy.RoomConfig) {
		r.Admission, r.Options, r.Settings.Method = config.Everybody, r.Options.With(guests.RoomOptions{Priority: 10}), queue.Line
	}))
	guest := p.guest("ada@example.com")
	p.full()
	first := p.visitor()
	require.False(t, first.get("/").in())
	for range 15 {
		require.False(t, guest.twin().get("/").in())
	}
	p.pass(time.Second)
	assert.Equal(t, 2, p.status("shop").Queued)
	assert.EqualValues(t, 2, first.get("/", asJSON).told("position"))
}

func TestAUserAndTheCookiesOfTheirInviteAreOnePerson(t *testing.T) {
	p := startParty(t, roomy, naming, trustingLoopback, direct)
	ann, named := p.visitor(), p.visitor()
	require.Equal(t, http.StatusOK, p.join(ann, nil, as("ann")).status)
	require.Equal(t, 1, p.release(1))
	require.Equal(t, http.StatusOK, ann.postJSON(listPath+"/invite", nil, as("ann")).status)
	assert.True(t, named.get("/", as("ann")).in(), "without the cookie")
	assert.True(t, ann.twin().get("/").in(), "without the name")
	assert.True(t, ann.twin().get("/", as("ben")).in(), "with another name")
	p.pass(time.Second)
	assert.Equal(t, 1, p.status("shop").InRoom)
	assert.False(t, p.visitor().get("/", as("ben")).in())
}

func TestTheCookieOfAnInviteCountsWhereItIsBoundTo(t *testing.T) {
	p := startParty(t, bound(bind.ByNetwork), direct)
	home, away := at("192.0.2.7"), at("198.51.100.1")
	guest := p.visitor()
	require.Equal(t, http.StatusOK, p.join(guest, map[string]string{"email": "ada@example.com"}, home).status)
	require.Equal(t, 1, p.release(1))
	require.Equal(t, http.StatusOK, guest.postJSON(listPath+"/invite", nil, home).status)
	thief := guest.twin()
	assert.False(t, thief.get("/", away).in())
	assert.Equal(t, http.StatusNotFound, thief.get(listPath, asJSON, away).status)
	assert.True(t, guest.get("/", at("192.0.2.99")).in(), "at another address of the network")
}

func TestWaitlistsComeAndGoWithTheConfiguration(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	p.member("ada@example.com")
	without := p.config
	without.Rooms = slices.Clone(p.config.Rooms)
	without.Rooms[0].Admission, without.Parts = config.Everybody, nil
	require.NoError(t, p.Configure(t.Context(), without))
	assert.Equal(t, http.StatusNotFound, p.visitor().get(listPath).status)
	assert.True(t, p.visitor().get("/").in())

	again := p.config
	all := lists(again)
	all[0].URL = "https://other.test"
	withLists(&again, all...)
	require.NoError(t, p.Configure(t.Context(), again))
	ben := p.member("ben@example.com")
	e := p.entry(ben.get(listPath, asJSON))
	assert.Equal(t, 2, e.Rank)
	assert.Contains(t, e.ReferralLink, "https://other.test/")

	for name, spoil := range map[string]func(*proxy.Config){
		"an invited room without a list": func(c *proxy.Config) { withLists(c) },
		"a list of no room":              func(c *proxy.Config) { list(func(l *guests.Config) { l.Room = "shed" })(c, nil) },
		"two lists of a room": func(c *proxy.Config) {
			all := lists(*c)
			second := all[0]
			second.Name = "gamma"
			withLists(c, append(all, second)...)
		},
		"a bad setting": func(c *proxy.Config) { list(func(l *guests.Config) { l.Settings.ReferralMax = 1 << 20 })(c, nil) },
	} {
		bad := again
		spoil(&bad)
		assert.Error(t, p.Configure(t.Context(), bad), name)
		assert.Equal(t, http.StatusOK, ben.get(listPath).status, name)
	}
}

func TestAWaitlistIsOnTheHostsOfItsRoom(t *testing.T) {
	p := startParty(t, trustingLoopback, direct, room(func(r *proxy.RoomConfig) {
		r.Routes, r.Subject.Header = []route.Route{{Host: "tickets.test", Path: "/sale"}}, "X-User"
	}))
	ann, v := with("X-User", "ann"), p.visitor()
	v.host = "tickets.test"
	assert.Equal(t, http.StatusOK, p.join(v, nil, ann).status)
	require.Equal(t, 1, p.release(1))
	assert.Equal(t, "http://tickets.test/sale", p.entry(v.postJSON(listPath+"/invite", nil, ann)).EnterURL)
	v.host = "www.test"
	assert.Equal(t, http.StatusNotFound, v.get(listPath, asJSON, ann).status, "who is ann there is somebody else")
}

func TestALinkWithoutAURLNamesTheHostThatWasAsked(t *testing.T) {
	p := startParty(t, direct, list(func(c *guests.Config) { c.URL = "" }))
	v := p.visitor()
	e := p.entry(p.join(v, map[string]string{"email": "ada@example.com"}))
	assert.Equal(t, v.base+listPath+"?ref="+e.ReferralCode, e.ReferralLink)
	v.host = "tickets.test"
	assert.Contains(t, p.entry(v.get(listPath, asJSON)).ReferralLink, "http://tickets.test/")
}
