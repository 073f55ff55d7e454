package guests_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

const listPath = "/.fairdoor/waitlist/beta"

// party is a gate whose room shop has a waitlist, and another node's view of the record.
type party struct {
	*gatetest.Fixture
	record *waitlist.List
}

// startParty starts a gate whose room lets in guests only, unless a change says otherwise.
func startParty(t *testing.T, changes ...func(*proxy.Config, *proxy.Options)) *party {
	t.Helper()
	name := filepath.Join(t.TempDir(), "waitlists.db")
	begin := func(c *proxy.Config, o *proxy.Options) {
		s := waitlist.DefaultSettings()
		s.Capacity = 2
		c.Rooms[0].Admission = config.Invited
		withLists(c, guests.Config{Name: "beta", Room: "shop", Settings: s, URL: "https://shop.test"})
		o.Record = func(ctx context.Context) (*waitlist.Store, error) { return waitlist.Open(ctx, name) }
	}
	p := &party{Fixture: gatetest.Start(t, append([]func(*proxy.Config, *proxy.Options){begin}, changes...)...)}
	store, err := waitlist.Open(t.Context(), name)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	settings := lists(p.Config)[0].Settings
	settings.Mailed = lists(p.Config)[0].SMTP != nil
	p.record, err = store.List(t.Context(), "beta", settings)
	require.NoError(t, err)
	return p
}

// lists are copies of the waitlists of a configuration.
func lists(c proxy.Config) []guests.Config {
	all, _ := c.Parts[guests.Name].([]guests.Config)
	return slices.Clone(all)
}

// withLists gives a configuration its waitlists.
func withLists(c *proxy.Config, all ...guests.Config) { c.Parts = c.Parts.With(guests.Name, all) }

// list changes the waitlist before the start.
func list(change func(*guests.Config)) func(*proxy.Config, *proxy.Options) {
	return func(c *proxy.Config, _ *proxy.Options) {
		all := lists(*c)
		change(&all[0])
		withLists(c, all...)
	}
}

// direct has addresses count at once.
var direct = list(func(c *guests.Config) { c.Settings.ConfirmEmail = false })

// entry is what JSON tells of an entry.
type entry struct {
	Status        string `json:"status"`
	Rank          int    `json:"rank"`
	Total         int    `json:"total"`
	ReferralCode  string `json:"referralCode"`
	ReferralLink  string `json:"referralLink"`
	ReferralsMade int    `json:"referralsMade"`
	EnterURL      string `json:"enterUrl"`
}

func (p *party) entry(a gatetest.Answer) entry {
	p.T.Helper()
	var told struct{ Waitlist entry }
	require.NoError(p.T, json.Unmarshal([]byte(a.Body), &told), a.Body)
	return told.Waitlist
}

// join signs somebody up, as an app does.
func (p *party) join(v *gatetest.Visitor, sent map[string]string, changes ...func(*http.Request)) gatetest.Answer {
	p.T.Helper()
	return v.PostJSON(listPath, sent, changes...)
}

// token returns the token of the latest mail of a kind to an address.
func (p *party) token(to string, kind waitlist.MailKind) string {
	p.T.Helper()
	mails, err := p.record.Outbox(p.T.Context(), 0, 1000)
	require.NoError(p.T, err)
	for _, m := range slices.Backward(mails) {
		if m.To == to && m.Kind == kind {
			return m.Token
		}
	}
	require.Fail(p.T, "no mail", "%s to %s", kind, to)
	return ""
}

// member signs somebody up with an address and confirms it.
func (p *party) member(address string) *gatetest.Visitor {
	p.T.Helper()
	v := p.Visitor()
	require.Equal(p.T, http.StatusAccepted, p.join(v, map[string]string{"email": address}).Status)
	require.Equal(p.T, http.StatusOK, v.PostJSON(listPath+"/confirm", map[string]string{"token": p.token(address, waitlist.MailConfirm)}).Status)
	return v
}

func (p *party) release(n int) int {
	p.T.Helper()
	released, err := p.record.Release(p.T.Context(), n, "olga", p.Clock.Now())
	require.NoError(p.T, err)
	return released
}

// guest is somebody who has accepted.
func (p *party) guest(address string) *gatetest.Visitor {
	p.T.Helper()
	v := p.member(address)
	require.Equal(p.T, 1, p.release(1))
	require.Equal(p.T, http.StatusOK, v.PostJSON(listPath+"/invite", map[string]string{"token": p.token(address, waitlist.MailInvite)}).Status)
	return v
}

func TestFromSignUpToTheOrigin(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	ada := p.Visitor()
	assert.False(t, ada.Get("/").In())
	a := p.join(ada, map[string]string{"email": "ada@example.com"})
	assert.Equal(t, http.StatusAccepted, a.Status)
	assert.JSONEq(t, `{"waitlist": {"status": "unconfirmed"}}`, a.Body)
	assert.NotContains(t, ada.Cookies, "fairdoor_.beta", "nobody has shown to be the owner")
	assert.Equal(t, http.StatusNotFound, ada.Get(listPath, gatetest.AsJSON).Status)

	confirm := listPath + "/confirm?token=" + p.token("ada@example.com", waitlist.MailConfirm)
	for range 2 { // mail scanners look, too
		assert.Equal(t, http.StatusOK, ada.Get(confirm).Status)
	}
	assert.Equal(t, http.StatusNotFound, ada.Get(listPath, gatetest.AsJSON).Status, "looking confirms nothing")
	assert.Equal(t, http.StatusSeeOther, ada.PostForm(confirm, nil).Status)
	for _, again := range []gatetest.Answer{ada.Get(confirm), ada.PostForm(confirm, nil), p.Visitor().Get(confirm, gatetest.AsJSON)} {
		assert.Equal(t, http.StatusGone, again.Status)
	}
	e := p.entry(ada.Get(listPath, gatetest.AsJSON))
	assert.Equal(t, entry{Status: "waiting", Rank: 1, Total: 1, ReferralCode: e.ReferralCode,
		ReferralLink: "https://shop.test" + listPath + "?ref=" + e.ReferralCode}, e)
	assert.NotEmpty(t, e.ReferralCode)
	assert.Equal(t, "waiting", p.entry(ada.Get("/", gatetest.AsJSON)).Status, "the door shows the place")

	require.Equal(t, 1, p.release(3))
	assert.Equal(t, "invited", p.entry(ada.Get(listPath, gatetest.AsJSON)).Status)
	assert.False(t, ada.Get("/").In(), "an invite is not accepted by coming")
	invite := listPath + "/invite?token=" + p.token("ada@example.com", waitlist.MailInvite)
	assert.Equal(t, http.StatusOK, p.Visitor().Get(invite).Status)
	phone := p.Visitor()
	a = phone.PostForm(invite, nil)
	assert.Equal(t, http.StatusSeeOther, a.Status)
	assert.Equal(t, "/", a.Header.Get("Location"))
	assert.Equal(t, http.StatusGone, ada.PostForm(invite, nil).Status)
	assert.Empty(t, p.Site.Requests(), "nobody has come so far")

	assert.True(t, phone.Get("/").In())
	assert.True(t, ada.Get("/").In(), "they are one person on all of their devices")
	ben := p.guest("ben@example.com")
	assert.False(t, ben.Get("/").In(), "the room has one slot, and its guests wait for it like everybody")
	assert.Equal(t, true, ben.Get("/", gatetest.AsJSON).Told("inWaitingRoom"))
	got := p.entry(ada.Get(listPath, gatetest.AsJSON))
	assert.Equal(t, []string{"accepted", ada.Base + "/"}, []string{got.Status, got.EnterURL})
	for _, r := range p.Site.Requests() {
		assert.NotContains(t, r.Header.Get("Cookie"), "fairdoor")
	}
}

func TestOfManyWhoAcceptOneInviteOneIsLetIn(t *testing.T) {
	p := startParty(t)
	p.member("ada@example.com")
	require.Equal(t, 1, p.release(1))
	sent := map[string]string{"token": p.token("ada@example.com", waitlist.MailInvite)}
	var in, gone atomic.Int64
	var all sync.WaitGroup
	for range 200 {
		v := p.Visitor()
		all.Go(func() {
			switch v.PostJSON(listPath+"/invite", sent).Status {
			case http.StatusOK:
				in.Add(1)
			case http.StatusGone:
				gone.Add(1)
			}
		})
	}
	all.Wait()
	assert.Equal(t, []int64{1, 199}, []int64{in.Load(), gone.Load()})
}

func TestTheLinkOfAMailBringsPeopleBackFromAnyDevice(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	ada := p.member("ada@example.com")
	phone := p.Visitor()
	link := listPath + "?secret=" + p.token("ada@example.com", waitlist.MailPlace)
	a := phone.Get(link)
	assert.Equal(t, []any{http.StatusSeeOther, listPath}, []any{a.Status, a.Header.Get("Location")})
	assert.Equal(t, "strict-origin", phone.Get(listPath).Header.Get("Referrer-Policy"))
	assert.Equal(t, 1, p.entry(phone.Get(listPath, gatetest.AsJSON)).Rank)
	assert.Equal(t, "waiting", p.entry(p.Visitor().Get(link, gatetest.AsJSON)).Status)
	assert.Equal(t, http.StatusGone, p.Visitor().Get(listPath+"?secret=x").Status)

	assert.Equal(t, http.StatusNoContent, ada.Send(http.MethodDelete, listPath, nil).Status)
	assert.Equal(t, http.StatusNotFound, ada.Get(listPath, gatetest.AsJSON).Status)
	assert.Equal(t, http.StatusNotFound, phone.Get(listPath, gatetest.AsJSON).Status)
	assert.Equal(t, http.StatusGone, phone.Get(link).Status)
	page, err := p.record.Entries(t.Context(), waitlist.Search{})
	require.NoError(t, err)
	assert.Zero(t, page.Total)

	ben := p.member("ben@example.com")
	assert.Equal(t, http.StatusOK, ben.PostForm(listPath, url.Values{"leave": {"yes"}}).Status)
	assert.Equal(t, http.StatusNotFound, ben.Get(listPath, gatetest.AsJSON).Status)
}

// sealed is the value of a cookie.
var sealed = regexp.MustCompile(`=[\w=-]+;`)

// TestAnswersDoNotTellWhoIsOnTheList compares all that is seen of an answer, and how long it takes.
func TestAnswersDoNotTellWhoIsOnTheList(t *testing.T) {
	p := startParty(t, list(func(c *guests.Config) { c.SignUpsPerNetwork = 0 }))
	p.member("known@example.com")
	p.join(p.Visitor(), map[string]string{"email": "asked@example.com"})
	seen := func(address string, page bool) (gatetest.Answer, time.Duration) {
		began := time.Now()
		if page {
			a := p.Visitor().PostForm(listPath, url.Values{"email": {address}})
			return a, time.Since(began)
		}
		a := p.join(p.Visitor(), map[string]string{"email": address})
		return a, time.Since(began)
	}
	for _, page := range []bool{false, true} {
		fresh, took := seen("fresh@example.com", page)
		fresh.Header.Del("Date")
		for _, address := range []string{"known@example.com", "asked@example.com", "fresh@example.com", "KNOWN@example.com"} {
			again, tookAgain := seen(address, page)
			again.Header.Del("Date")
			fresh.Body = strings.ReplaceAll(fresh.Body, "fresh@example.com", "x@example.com")
			again.Body = strings.ReplaceAll(again.Body, address, "x@example.com")
			for _, h := range []http.Header{fresh.Header, again.Header} {
				if page {
					h.Del("Content-Length") // which has the address in it
				}
				// The request's id differs each time, and so does what is sealed.
				h.Del("X-Request-Id")
				require.Len(t, h["Set-Cookie"], 1)
				h["Set-Cookie"][0] = sealed.ReplaceAllStringFunc(h["Set-Cookie"][0], func(s string) string { return strings.Repeat("x", len(s)) })
			}
			assert.Equal(t, fresh.Status, again.Status, address)
			assert.Equal(t, fresh.Header, again.Header, address)
			assert.Equal(t, fresh.Body, again.Body, address)
			assert.InDelta(t, took.Seconds(), tookAgain.Seconds(), .1, address)
			assert.Greater(t, tookAgain, 240*time.Millisecond, "the answer comes on the beat")
		}
	}
}

func TestBadSignUpsAreRefused(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	v := p.Visitor()
	assert.Equal(t, http.StatusUnprocessableEntity, p.join(v, map[string]string{"email": "ada"}).Status)
	assert.Equal(t, http.StatusUnprocessableEntity, p.join(v, nil).Status)
	assert.Equal(t, http.StatusUnprocessableEntity, v.PostForm(listPath, url.Values{"email": {"<b>"}}).Status)
	assert.Equal(t, http.StatusBadRequest, v.Send(http.MethodPost, listPath, strings.NewReader("{"), gatetest.AsJSON, gatetest.With("Content-Type", "application/json")).Status)
	assert.Equal(t, http.StatusRequestEntityTooLarge, v.PostForm(listPath, url.Values{"email": {strings.Repeat("a", 20<<10)}}).Status)
	assert.Equal(t, http.StatusNotFound, v.Get(listPath+"/nothing").Status)
	assert.Contains(t, v.Get(listPath+"/nothing").Header.Get("Content-Type"), "text/html", "people get a page")
	assert.Equal(t, http.StatusNotFound, v.Get("/.fairdoor/waitlist/gamma").Status)
	assert.Equal(t, http.StatusMethodNotAllowed, v.Send(http.MethodPut, listPath, nil).Status)
	a := v.Send(http.MethodDelete, listPath+"/invite", nil)
	assert.Equal(t, []any{http.StatusMethodNotAllowed, "GET, POST"}, []any{a.Status, a.Header.Get("Allow")})
	assert.Equal(t, http.StatusGone, v.Send(http.MethodPost, listPath+"/confirm?token=x", nil, gatetest.With("Content-Type", "application/json")).Status)
	assert.Equal(t, http.StatusGone, v.Get(listPath+"/invite").Status)
	assert.Equal(t, http.StatusGone, v.PostForm(listPath+"/invite", nil).Status)
	from := func(site string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Origin", site); r.Header.Set("Sec-Fetch-Site", "cross-site") }
	}
	assert.Equal(t, http.StatusBadRequest, p.join(v, map[string]string{"email": "ada@example.com"}, from("https://evil.test")).Status)
	mails, err := p.record.Outbox(t.Context(), 0, 10)
	require.NoError(t, err)
	assert.Empty(t, mails)
}

func TestWhoSendsJSONIsAnsweredInJSON(t *testing.T) {
	p := startParty(t)
	a := p.Visitor().PostJSON(listPath, map[string]string{"email": "ada@example.com"}, gatetest.With("Accept", "*/*"))
	assert.JSONEq(t, `{"waitlist": {"status": "unconfirmed"}}`, a.Body)
}

// TestAnySiteMayReadAndNoneMayAct has cors_origins list all sites, which is without cookies.
func TestAnySiteMayReadAndNoneMayAct(t *testing.T) {
	p := startParty(t, gatetest.Room(func(r *proxy.RoomConfig) { r.CORSOrigins = []string{"*"} }))
	ada := p.member("ada@example.com")
	from := func(r *http.Request) {
		r.Header.Set("Origin", "https://evil.test")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	a := ada.Send(http.MethodPost, listPath, strings.NewReader("leave=yes"), from, gatetest.With("Content-Type", "application/x-www-form-urlencoded"))
	assert.Equal(t, http.StatusBadRequest, a.Status)
	assert.Equal(t, http.StatusBadRequest, ada.Send(http.MethodDelete, listPath, nil, from).Status)
	assert.Equal(t, "waiting", p.entry(ada.Get(listPath, gatetest.AsJSON)).Status)
	assert.Contains(t, ada.Get(listPath).Header.Get("Content-Security-Policy"), "; frame-ancestors 'self'")
}

func TestWhoseInviteHasExpiredSignsUpAgainOnThePage(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	ada := p.member("ada@example.com")
	require.Equal(t, 1, p.release(1))
	p.Clock.Add(waitlist.DefaultSettings().InviteTTL)
	assert.Equal(t, "expired", p.entry(ada.Get(listPath, gatetest.AsJSON)).Status)
	other := p.Visitor()
	p.join(other, map[string]string{"email": "ada@example.com"})
	assert.Equal(t, "expired", p.entry(ada.Get(listPath, gatetest.AsJSON)).Status, "strangers do it for nobody")
	a := ada.PostForm(listPath, url.Values{"email": {"Ada@example.com"}})
	assert.Equal(t, []any{http.StatusSeeOther, listPath}, []any{a.Status, a.Header.Get("Location")})
	assert.Equal(t, "invited", p.entry(ada.Get(listPath, gatetest.AsJSON)).Status, "she is the only one in line, and so the next")
}

// TestAUserLearnsNothingOfAddresses has a user of the site give addresses, known and new.
func TestAUserLearnsNothingOfAddresses(t *testing.T) {
	p := startParty(t, gatetest.TrustingLoopback, gatetest.Room(func(r *proxy.RoomConfig) { r.Subject.Header = "X-User" }))
	victim := p.member("victim@example.com")
	for i, address := range []string{"victim@example.com", "fresh@example.com"} {
		user := gatetest.With("X-User", "mallory"+strconv.Itoa(i))
		a := p.join(p.Visitor(), map[string]string{"email": address}, user)
		assert.Equal(t, http.StatusOK, a.Status)
		assert.Equal(t, []any{"waiting", 2 + i}, []any{p.entry(a).Status, p.entry(a).Rank}, "the user has an entry of their own")
		assert.Equal(t, http.StatusNoContent, p.Visitor().Send(http.MethodDelete, listPath, nil, user).Status)
		p.join(p.Visitor(), map[string]string{"email": address}, user)
	}
	assert.Equal(t, 1, p.entry(victim.Get(listPath, gatetest.AsJSON)).Rank)
	page, err := p.record.Entries(t.Context(), waitlist.Search{Text: "fresh"})
	require.NoError(t, err)
	assert.Empty(t, page.Entries, "nobody has confirmed the address")
}

func TestALinkOfSomebodyElseThrowsNoGuestOut(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	ada := p.guest("ada@example.com")
	p.member("eve@example.com")
	ada.Get(listPath + "?secret=" + p.token("eve@example.com", waitlist.MailPlace))
	assert.True(t, ada.Get("/").In())
}

func TestSitesOfCorsOriginsSendSignUps(t *testing.T) {
	p := startParty(t, direct, gatetest.Room(func(r *proxy.RoomConfig) { r.CORSOrigins = []string{"https://landing.test"} }))
	v := p.Visitor()
	from := func(r *http.Request) {
		r.Header.Set("Origin", "https://landing.test")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	a := v.Send(http.MethodOptions, listPath, nil, from, gatetest.With("Access-Control-Request-Method", "POST"), gatetest.With("Access-Control-Request-Headers", "content-type"))
	assert.Equal(t, http.StatusNoContent, a.Status)
	assert.Contains(t, a.Header.Get("Access-Control-Allow-Methods"), "POST")
	a = p.join(v, map[string]string{"email": "ada@example.com"}, from)
	assert.Equal(t, http.StatusOK, a.Status)
	assert.Equal(t, "https://landing.test", a.Header.Get("Access-Control-Allow-Origin"))
}

func TestSignUpsOfANetworkAreLimited(t *testing.T) {
	p := startParty(t, gatetest.TrustingLoopback, direct, list(func(c *guests.Config) { c.SignUpsPerNetwork = 2 }))
	join := func(i, from string) gatetest.Answer {
		return p.join(p.Visitor(), map[string]string{"email": "p" + i + "@example.com"}, gatetest.With("X-Forwarded-For", from))
	}
	assert.Equal(t, http.StatusOK, join("1", "192.0.2.1").Status)
	assert.Equal(t, http.StatusOK, join("2", "192.0.2.2").Status)
	a := join("3", "192.0.2.3")
	assert.Equal(t, http.StatusTooManyRequests, a.Status)
	assert.NotEmpty(t, a.Header.Get("Retry-After"))
	assert.Equal(t, http.StatusOK, join("4", "198.51.100.1").Status)
	p.Clock.Add(time.Minute)
	assert.Equal(t, http.StatusOK, join("5", "192.0.2.3").Status)
}

func TestSignUpsOfAnIPv6SiteAreLimited(t *testing.T) {
	p := startParty(t, gatetest.TrustingLoopback, direct, list(func(c *guests.Config) { c.SignUpsPerNetwork = 2 }))
	signedUp := func(site string) (n int) {
		for subscriber := range 64 {
			a := p.join(p.Visitor(), map[string]string{"email": fmt.Sprintf("p%d@%s.example", subscriber, strings.ReplaceAll(site, ":", "-"))},
				gatetest.With("X-Forwarded-For", fmt.Sprintf("%s:%x00::1", site, subscriber)))
			if a.Status == http.StatusOK {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 8, signedUp("2001:db8:1"), "four times what one network may")
	assert.Equal(t, 8, signedUp("2001:db8:2"))
	p.Clock.Add(time.Minute)
	assert.Equal(t, 8, signedUp("2001:db8:1"))
}

func TestReferralsMoveTheirOwnerUp(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	p.member("first@example.com")
	ada := p.member("ada@example.com")
	before := p.entry(ada.Get(listPath, gatetest.AsJSON))
	assert.Equal(t, []int{2, 2}, []int{before.Rank, before.Total})
	friend := p.Visitor()
	p.join(friend, map[string]string{"email": "friend@example.com", "referral": before.ReferralCode})
	assert.Equal(t, 2, p.entry(ada.Get(listPath, gatetest.AsJSON)).Rank, "an address that is not confirmed counts for nobody")
	friend.PostJSON(listPath+"/confirm", map[string]string{"token": p.token("friend@example.com", waitlist.MailConfirm)})
	after := p.entry(ada.Get(listPath, gatetest.AsJSON))
	assert.Equal(t, []int{1, 3, 1}, []int{after.Rank, after.Total, after.ReferralsMade})
	assert.NotContains(t, ada.Get(listPath, gatetest.AsJSON).Body, "referralsHeld", "nobody is told whose address is on the list, too")
}

// TestAUserOfTheSiteIsAGuestWithoutACookie has the site name its users.
func TestAUserOfTheSiteIsAGuestWithoutACookie(t *testing.T) {
	p := startParty(t, gatetest.TrustingLoopback, direct, gatetest.Room(func(r *proxy.RoomConfig) { r.Subject.Header = "X-User" }))
	ann, ben := gatetest.With("X-User", "ann"), gatetest.With("X-User", "ben")
	a := p.join(p.Visitor(), nil, ann)
	assert.Equal(t, http.StatusOK, a.Status)
	assert.Equal(t, []any{"waiting", 1}, []any{p.entry(a).Status, p.entry(a).Rank})
	assert.Equal(t, http.StatusOK, p.join(p.Visitor(), map[string]string{"email": "ben@example.com"}, ben).Status)
	assert.Equal(t, 1, p.entry(p.join(p.Visitor(), nil, ann)).Rank, "once for each user")
	require.Equal(t, 1, p.release(1))
	assert.False(t, p.Visitor().Get("/", ann).In())
	assert.Equal(t, http.StatusOK, p.Visitor().PostJSON(listPath+"/invite", nil, ann).Status)
	assert.True(t, p.Visitor().Get("/", ann).In())
	assert.False(t, p.Visitor().Get("/", ben).In())
	assert.Equal(t, http.StatusGone, p.Visitor().PostJSON(listPath+"/invite", nil, ben).Status)
}

func TestTheSiteIsToldOfGuestsByAHeaderThatVisitorsCannotSend(t *testing.T) {
	p := startParty(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 2 }))
	forged := []func(*http.Request){gatetest.With("Fairdoor-Guest", "entry=9"), func(r *http.Request) { r.Header["fairdoor_guest"] = []string{"entry=9"} }}
	first, second := p.guest("ada@example.com"), p.guest("ben@example.com")
	for n, v := range []*gatetest.Visitor{first, second} {
		a := v.Get("/", forged...)
		require.True(t, a.In(), "%d: %d %s", n, a.Status, a.Body)
		seen := p.Site.Requests()[0].Header
		for name := range seen {
			assert.False(t, name != "Fairdoor-Guest" && strings.EqualFold(strings.ReplaceAll(name, "_", "-"), "Fairdoor-Guest"), name)
		}
		e, err := p.record.Entry(t.Context(), int64(n+1), time.Now())
		require.NoError(t, err)
		assert.Equal(t, []string{fmt.Sprintf("entry=%d, rank=%d, invited=%q", n+1, n+1, e.InvitedAt.Format(time.RFC3339))}, seen["Fairdoor-Guest"])
	}

	open := startParty(t, gatetest.Room(func(r *proxy.RoomConfig) {
		r.Admission = config.Everybody
	}))
	require.True(t, open.Visitor().Get("/", forged...).In())
	assert.NotContains(t, open.Site.Requests()[0].Header, "Fairdoor-Guest", "who is no guest")
}

func TestPeopleSeeWhatHasMovedThemUpAndNobodyElseDoes(t *testing.T) {
	p := startParty(t, list(func(c *guests.Config) {
		c.Settings.ConfirmEmail = false
		c.Settings.Actions = []waitlist.Action{{Name: "shared", Title: "Told <friends>", Points: 5}}
	}))
	ada := p.Visitor()
	require.Equal(t, http.StatusOK, p.join(ada, map[string]string{"email": "ada@example.com"}).Status)
	require.NoError(t, p.record.Report(t.Context(), 1, waitlist.Report{ID: "a", Action: "shared"}, "", time.Now()))
	assert.Contains(t, ada.Get(listPath, gatetest.AsJSON).Body, `"moves":[{"action":"shared","title":"Told \u003cfriends\u003e","points":5}]`)
	assert.Contains(t, ada.Get(listPath).Body, `<bdi>Told &lt;friends&gt;</bdi></dt><dd class="number">+5</dd>`)
	assert.Contains(t, p.join(p.Visitor(), map[string]string{"email": "ada@example.com"}).Body, `"moves":[]`)
}
