package browsertest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestSevenTabsShareAStreamAndAllGetIn(t *testing.T) {
	t.Parallel()
	room := newLiveRoom(t, queue.Line, 5*time.Minute)
	inFirst, ahead := room.person(), room.person()
	window := browser.Visitor(t)
	var tabs []*browsertest.Tab
	for i := range 7 {
		tab := window.Another()
		tab.Open(fmt.Sprintf("%s/%d", room.url, i))
		tabs = append(tabs, tab)
	}
	for _, tab := range tabs {
		mark(tab)
		tab.Until(place + ` === '2nd of 2'`)
	}
	ahead.ask("POST", "/.fairdoor/leave")
	for _, tab := range tabs {
		tab.Until(`/^(1st|about 1) of 1$/.test(` + place + `)`)
		assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	}
	assert.Equal(t, 1, room.streams(), "streams")
	t.Log("when the tab that has it is closed, another has one")
	tabs[0].Close()
	room.until(func() bool { return room.opened.Load() == 2 }, "another tab listens")
	room.until(func() bool { return room.streams() == 1 }, "it is one")
	inFirst.leave()
	for _, tab := range tabs[1:] {
		tab.Until(inside)
	}
}

func TestWithoutLocksEachTabHasAStream(t *testing.T) {
	t.Parallel()
	room := newLiveRoom(t, queue.Line, 5*time.Minute)
	room.person()
	tab := browser.Visitor(t)
	tab.Another()
	other := tab.Another()
	for _, tab := range []*browsertest.Tab{tab, other} {
		browsertest.Call(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: `Object.defineProperty(Navigator.prototype, 'locks', {value: undefined})`,
		})
		tab.Open(room.url)
	}
	room.until(func() bool { return room.streams() == 2 }, "both listen")
}

func TestAStreamIsOpenedAgainEverMoreRarely(t *testing.T) {
	t.Parallel()
	s := newScript(t, lineAt(7, 412), 600)
	var opened []time.Time
	s.visit()
	for n := 2; n <= 4; n++ {
		cut := time.Now()
		s.cut()
		s.until(func(_, streams int) bool { return streams == n }, "it listens again")
		opened = append(opened, time.Now())
		least := []time.Duration{2: time.Second, 3: 2 * time.Second, 4: 4 * time.Second}[n]
		assert.GreaterOrEqual(t, time.Since(cut), least)
	}
	require.Len(t, opened, 3)
}

func TestWhoIsOfflineIsToldUntilWhenThePlaceIsKept(t *testing.T) {
	t.Parallel()
	s := newScript(t, lineAt(7, 412), 600)
	s.also = map[string]any{"placeKeptSeconds": 1800}
	tab := s.visit()
	s.tell(lineAt(7, 412))
	tab.Until(place + ` === '7th of 412'`)
	offline := func(is bool) {
		browsertest.Call(tab, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: is, DownloadThroughput: -1, UploadThroughput: -1})
	}
	offline(true)
	tab.Until(`/^You are offline. Your place is kept until .*\d/.test(document.getElementById('note').textContent)`)
	tab.RequireAccessible()
	tab.Screenshot("page-offline")
	from, _ := s.counts()
	s.let(func() { s.data = lineAt(5, 400) })
	offline(false)
	s.until(func(checkIns, _ int) bool { return checkIns > from }, "it asks long before its time")
	tab.Until(place + ` === '5th of 400'`)
	tab.Until(`document.getElementById('note').textContent === ''`)
	s.until(func(_, streams int) bool { return streams == 2 }, "it listens again")
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
}

func TestThePageChecksInWhenWhatIsLeftOfTheIntervalHasPassed(t *testing.T) {
	t.Parallel()
	s := newScript(t, lineAt(7, 412), 600)
	s.deaf, s.left = true, 2
	opened := time.Now()
	tab := browser.Visitor(t)
	tab.Open(s.url)
	s.until(func(checkIns, _ int) bool { return checkIns == 1 }, "not a whole interval after it was loaded")
	assert.GreaterOrEqual(t, time.Since(opened), 2*time.Second)
	s.until(func(checkIns, _ int) bool { return checkIns == 2 }, "nor after it has asked")
	assert.GreaterOrEqual(t, time.Since(opened), 4*time.Second)
}

func TestAPageThatWakesChecksInAtOnce(t *testing.T) {
	t.Parallel()
	for name, clock := range map[string]string{
		"its clocks have gone on": `const slept = performance.now.bind(performance); performance.now = () => slept() + 12e5; const date = Date.now; Date.now = () => date() + 12e5;`,
		"one stood still":         `const date = Date.now; Date.now = () => date() + 12e5;`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, lineAt(7, 412), 600)
			tab := s.visit()
			s.tell(lineAt(7, 412))
			tab.Until(place + ` === '7th of 412'`)
			mark(tab)
			from, _ := s.counts()
			require.Zero(t, from)
			state := func(to page.SetWebLifecycleStateState) {
				browsertest.Call(tab, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: to})
			}
			other := tab.Another()
			tab.Until(`document.hidden`)
			tab.Do(chromedp.Evaluate[chromedp.Void](`{` + clock + `}`))
			state(page.SetWebLifecycleStateStateFrozen)
			s.let(func() { s.data = lineAt(5, 400) })
			other.Close()
			state(page.SetWebLifecycleStateStateActive)
			tab.Front()
			tab.Until(place + ` === '5th of 400'`)
			assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
		})
	}
}

// It is so behind a proxy that asks the gate, too, which sends the script no answer of the gate
// with the status 200.
func TestABrowserThatSendsNoCookiesBackIsToldSo(t *testing.T) {
	t.Parallel()
	profile := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(profile, "Default"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(profile, "Default", "Preferences"),
		[]byte(`{"profile": {"default_content_setting_values": {"cookies": 2}}}`), 0o600))
	blocking, err := browsertest.Start(map[string]any{"user-data-dir": profile})
	require.NoError(t, err)
	defer blocking.Stop()

	room := newRoom(t, 2*time.Second)
	inFirst, site := room.person(), room.beside()
	tab := blocking.Visitor(t)
	tab.Open(site + "/a?b=c")
	tab.Until(`/^Your browser does not send/.test(document.getElementById('wait').textContent)`)
	mark(tab)
	link := browsertest.Eval[[]string](tab, `(a => [a.href, a.target])(document.querySelector('#open:not([hidden]) a'))`)
	assert.Equal(t, []string{site + "/a?b=c", "_blank"}, link)
	for _, scheme := range []browsertest.Scheme{browsertest.Light, browsertest.Dark} {
		tab.Look(scheme, 390, 844)
		tab.RequireAccessible()
		tab.Screenshot("page-cookies-blocked-" + string(scheme))
	}
	room.until(func() bool { return room.queued() == 0 }, "the place of the first page runs out")
	from := room.count()
	room.until(func() bool {
		assert.Zero(t, room.queued(), "no check-in takes another")
		return room.count() >= from+2
	}, "it goes on asking")
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	inFirst.leave()
	tab.Until(inside)
}

// A browser that blocks the cookies of other sites has none for a room in an iframe. The page there
// leads to a tab of its own, in which the room has its cookie.
func TestAnIframeWhoseCookiesAreBlockedLeadsToATabOfItsOwn(t *testing.T) {
	t.Parallel()
	blocking, err := browsertest.Start(map[string]any{"test-third-party-cookie-phaseout": true})
	require.NoError(t, err)
	defer blocking.Stop()
	room := newRoom(t, 2*time.Second)
	inFirst := room.person()
	partner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `<!doctype html><html lang="en"><title>Partner</title><main><h1>Partner</h1><iframe title="Shop" src="`+room.url+`/a?b=c" width="390" height="700"></iframe></main>`)
	}))
	defer partner.Close()
	tab := blocking.Visitor(t)
	tab.Open(strings.Replace(partner.URL, "127.0.0.1", "localhost", 1))
	frame := tab.Frame(room.url)
	frame.Until(`/^Your browser does not send/.test(document.getElementById('wait').textContent)`)
	link := browsertest.Eval[[]string](frame, `(a => [a.href, a.target])(document.querySelector('#open:not([hidden]) a'))`)
	assert.Equal(t, []string{room.url + "/a?b=c", "_blank"}, link)
	tab.RequireAccessible()
	tab.Screenshot("page-cookies-blocked-iframe")

	own := tab.Another()
	own.Open(link[0])
	room.until(func() bool { return room.queued() == 1 }, "the tab of its own has a place, and the frame has none")
	from := room.count()
	room.until(func() bool { return room.count() >= from+4 }, "both go on asking")
	assert.True(t, browsertest.Eval[bool](own, `document.getElementById('open').hidden`))
	inFirst.leave()
	own.Until(inside)
}

func TestWhoDeletesTheCookieJoinsAgain(t *testing.T) {
	t.Parallel()
	room := newRoom(t, time.Second)
	room.person()
	tab := browser.Visitor(t)
	tab.Open(room.url)
	mark(tab)
	room.until(func() bool { return room.count() > 1 }, "it checks in")
	browsertest.Call(tab, network.ClearBrowserCookies, cdp.Empty{})
	tab.Until(`!window.marked && document.getElementById('stay')`)
	from := room.count()
	room.until(func() bool { return room.count() > from+1 }, "it checks in")
	tab.Until(`document.getElementById('open').hidden`)
}
