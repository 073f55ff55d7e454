package guests_test

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
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
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
	require.True(t, guest.Get("/").In())
	p.Site.Requests()
	stranger, known := p.Visitor(), p.member("ben@example.com")
	for _, v := range []*gatetest.Visitor{stranger, known} {
		assert.Equal(t, http.StatusOK, v.Get("/").Status)
		assert.Equal(t, "shop", v.Get("/", gatetest.AsJSON).Header.Get("Fairdoor-Room"))
		assert.Equal(t, http.StatusOK, v.Send(http.MethodHead, "/", nil).Status)
		for name, try := range map[string]gatetest.Answer{
			"a form":      v.PostForm("/buy", url.Values{"n": {"1"}}),
			"an app":      v.PostJSON("/buy", nil),
			"a picture":   v.Get("/a.png", gatetest.With("Sec-Fetch-Dest", "image")),
			"prefetching": v.Get("/", gatetest.With("Sec-Purpose", "prefetch")),
		} {
			assert.Equal(t, http.StatusForbidden, try.Status, name)
		}
		v.Get("/socket", gatetest.With("Connection", "Upgrade"), gatetest.With("Upgrade", "websocket"))
		assert.NotEqual(t, http.StatusOK, v.Get("/.fairdoor/events").Status)
	}
	assert.Equal(t, "none", p.entry(stranger.Get("/", gatetest.AsJSON)).Status)
	forged := p.Visitor()
	forged.Cookies["fairdoor_.beta"] = "x" + guest.Cookies["fairdoor_.beta"][1:]
	assert.Equal(t, http.StatusOK, forged.Get("/").Status)
	swapped := p.Visitor() // a ticket of the room is none for the list, and the other way round
	swapped.Cookies["fairdoor_.beta"], swapped.Cookies["fairdoor_shop"] = guest.Cookies["fairdoor_shop"], guest.Cookies["fairdoor_.beta"]
	assert.Equal(t, "none", p.entry(swapped.Get("/", gatetest.AsJSON)).Status)
	assert.Empty(t, p.Site.Requests())

	assert.True(t, guest.Get("/").In())
	page, err := p.record.Entries(t.Context(), waitlist.Search{Status: waitlist.Accepted})
	require.NoError(t, err)
	require.Len(t, page.Entries, 1)
	require.NoError(t, p.record.Remove(t.Context(), page.Entries[0].Number, "olga", p.Clock.Now()))
	assert.Eventually(t, func() bool { return !guest.Get("/").In() }, gatetest.Patience, 50*time.Millisecond, "somebody who was removed is out, session or not")
}

func TestAnOpenRoomGivesGuestsPriority(t *testing.T) {
	p := startParty(t, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Admission, r.Options, r.Settings.Method = config.Everybody, r.Options.With(guests.RoomOptions{Priority: 10}), queue.Line
	}))
	p.Full()
	first, guest := p.Visitor(), p.guest("ada@example.com")
	require.False(t, first.Get("/").In())
	require.False(t, guest.Get("/").In())
	p.Pass(time.Second)
	assert.EqualValues(t, 1, guest.Get("/", gatetest.AsJSON).Told("position"))
	assert.EqualValues(t, 2, first.Get("/", gatetest.AsJSON).Told("position"))
}

// roomy gives the room slots to spare.
var roomy = gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers, s.NewUsersPerMinute = 50, 100 })

func TestAnInviteIsOnePersonHoweverManyCookiesThereAreOfIt(t *testing.T) {
	p := startParty(t, roomy, list(func(c *guests.Config) { c.Settings.Capacity = 1 }))
	guest := p.guest("ada@example.com")
	for range 20 {
		guest.Twin().Get("/")
	}
	p.Pass(time.Second)
	assert.Equal(t, 1, p.Status("shop").InRoom)
}

func TestAnInviteIsOnePlaceAheadOfOthers(t *testing.T) {
	p := startParty(t, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Admission, r.Options, r.Settings.Method = config.Everybody, r.Options.With(guests.RoomOptions{Priority: 10}), queue.Line
	}))
	guest := p.guest("ada@example.com")
	p.Full()
	first := p.Visitor()
	require.False(t, first.Get("/").In())
	for range 15 {
		require.False(t, guest.Twin().Get("/").In())
	}
	p.Pass(time.Second)
	assert.Equal(t, 2, p.Status("shop").Queued)
	assert.EqualValues(t, 2, first.Get("/", gatetest.AsJSON).Told("position"))
}

func TestAUserAndTheCookiesOfTheirInviteAreOnePerson(t *testing.T) {
	p := startParty(t, roomy, gatetest.Naming, gatetest.TrustingLoopback, direct)
	ann, named := p.Visitor(), p.Visitor()
	require.Equal(t, http.StatusOK, p.join(ann, nil, gatetest.As("ann")).Status)
	require.Equal(t, 1, p.release(1))
	require.Equal(t, http.StatusOK, ann.PostJSON(listPath+"/invite", nil, gatetest.As("ann")).Status)
	assert.True(t, named.Get("/", gatetest.As("ann")).In(), "without the cookie")
	assert.True(t, ann.Twin().Get("/").In(), "without the name")
	assert.True(t, ann.Twin().Get("/", gatetest.As("ben")).In(), "with another name")
	p.Pass(time.Second)
	assert.Equal(t, 1, p.Status("shop").InRoom)
	assert.False(t, p.Visitor().Get("/", gatetest.As("ben")).In())
}

func TestTheCookieOfAnInviteCountsWhereItIsBoundTo(t *testing.T) {
	p := startParty(t, gatetest.Bound(bind.ByNetwork), direct)
	home, away := gatetest.At("192.0.2.7"), gatetest.At("198.51.100.1")
	guest := p.Visitor()
	require.Equal(t, http.StatusOK, p.join(guest, map[string]string{"email": "ada@example.com"}, home).Status)
	require.Equal(t, 1, p.release(1))
	require.Equal(t, http.StatusOK, guest.PostJSON(listPath+"/invite", nil, home).Status)
	thief := guest.Twin()
	assert.False(t, thief.Get("/", away).In())
	assert.Equal(t, http.StatusNotFound, thief.Get(listPath, gatetest.AsJSON, away).Status)
	assert.True(t, guest.Get("/", gatetest.At("192.0.2.99")).In(), "at another address of the network")
}

func TestWaitlistsComeAndGoWithTheConfiguration(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	p.member("ada@example.com")
	without := p.Config
	without.Rooms = slices.Clone(p.Config.Rooms)
	without.Rooms[0].Admission, without.Parts = config.Everybody, nil
	require.NoError(t, p.Configure(t.Context(), without))
	assert.Equal(t, http.StatusNotFound, p.Visitor().Get(listPath).Status)
	assert.True(t, p.Visitor().Get("/").In())

	again := p.Config
	all := lists(again)
	all[0].URL = "https://other.test"
	withLists(&again, all...)
	require.NoError(t, p.Configure(t.Context(), again))
	ben := p.member("ben@example.com")
	e := p.entry(ben.Get(listPath, gatetest.AsJSON))
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
		assert.Equal(t, http.StatusOK, ben.Get(listPath).Status, name)
	}
}

func TestAWaitlistIsOnTheHostsOfItsRoom(t *testing.T) {
	p := startParty(t, gatetest.TrustingLoopback, direct, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Routes, r.Subject.Header = []route.Route{{Host: "tickets.test", Path: "/sale"}}, "X-User"
	}))
	ann, v := gatetest.With("X-User", "ann"), p.Visitor()
	v.Host = "tickets.test"
	assert.Equal(t, http.StatusOK, p.join(v, nil, ann).Status)
	require.Equal(t, 1, p.release(1))
	assert.Equal(t, "http://tickets.test/sale", p.entry(v.PostJSON(listPath+"/invite", nil, ann)).EnterURL)
	v.Host = "www.test"
	assert.Equal(t, http.StatusNotFound, v.Get(listPath, gatetest.AsJSON, ann).Status, "who is ann there is somebody else")
}

func TestALinkWithoutAURLNamesTheHostThatWasAsked(t *testing.T) {
	p := startParty(t, direct, list(func(c *guests.Config) { c.URL = "" }))
	v := p.Visitor()
	e := p.entry(p.join(v, map[string]string{"email": "ada@example.com"}))
	assert.Equal(t, v.Base+listPath+"?ref="+e.ReferralCode, e.ReferralLink)
	v.Host = "tickets.test"
	assert.Contains(t, p.entry(v.Get(listPath, gatetest.AsJSON)).ReferralLink, "http://tickets.test/")
}
