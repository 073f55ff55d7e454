package browsertest_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// club is a gate whose room is for guests, in front of a small site, and its waitlist.
type club struct {
	t    *testing.T
	url  string
	list *waitlist.List
}

func newClub(t *testing.T) *club {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<!doctype html><title>Shop</title><h1>Welcome</h1>")
	}))
	t.Cleanup(site.Close)
	origin, err := url.Parse(site.URL)
	require.NoError(t, err)
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	store, err := waitlist.Open(t.Context(), filepath.Join(t.TempDir(), "waitlists.db"))
	require.NoError(t, err)
	gate, err := proxy.New(t.Context(), proxy.Config{
		Keys: []cookie.Key{key},
		Rooms: []proxy.RoomConfig{{
			Name: "shop", Routes: []route.Route{{Path: "/"}}, Origin: origin,
			Basics:   config.Basics{JSON: true, Admission: config.Invited},
			Settings: queue.Settings{TotalActiveUsers: 5, NewUsersPerMinute: 1000, SessionDuration: time.Hour},
		}},
		Parts: config.Parts{guests.Name: []guests.Config{{Name: "beta", Room: "shop", Settings: waitlist.DefaultSettings()}}},
	}, proxy.Options{Store: memstore.New(), Record: func(context.Context) (*waitlist.Store, error) { return store, nil }})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	front := httptest.NewServer(gate)
	t.Cleanup(front.Close)
	c := &club{t: t, url: front.URL}
	c.list, err = store.List(t.Context(), "beta", waitlist.DefaultSettings())
	require.NoError(t, err)
	return c
}

// link is where the link of the latest mail leads.
func (c *club) link(kind waitlist.MailKind) string {
	c.t.Helper()
	mails, err := c.list.Outbox(c.t.Context(), 0, 100)
	require.NoError(c.t, err)
	require.NotEmpty(c.t, mails)
	latest := mails[len(mails)-1]
	require.Equal(c.t, kind, latest.Kind)
	return c.url + guests.Paths + "beta/" + string(kind) + "?token=" + latest.Token
}

// TestFromTheSignUpPageToTheSite goes the whole way in a browser, with script and without.
func TestFromTheSignUpPageToTheSite(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]bool{"with script": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, tab := newClub(t), browser.Visitor(t)
			browsertest.Call(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !script})
			press := func(what, then string) {
				t.Helper()
				tab.Do(chromedp.Click(chromedp.CSS(what)))
				tab.Until(then)
			}
			tab.Open(c.url + "/tickets")
			tab.Do(chromedp.SendKeys(chromedp.CSS("#email"), "ada@example.com"))
			press("button.go", `document.getElementById('sent')`)

			tab.Open(c.link(waitlist.MailConfirm))
			press("button.go", `document.getElementById('waiting')`)
			assert.Equal(t, "1st of 1", browsertest.Eval[string](tab, `document.getElementById('wait').innerText`))
			assert.Contains(t, browsertest.Eval[string](tab, `document.getElementById('link').value`), guests.Paths+"beta?ref=")

			released, err := c.list.Release(t.Context(), 1, "olga", time.Now())
			require.NoError(t, err)
			require.Equal(t, 1, released)
			tab.Open(c.url + "/tickets")
			tab.Until(`document.getElementById('invited')`)
			tab.Open(c.link(waitlist.MailInvite))
			press("button.go", inside)
			tab.Open(c.url + "/tickets")
			tab.Until(inside)
		})
	}
}
