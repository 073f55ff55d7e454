package browsertest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/challenge"
	"github.com/fairdoor-gate/fairdoor/templates"
	"github.com/fairdoor-gate/fairdoor/templates/guestpage"
)

// guestPages serves the pages of a waitlist as the gate does: /waiting?lang=de-DE, of a site if it
// is named: &site=1.
func guestPages(t *testing.T) *httptest.Server {
	t.Helper()
	views := map[string]guestpage.View{}
	for _, s := range guestpage.Samples() {
		views["/"+s.Name] = s.View
	}
	whose := map[string]*guestpage.Pages{}
	for site, identity := range map[string]templates.Identity{
		"": {}, "1": {SiteName: "Nordlys Festival", Accent: "#5b3fd6", HelpURL: "https://nordlys.example/help"},
		"2": {SiteName: "Nordlys Festival", Accent: "#f2d43c", Background: "#0b1f3a", Card: "#fff4e0", HelpURL: "https://nordlys.example/help", Logo: "/logo.svg"},
	} {
		var err error
		whose[site], err = guestpage.New(guestpage.Options{Identity: identity})
		require.NoError(t, err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		view, ok := views[r.URL.Path]
		if r.URL.Path == "/logo.svg" {
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = io.WriteString(w, logo)
			return
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		serveGuest(w, whose[r.URL.Query().Get("site")], r.URL.Query().Get("lang"), view)
	}))
	t.Cleanup(server.Close)
	return server
}

func serveGuest(w http.ResponseWriter, p *guestpage.Pages, lang string, v guestpage.View) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	policy := p.ContentSecurityPolicy()
	if v.ScriptURL != "" {
		c, err := challenge.New(challenge.Config{Provider: challenge.Other, ScriptURL: v.ScriptURL, VerifyURL: v.ScriptURL}, templates.Identity{})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		policy = c.Widen(policy)
	}
	w.Header().Set("Content-Security-Policy", policy)
	_, _ = w.Write(p.AppendTo(nil, p.Match(lang), v))
}

func TestThePagesOfAWaitlist(t *testing.T) {
	t.Parallel()
	server := guestPages(t)
	tab := browser.Visitor(t)
	browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchPolicy})
	type look struct {
		sample, lang  string
		scheme        browsertest.Scheme
		width, height int64
	}
	var looks []look
	for _, s := range guestpage.Samples() {
		looks = append(looks, look{s.Name, "en-US", browsertest.Light, 1280, 800})
		if !strings.Contains(s.Name, ",") {
			looks = append(looks, look{s.Name, "ar-EG&site=1", browsertest.Dark, 390, 844})
		}
	}
	looks = append(looks, look{"sign-up, no address", "de-DE&site=2", browsertest.Dark, 1280, 800}, look{"waiting", "fi-FI&site=2", browsertest.Light, 320, 640},
		look{"waiting", "en-US&site=1", browsertest.Light, 320, 256}) // as at 400 % zoom
	for _, l := range looks {
		tab.Look(l.scheme, l.width, l.height)
		tab.Open(server.URL + "/" + url.PathEscape(l.sample) + "?lang=" + l.lang)
		name := strings.NewReplacer(", ", "-", " ", "-", "'", "", "&site=", "-").Replace(l.sample+"-"+l.lang) + "-" + string(l.scheme)
		switch {
		case l.height < 300:
			name += "-zoomed"
		case l.width < 600:
			name += "-phone"
		}
		assert.Equal(t, l.width, browsertest.Eval[int64](tab, `document.documentElement.scrollWidth`), "%s: nothing is cut off", name)
		browsertest.Eval[bool](tab, `[...document.querySelectorAll('details')].every(d => d.open = true)`)
		tab.RequireAccessible()
		tab.Screenshot("guest-" + name)
		assert.Empty(t, browsertest.Eval[[]string](tab, `forbidden`), "%s: what the page does is what its policy allows", name)
	}
}

// oneGuest serves the page of one person, who is told what a test says. The page asks for it again
// within a second.
type oneGuest struct {
	url   string
	mu    sync.Mutex
	view  guestpage.View
	forms []url.Values // that were sent
}

func newGuest(t *testing.T) *oneGuest {
	t.Helper()
	p, err := guestpage.New(guestpage.Options{})
	require.NoError(t, err)
	g := &oneGuest{}
	soon := strings.NewReplacer(`data-refresh="120"`, `data-refresh="0.1"`, `content="120; url=`, `content="0; url=`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if r.Method == http.MethodPost {
			assert.NoError(t, r.ParseForm())
			g.forms = append(g.forms, r.PostForm)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", p.ContentSecurityPolicy())
		_, _ = soon.WriteString(w, string(p.AppendTo(nil, "en-US", g.view)))
	}))
	t.Cleanup(server.Close)
	g.url = server.URL + "/list"
	return g
}

func (g *oneGuest) tell(v guestpage.View) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.view, g.view.Path = v, "/list"
}

func (g *oneGuest) sent() []url.Values {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.forms
}

const (
	rank = `document.getElementById('wait').textContent`
	made = `document.querySelector('#friends dd').textContent`
)

func TestAPageOfAWaitlistPutsANewRankInPlace(t *testing.T) {
	t.Parallel()
	guest, tab := newGuest(t), browser.Visitor(t)
	waiting := guestpage.View{State: guestpage.Waiting, Rank: 12034, Total: 25731, ReferralLink: "https://nordlys.example/?ref=k7", Boosts: true}
	guest.tell(waiting)
	tab.Open(guest.url)
	mark(tab)
	tab.Until(rank + ` === '12,034th of 25,731'`)
	tab.Do(chromedp.Click(chromedp.CSS("#copy")))
	tab.Until(`document.getElementById('copied').textContent === 'The link is copied.'`)
	tab.Do(chromedp.Click(chromedp.CSS("summary")))

	waiting.Rank, waiting.ReferralsMade = 7, 1
	guest.tell(waiting)
	tab.Until(rank + ` === '7th of 25,731' && ` + made + ` === '1'`)
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	assert.True(t, browsertest.Eval[bool](tab, `document.querySelector('details').open`), "what was opened stays open")

	guest.tell(guestpage.View{State: guestpage.Invited})
	tab.Until(`document.title === 'You are invited'`)
}

func TestThePagesOfAWaitlistWorkWithoutScript(t *testing.T) {
	t.Parallel()
	guest, tab := newGuest(t), browser.Visitor(t)
	browsertest.Call(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	guest.tell(guestpage.View{Problem: guestpage.NoAddress, Referral: "k7"})
	tab.Open(guest.url)
	tab.Until(`document.activeElement.id === 'email'`)
	guest.tell(guestpage.View{State: guestpage.Waiting, Rank: 8, Total: 9})
	tab.Do(chromedp.SendKeys(chromedp.CSS("#email"), "ada@nordlys.example"), chromedp.Click(chromedp.CSS("button.go")))
	tab.Until(rank + ` === '8th of 9'`)
	assert.Equal(t, []url.Values{{"email": {"ada@nordlys.example"}, "referral": {"k7"}}}, guest.sent())

	t.Log("the page is loaded again by itself")
	guest.tell(guestpage.View{State: guestpage.Invited})
	tab.Until(`document.title === 'You are invited'`)

	guest.tell(guestpage.View{State: guestpage.Left})
	tab.Do(chromedp.Click(chromedp.CSS("summary")), chromedp.Click(chromedp.CSS("details button")))
	tab.Until(`document.title === 'You are no longer on the waitlist'`)
	assert.Equal(t, url.Values{"leave": {"yes"}}, guest.sent()[1])
}
