package proxy_test

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
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

const listPath = "/.fairdoor/waitlist/beta"

// party is a gate whose room shop has a waitlist, and another node's view of the record.
type party struct {
	*fixture
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
	p := &party{fixture: start(t, append([]func(*proxy.Config, *proxy.Options){begin}, changes...)...)}
	store, err := waitlist.Open(t.Context(), name)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	settings := lists(p.config)[0].Settings
	settings.Mailed = lists(p.config)[0].SMTP != nil
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

func (p *party) entry(a answer) entry {
	p.t.Helper()
	var told struct{ Waitlist entry }
	require.NoError(p.t, json.Unmarshal([]byte(a.body), &told), a.body)
	return told.Waitlist
}

// join signs somebody up, as an app does.
func (p *party) join(v *visitor, sent map[string]string, changes ...func(*http.Request)) answer {
	p.t.Helper()
	return v.postJSON(listPath, sent, changes...)
}

func (v *visitor) postJSON(path string, sent map[string]string, changes ...func(*http.Request)) answer {
	v.f.t.Helper()
	text, err := json.Marshal(sent)
	require.NoError(v.f.t, err)
	changes = append([]func(*http.Request){asJSON, with("Content-Type", "application/json")}, changes...)
	return v.send(http.MethodPost, path, strings.NewReader(string(text)), changes...)
}

// postForm sends a form, as a page does.
func (v *visitor) postForm(path string, sent url.Values) answer {
	v.f.t.Helper()
	return v.send(http.MethodPost, path, strings.NewReader(sent.Encode()), with("Content-Type", "application/x-www-form-urlencoded"))
}

// token returns the token of the latest mail of a kind to an address.
func (p *party) token(to string, kind waitlist.MailKind) string {
	p.t.Helper()
	mails, err := p.record.Outbox(p.t.Context(), 0, 1000)
	require.NoError(p.t, err)
	for _, m := range slices.Backward(mails) {
		if m.To == to && m.Kind == kind {
			return m.Token
		}
	}
	require.Fail(p.t, "no mail", "%s to %s", kind, to)
	return ""
}

// member signs somebody up with an address and confirms it.
func (p *party) member(address string) *visitor {
	p.t.Helper()
	v := p.visitor()
	require.Equal(p.t, http.StatusAccepted, p.join(v, map[string]string{"email": address}).status)
	require.Equal(p.t, http.StatusOK, v.postJSON(listPath+"/confirm", map[string]string{"token": p.token(address, waitlist.MailConfirm)}).status)
	return v
}

func (p *party) release(n int) int {
	p.t.Helper()
	released, err := p.record.Release(p.t.Context(), n, "olga", p.clock.Now())
	require.NoError(p.t, err)
	return released
}

// guest is somebody who has accepted.
func (p *party) guest(address string) *visitor {
	p.t.Helper()
	v := p.member(address)
	require.Equal(p.t, 1, p.release(1))
	require.Equal(p.t, http.StatusOK, v.postJSON(listPath+"/invite", map[string]string{"token": p.token(address, waitlist.MailInvite)}).status)
	return v
}

func TestFromSignUpToTheOrigin(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	ada := p.visitor()
	assert.False(t, ada.get("/").in())
	a := p.join(ada, map[string]string{"email": "ada@example.com"})
	assert.Equal(t, http.StatusAccepted, a.status)
	assert.JSONEq(t, `{"waitlist": {"status": "unconfirmed"}}`, a.body)
	assert.NotContains(t, ada.cookies, "fairdoor_.beta", "nobody has shown to be the owner")
	assert.Equal(t, http.StatusNotFound, ada.get(listPath, asJSON).status)

	confirm := listPath + "/confirm?token=" + p.token("ada@example.com", waitlist.MailConfirm)
	for range 2 { // mail scanners look, too
		assert.Equal(t, http.StatusOK, ada.get(confirm).status)
	}
	assert.Equal(t, http.StatusNotFound, ada.get(listPath, asJSON).status, "looking confirms nothing")
	assert.Equal(t, http.StatusSeeOther, ada.postForm(confirm, nil).status)
	for _, again := range []answer{ada.get(confirm), ada.postForm(confirm, nil), p.visitor().get(confirm, asJSON)} {
		assert.Equal(t, http.StatusGone, again.status)
	}
	e := p.entry(ada.get(listPath, asJSON))
	assert.Equal(t, entry{Status: "waiting", Rank: 1, Total: 1, ReferralCode: e.ReferralCode,
		ReferralLink: "https://shop.test" + listPath + "?ref=" + e.ReferralCode}, e)
	assert.NotEmpty(t, e.ReferralCode)
	assert.Equal(t, "waiting", p.entry(ada.get("/", asJSON)).Status, "the door shows the place")

	require.Equal(t, 1, p.release(3))
	assert.Equal(t, "invited", p.entry(ada.get(listPath, asJSON)).Status)
	assert.False(t, ada.get("/").in(), "an invite is not accepted by coming")
	invite := listPath + "/invite?token=" + p.token("ada@example.com", waitlist.MailInvite)
	assert.Equal(t, http.StatusOK, p.visitor().get(invite).status)
	phone := p.visitor()
	a = phone.postForm(invite, nil)
	assert.Equal(t, http.StatusSeeOther, a.status)
	assert.Equal(t, "/", a.header.Get("Location"))
	assert.Equal(t, http.StatusGone, ada.postForm(invite, nil).status)
	assert.Empty(t, p.site.requests(), "nobody has come so far")

	assert.True(t, phone.get("/").in())
	assert.True(t, ada.get("/").in(), "they are one person on all of their devices")
	ben := p.guest("ben@example.com")
	assert.False(t, ben.get("/").in(), "the room has one slot, and its guests wait for it like everybody")
	assert.Equal(t, true, ben.get("/", asJSON).told("inWaitingRoom"))
	got := p.entry(ada.get(listPath, asJSON))
	assert.Equal(t, []string{"accepted", ada.base + "/"}, []string{got.Status, got.EnterURL})
	for _, r := range p.site.requests() {
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
		v := p.visitor()
		all.Go(func() {
			switch v.postJSON(listPath+"/invite", sent).status {
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
	phone := p.visitor()
	link := listPath + "?secret=" + p.token("ada@example.com", waitlist.MailPlace)
	a := phone.get(link)
	assert.Equal(t, []any{http.StatusSeeOther, listPath}, []any{a.status, a.header.Get("Location")})
	assert.Equal(t, "strict-origin", phone.get(listPath).header.Get("Referrer-Policy"))
	assert.Equal(t, 1, p.entry(phone.get(listPath, asJSON)).Rank)
	assert.Equal(t, "waiting", p.entry(p.visitor().get(link, asJSON)).Status)
	assert.Equal(t, http.StatusGone, p.visitor().get(listPath+"?secret=x").status)

	assert.Equal(t, http.StatusNoContent, ada.send(http.MethodDelete, listPath, nil).status)
	assert.Equal(t, http.StatusNotFound, ada.get(listPath, asJSON).status)
	assert.Equal(t, http.StatusNotFound, phone.get(listPath, asJSON).status)
	assert.Equal(t, http.StatusGone, phone.get(link).status)
	page, err := p.record.Entries(t.Context(), waitlist.Search{})
	require.NoError(t, err)
	assert.Zero(t, page.Total)

	ben := p.member("ben@example.com")
	assert.Equal(t, http.StatusOK, ben.postForm(listPath, url.Values{"leave": {"yes"}}).status)
	assert.Equal(t, http.StatusNotFound, ben.get(listPath, asJSON).status)
}

// sealed is the value of a cookie.
var sealed = regexp.MustCompile(`=[\w=-]+;`)

// TestAnswersDoNotTellWhoIsOnTheList compares all that is seen of an answer, and how long it takes.
func TestAnswersDoNotTellWhoIsOnTheList(t *testing.T) {
	p := startParty(t, list(func(c *guests.Config) { c.SignUpsPerNetwork = 0 }))
	p.member("known@example.com")
	p.join(p.visitor(), map[string]string{"email": "asked@example.com"})
	seen := func(address string, page bool) (answer, time.Duration) {
		began := time.Now()
		if page {
			a := p.visitor().postForm(listPath, url.Values{"email": {address}})
			return a, time.Since(began)
		}
		a := p.join(p.visitor(), map[string]string{"email": address})
		return a, time.Since(began)
	}
	for _, page := range []bool{false, true} {
		fresh, took := seen("fresh@example.com", page)
		fresh.header.Del("Date")
		for _, address := range []string{"known@example.com", "asked@example.com", "fresh@example.com", "KNOWN@example.com"} {
			again, tookAgain := seen(address, page)
			again.header.Del("Date")
			fresh.body = strings.ReplaceAll(fresh.body, "fresh@example.com", "x@example.com")
			again.body = strings.ReplaceAll(again.body, address, "x@example.com")
			for _, h := range []http.Header{fresh.header, again.header} {
				if page {
					h.Del("Content-Length") // which has the address in it
				}
				// What is sealed differs each time.
				require.Len(t, h["Set-Cookie"], 1)
				h["Set-Cookie"][0] = sealed.ReplaceAllStringFunc(h["Set-Cookie"][0], func(s string) string { return strings.Repeat("x", len(s)) })
			}
			assert.Equal(t, fresh.status, again.status, address)
			assert.Equal(t, fresh.header, again.header, address)
			assert.Equal(t, fresh.body, again.body, address)
			assert.InDelta(t, took.Seconds(), tookAgain.Seconds(), .1, address)
			assert.Greater(t, tookAgain, 240*time.Millisecond, "the answer comes on the beat")
		}
	}
}

func TestBadSignUpsAreRefused(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	v := p.visitor()
	assert.Equal(t, http.StatusUnprocessableEntity, p.join(v, map[string]string{"email": "ada"}).status)
	assert.Equal(t, http.StatusUnprocessableEntity, p.join(v, nil).status)
	assert.Equal(t, http.StatusUnprocessableEntity, v.postForm(listPath, url.Values{"email": {"<b>"}}).status)
	assert.Equal(t, http.StatusBadRequest, v.send(http.MethodPost, listPath, strings.NewReader("{"), asJSON, with("Content-Type", "application/json")).status)
	assert.Equal(t, http.StatusRequestEntityTooLarge, v.postForm(listPath, url.Values{"email": {strings.Repeat("a", 20<<10)}}).status)
	assert.Equal(t, http.StatusNotFound, v.get(listPath+"/nothing").status)
	assert.Contains(t, v.get(listPath+"/nothing").header.Get("Content-Type"), "text/html", "people get a page")
	assert.Equal(t, http.StatusNotFound, v.get("/.fairdoor/waitlist/gamma").status)
	assert.Equal(t, http.StatusMethodNotAllowed, v.send(http.MethodPut, listPath, nil).status)
	a := v.send(http.MethodDelete, listPath+"/invite", nil)
	assert.Equal(t, []any{http.StatusMethodNotAllowed, "GET, POST"}, []any{a.status, a.header.Get("Allow")})
	assert.Equal(t, http.StatusGone, v.send(http.MethodPost, listPath+"/confirm?token=x", nil, with("Content-Type", "application/json")).status)
	assert.Equal(t, http.StatusGone, v.get(listPath+"/invite").status)
	assert.Equal(t, http.StatusGone, v.postForm(listPath+"/invite", nil).status)
	from := func(site string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Origin", site); r.Header.Set("Sec-Fetch-Site", "cross-site") }
	}
	assert.Equal(t, http.StatusBadRequest, p.join(v, map[string]string{"email": "ada@example.com"}, from("https://evil.test")).status)
	mails, err := p.record.Outbox(t.Context(), 0, 10)
	require.NoError(t, err)
	assert.Empty(t, mails)
}

func TestWhoSendsJSONIsAnsweredInJSON(t *testing.T) {
	p := startParty(t)
	a := p.visitor().postJSON(listPath, map[string]string{"email": "ada@example.com"}, with("Accept", "*/*"))
	assert.JSONEq(t, `{"waitlist": {"status": "unconfirmed"}}`, a.body)
}

// TestAnySiteMayReadAndNoneMayAct has cors_origins list all sites, which is without cookies.
func TestAnySiteMayReadAndNoneMayAct(t *testing.T) {
	p := startParty(t, room(func(r *proxy.RoomConfig) { r.CORSOrigins = []string{"*"} }))
	ada := p.member("ada@example.com")
	from := func(r *http.Request) {
		r.Header.Set("Origin", "https://evil.test")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	a := ada.send(http.MethodPost, listPath, strings.NewReader("leave=yes"), from, with("Content-Type", "application/x-www-form-urlencoded"))
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Equal(t, http.StatusBadRequest, ada.send(http.MethodDelete, listPath, nil, from).status)
	assert.Equal(t, "waiting", p.entry(ada.get(listPath, asJSON)).Status)
	assert.Contains(t, ada.get(listPath).header.Get("Content-Security-Policy"), "; frame-ancestors 'self'")
}

func TestWhoseInviteHasExpiredSignsUpAgainOnThePage(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	ada := p.member("ada@example.com")
	require.Equal(t, 1, p.release(1))
	p.clock.add(waitlist.DefaultSettings().InviteTTL)
	assert.Equal(t, "expired", p.entry(ada.get(listPath, asJSON)).Status)
	other := p.visitor()
	p.join(other, map[string]string{"email": "ada@example.com"})
	assert.Equal(t, "expired", p.entry(ada.get(listPath, asJSON)).Status, "strangers do it for nobody")
	a := ada.postForm(listPath, url.Values{"email": {"Ada@example.com"}})
	assert.Equal(t, []any{http.StatusSeeOther, listPath}, []any{a.status, a.header.Get("Location")})
	assert.Equal(t, "invited", p.entry(ada.get(listPath, asJSON)).Status, "she is the only one in line, and so the next")
}

// TestAUserLearnsNothingOfAddresses has a user of the site give addresses, known and new.
func TestAUserLearnsNothingOfAddresses(t *testing.T) {
	p := startParty(t, trustingLoopback, room(func(r *proxy.RoomConfig) { r.Subject.Header = "X-User" }))
	victim := p.member("victim@example.com")
	for i, address := range []string{"victim@example.com", "fresh@example.com"} {
		user := with("X-User", "mallory"+strconv.Itoa(i))
		a := p.join(p.visitor(), map[string]string{"email": address}, user)
		assert.Equal(t, http.StatusOK, a.status)
		assert.Equal(t, []any{"waiting", 2 + i}, []any{p.entry(a).Status, p.entry(a).Rank}, "the user has an entry of their own")
		assert.Equal(t, http.StatusNoContent, p.visitor().send(http.MethodDelete, listPath, nil, user).status)
		p.join(p.visitor(), map[string]string{"email": address}, user)
	}
	assert.Equal(t, 1, p.entry(victim.get(listPath, asJSON)).Rank)
	page, err := p.record.Entries(t.Context(), waitlist.Search{Text: "fresh"})
	require.NoError(t, err)
	assert.Empty(t, page.Entries, "nobody has confirmed the address")
}

func TestALinkOfSomebodyElseThrowsNoGuestOut(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	ada := p.guest("ada@example.com")
	p.member("eve@example.com")
	ada.get(listPath + "?secret=" + p.token("eve@example.com", waitlist.MailPlace))
	assert.True(t, ada.get("/").in())
}

func TestSitesOfCorsOriginsSendSignUps(t *testing.T) {
	p := startParty(t, direct, room(func(r *proxy.RoomConfig) { r.CORSOrigins = []string{"https://landing.test"} }))
	v := p.visitor()
	from := func(r *http.Request) {
		r.Header.Set("Origin", "https://landing.test")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	a := v.send(http.MethodOptions, listPath, nil, from, with("Access-Control-Request-Method", "POST"), with("Access-Control-Request-Headers", "content-type"))
	assert.Equal(t, http.StatusNoContent, a.status)
	assert.Contains(t, a.header.Get("Access-Control-Allow-Methods"), "POST")
	a = p.join(v, map[string]string{"email": "ada@example.com"}, from)
	assert.Equal(t, http.StatusOK, a.status)
	assert.Equal(t, "https://landing.test", a.header.Get("Access-Control-Allow-Origin"))
}

func TestSignUpsOfANetworkAreLimited(t *testing.T) {
	p := startParty(t, trustingLoopback, direct, list(func(c *guests.Config) { c.SignUpsPerNetwork = 2 }))
	join := func(i, from string) answer {
		return p.join(p.visitor(), map[string]string{"email": "p" + i + "@example.com"}, with("X-Forwarded-For", from))
	}
	assert.Equal(t, http.StatusOK, join("1", "192.0.2.1").status)
	assert.Equal(t, http.StatusOK, join("2", "192.0.2.2").status)
	a := join("3", "192.0.2.3")
	assert.Equal(t, http.StatusTooManyRequests, a.status)
	assert.NotEmpty(t, a.header.Get("Retry-After"))
	assert.Equal(t, http.StatusOK, join("4", "198.51.100.1").status)
	p.clock.add(time.Minute)
	assert.Equal(t, http.StatusOK, join("5", "192.0.2.3").status)
}

func TestSignUpsOfAnIPv6SiteAreLimited(t *testing.T) {
	p := startParty(t, trustingLoopback, direct, list(func(c *guests.Config) { c.SignUpsPerNetwork = 2 }))
	signedUp := func(site string) (n int) {
		for subscriber := range 64 {
			a := p.join(p.visitor(), map[string]string{"email": fmt.Sprintf("p%d@%s.example", subscriber, strings.ReplaceAll(site, ":", "-"))},
				with("X-Forwarded-For", fmt.Sprintf("%s:%x00::1", site, subscriber)))
			if a.status == http.StatusOK {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 8, signedUp("2001:db8:1"), "four times what one network may")
	assert.Equal(t, 8, signedUp("2001:db8:2"))
	p.clock.add(time.Minute)
	assert.Equal(t, 8, signedUp("2001:db8:1"))
}

func TestReferralsMoveTheirOwnerUp(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	p.member("first@example.com")
	ada := p.member("ada@example.com")
	before := p.entry(ada.get(listPath, asJSON))
	assert.Equal(t, []int{2, 2}, []int{before.Rank, before.Total})
	friend := p.visitor()
	p.join(friend, map[string]string{"email": "friend@example.com", "referral": before.ReferralCode})
	assert.Equal(t, 2, p.entry(ada.get(listPath, asJSON)).Rank, "an address that is not confirmed counts for nobody")
	friend.postJSON(listPath+"/confirm", map[string]string{"token": p.token("friend@example.com", waitlist.MailConfirm)})
	after := p.entry(ada.get(listPath, asJSON))
	assert.Equal(t, []int{1, 3, 1}, []int{after.Rank, after.Total, after.ReferralsMade})
	assert.NotContains(t, ada.get(listPath, asJSON).body, "referralsHeld", "nobody is told whose address is on the list, too")
}

// TestAUserOfTheSiteIsAGuestWithoutACookie has the site name its users.
func TestAUserOfTheSiteIsAGuestWithoutACookie(t *testing.T) {
	p := startParty(t, trustingLoopback, direct, room(func(r *proxy.RoomConfig) { r.Subject.Header = "X-User" }))
	ann, ben := with("X-User", "ann"), with("X-User", "ben")
	a := p.join(p.visitor(), nil, ann)
	assert.Equal(t, http.StatusOK, a.status)
	assert.Equal(t, []any{"waiting", 1}, []any{p.entry(a).Status, p.entry(a).Rank})
	assert.Equal(t, http.StatusOK, p.join(p.visitor(), map[string]string{"email": "ben@example.com"}, ben).status)
	assert.Equal(t, 1, p.entry(p.join(p.visitor(), nil, ann)).Rank, "once for each user")
	require.Equal(t, 1, p.release(1))
	assert.False(t, p.visitor().get("/", ann).in())
	assert.Equal(t, http.StatusOK, p.visitor().postJSON(listPath+"/invite", nil, ann).status)
	assert.True(t, p.visitor().get("/", ann).in())
	assert.False(t, p.visitor().get("/", ben).in())
	assert.Equal(t, http.StatusGone, p.visitor().postJSON(listPath+"/invite", nil, ben).status)
}
