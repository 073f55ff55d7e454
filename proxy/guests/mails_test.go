package guests_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/challenge/challengetest"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/guests/mail"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// withoutMailServer has mails go to a mail server that is down.
func withoutMailServer(t *testing.T) func(*guests.Config) {
	t.Helper()
	port := int(netip.MustParseAddrPort(porttest.Address(t)).Port())
	return func(c *guests.Config) {
		c.SMTP = &mail.SMTP{Host: "127.0.0.1", Port: port, TLS: mail.NoTLS, From: "hello@shop.test"}
	}
}

func TestAnInviteOutlastsAMailServerThatIsDown(t *testing.T) {
	p := startParty(t, direct, list(withoutMailServer(t)))
	ada := p.Visitor()
	p.join(ada, map[string]string{"email": "ada@example.com"})
	require.Equal(t, 1, p.release(1))
	p.Clock.Add(5 * 24 * time.Hour)
	a := ada.Get(listPath, gatetest.AsJSON)
	assert.Equal(t, "invited", p.entry(a).Status)
	assert.NotContains(t, a.Body, "inviteExpiresAt", "the time has not begun")
	p.Clock.Add(2 * 24 * time.Hour)
	assert.Equal(t, "expired", p.entry(ada.Get(listPath, gatetest.AsJSON)).Status)
}

func TestAGateSendsTheMailsOfItsWaitlists(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 100)
	p := startParty(t, direct, list(func(c *guests.Config) {
		c.SMTP = &mail.SMTP{Host: "mail.test", TLS: mail.NoTLS, From: "hello@shop.test", Dial: func(context.Context, string, string) (net.Conn, error) {
			asked <- struct{}{}
			return nil, net.ErrClosed
		}}
	}))
	p.join(p.Visitor(), map[string]string{"email": "ada@example.com"})
	require.Eventually(t, func() bool { return len(asked) > 0 }, time.Minute, 10*time.Millisecond)
}

func TestSignUpsPassTheChallengeOfTheRoom(t *testing.T) {
	t.Parallel()
	provider := challengetest.New(t)
	p := startParty(t, gatetest.Challenging(provider))
	v := p.Visitor()
	for _, path := range []string{"/", listPath} {
		a := v.Get(path)
		assert.Contains(t, a.Body, `class="test-widget" data-sitekey="the-site"`)
		assert.Contains(t, a.Header.Get("Content-Security-Policy"), "frame-src "+provider.URL)
	}
	for _, wrong := range []string{"", "made up"} {
		a := v.PostForm(listPath, url.Values{"email": {"ada@example.com"}, "cf-turnstile-response": {wrong}})
		assert.Equal(t, http.StatusForbidden, a.Status)
		assert.Contains(t, a.Body, `value="ada@example.com"`)
		a = p.join(v, map[string]string{"email": "ada@example.com", "response": wrong})
		assert.Equal(t, http.StatusForbidden, a.Status)
		assert.Contains(t, a.Body, `"challengeRequired":true`)
	}
	mails, err := p.record.Outbox(t.Context(), 0, 10)
	require.NoError(t, err)
	assert.Empty(t, mails)
	right := provider.Answer()
	assert.Equal(t, http.StatusAccepted, v.PostForm(listPath, url.Values{"email": {"ada@example.com"}, "cf-turnstile-response": {right}}).Status)
	assert.Equal(t, http.StatusForbidden, p.join(v, map[string]string{"email": "bob@example.com", "response": right}).Status, "an answer works once")
	assert.Equal(t, http.StatusAccepted, p.join(v, map[string]string{"email": "bob@example.com", "response": provider.Answer()}).Status)
}

// TestTheReferralThatCountsIsThatOfWhoConfirms has somebody else sign up the same address with a
// code of their own.
func TestTheReferralThatCountsIsThatOfWhoConfirms(t *testing.T) {
	t.Parallel()
	const stranger, owner = 0, 1
	for name, c := range map[string]struct {
		first   int // who signs up first
		link    int // whose link the owner follows
		browser int // in which: their own, or one that has signed nobody up
		want    string
	}{
		"by the stranger's link in their own browser":       {stranger, stranger, owner, "ben"},
		"by their own link in their own browser":            {stranger, owner, owner, "ben"},
		"by their own link in another browser":              {stranger, owner, stranger, "ben"},
		"before the stranger, by the stranger's link":       {owner, stranger, owner, "ben"},
		"before the stranger, by their own link, elsewhere": {owner, owner, stranger, "ben"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startParty(t)
			p.member("first@example.com")
			members := map[string]*gatetest.Visitor{"ben": p.member("ben@example.com"), "eve": p.member("eve@example.com")}
			ada, order := p.Visitor(), []int{c.first, 1 - c.first}
			var links [2]string
			for _, who := range order {
				sender, referrer := ada, "ben"
				if who == stranger {
					sender, referrer = p.Visitor(), "eve"
				}
				code := p.entry(members[referrer].Get(listPath, gatetest.AsJSON)).ReferralCode
				a := p.join(sender, map[string]string{"email": "ada@example.com", "referral": code})
				require.Equal(t, http.StatusAccepted, a.Status)
				links[who] = p.token("ada@example.com", waitlist.MailConfirm)
			}
			require.NotEqual(t, links[stranger], links[owner], "each has a mail")
			reader := ada
			if c.browser == stranger {
				reader = p.Visitor()
			}
			assert.Equal(t, http.StatusSeeOther, reader.PostForm(listPath+"/confirm?token="+links[c.link], nil).Status)
			for name, member := range members {
				rank := p.entry(member.Get(listPath, gatetest.AsJSON)).Rank
				if name == c.want {
					assert.Equal(t, 1, rank, name)
				} else {
					assert.Greater(t, rank, 1, name)
				}
			}
			assert.Empty(t, reader.Cookies["fairdoor_.beta.referral"], "it is for once")
		})
	}
}

// TestEveryMailHasAWayOut leaves by the one click of a mail program (RFC 8058), which has no
// cookie.
func TestEveryMailHasAWayOut(t *testing.T) {
	t.Parallel()
	for _, kind := range []waitlist.MailKind{waitlist.MailConfirm, waitlist.MailPlace, waitlist.MailInvite} {
		t.Run(string(kind), func(t *testing.T) {
			p := startParty(t)
			ada := p.Visitor()
			p.join(ada, map[string]string{"email": "ada@example.com"})
			if kind != waitlist.MailConfirm {
				ada.PostJSON(listPath+"/confirm", map[string]string{"token": p.token("ada@example.com", waitlist.MailConfirm)})
			}
			if kind == waitlist.MailInvite {
				require.Equal(t, 1, p.release(1))
			}
			link := listPath + "/leave?token=" + p.token("ada@example.com", kind)
			a := p.Visitor().Get(link)
			assert.Equal(t, http.StatusOK, a.Status)
			assert.Contains(t, a.Body, `action="`+listPath+`/leave"`)
			left := func() int {
				page, err := p.record.Entries(t.Context(), waitlist.Search{Text: "ada@example.com"})
				require.NoError(t, err)
				return page.Total
			}
			assert.Equal(t, 1, left(), "nobody leaves by looking")
			assert.Equal(t, http.StatusOK, p.Visitor().PostForm(link, url.Values{"List-Unsubscribe": {"One-Click"}}).Status)
			assert.Zero(t, left())
			assert.Equal(t, http.StatusNotFound, ada.Get(listPath, gatetest.AsJSON).Status)
			assert.Equal(t, http.StatusGone, p.Visitor().Get(link).Status)
		})
	}
}

func TestALinkOfSomebodyElseReplacesNoCookie(t *testing.T) {
	t.Parallel()
	p := startParty(t)
	ada := p.member("ada@example.com")
	p.member("eve@example.com")
	secret := p.token("eve@example.com", waitlist.MailPlace)
	a := ada.Get(listPath + "?secret=" + secret)
	assert.Empty(t, a.Header.Values("Set-Cookie"))
	assert.Contains(t, a.Body, `name="secret" value="`+secret+`"`, "there is a button for that")
	assert.Equal(t, 1, p.entry(ada.Get(listPath, gatetest.AsJSON)).Rank)
	assert.Equal(t, http.StatusSeeOther, ada.PostForm(listPath, url.Values{"secret": {secret}}).Status)
	assert.Equal(t, 2, p.entry(ada.Get(listPath, gatetest.AsJSON)).Rank)

	reader := p.Visitor()
	image := func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Dest", "image")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	assert.Empty(t, reader.Get(listPath+"?secret="+secret, image).Header.Values("Set-Cookie"))
	assert.Equal(t, http.StatusNotFound, reader.Get(listPath, gatetest.AsJSON).Status)
}
