package browsertest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

// ownPage gives a room a page of its own.
func ownPage(t *testing.T, body string) func(*proxy.RoomConfig) {
	t.Helper()
	page, err := templates.Parse([]byte("<!doctype html><html lang=en><title>{{usersAhead}} ahead</title><body><h1>Please wait</h1>" + body))
	require.NoError(t, err)
	return func(c *proxy.RoomConfig) { c.Page = page }
}

func TestAnAddressWithAFragmentIsLoadedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script bool
		change []func(*proxy.RoomConfig)
	}{
		"the built-in page without script":            {false, nil},
		"a page of the room's own without script":     {false, []func(*proxy.RoomConfig){ownPage(t, "")}},
		"a page of the room's own with script":        {true, []func(*proxy.RoomConfig){ownPage(t, "")}},
		"a page with the client in it without script": {false, []func(*proxy.RoomConfig){ownPage(t, "{{{client}}}")}},
		"a page with the client in it":                {true, []func(*proxy.RoomConfig){ownPage(t, "{{{client}}}")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			room := newRoom(t, time.Second, c.change...)
			inFirst := room.person()
			tab := browser.Visitor(t)
			browsertest.Call(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !c.script})
			tab.Open(room.url + "/tickets?event='a;b'&day=2#seats")
			assert.NotContains(t, tab.Text(), "Welcome")
			inFirst.leave()
			tab.Until(inside)
			assert.Equal(t, "/tickets?event=%27a;b%27&day=2", browsertest.Eval[string](tab, `location.pathname + location.search`))
		})
	}
}

func TestAPageOfTheRoomsOwnIsKeptUpToDateByTheClient(t *testing.T) {
	t.Parallel()
	for name, method := range map[string]queue.Method{"by check-ins": queue.FIFO, "by events in a line": queue.Line} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := newLiveRoom
			if method == queue.FIFO {
				open = func(t *testing.T, _ queue.Method, interval time.Duration, changes ...func(*proxy.RoomConfig)) *room {
					return newRoom(t, interval, changes...)
				}
			}
			room := open(t, method, time.Second, ownPage(t, `<p class="n{{usersAhead}}"><b id=n>{{usersAhead}}</b>{{#usersAhead}}<em>people</em>{{/usersAhead}}</p>{{#usersAhead}}<i>not yet</i>{{/usersAhead}}
				<p id="note" role="status"></p><button id="pause" type="button" hidden></button>{{{client}}}`))
			inFirst := room.person()
			goodbye := room.person().queue()
			defer goodbye()
			tab := browser.Visitor(t)
			nextBucket(t)
			tab.Open(room.url)
			mark(tab)
			tab.Until(`document.getElementById('n').textContent === '1' && document.querySelector('.n1 em')`)
			goodbye()
			tab.Until(`document.getElementById('n').textContent === '0' && document.querySelector('.n0') && !document.querySelector('i, em') && document.title.includes('0 ahead')`)
			from := room.count()
			room.until(func() bool { return method == queue.Line || room.count() > from+2 }, "it goes on checking in")
			assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
			assert.False(t, browsertest.Eval[bool](tab, `document.getElementById('pause').hidden`), "updates can be paused")
			inFirst.leave()
			tab.Until(inside)
		})
	}
}

func TestAPageOfTheRoomsOwnSaysGoodbye(t *testing.T) {
	t.Parallel()
	room := newRoom(t, time.Minute, ownPage(t, "{{{client}}}"))
	room.person()
	tab := browser.Visitor(t)
	tab.Another() // so that the browser context stays when the page is closed
	tab.Open(room.url)
	room.until(func() bool { return room.queued() == 1 }, "the visitor is counted")
	tab.Close()
	room.until(func() bool { return room.queued() == 0 }, "long before their next check-in was due")
}

func TestSomebodyWhoSendsAFormIsLedIntoTheLine(t *testing.T) {
	t.Parallel()
	room := newLiveRoom(t, queue.FIFO, time.Minute)
	inFirst := room.person()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><form method=post action="%s/order?of=1"><input name=who value=Ada><button id=send>Send</button></form>`, room.url)
	}))
	defer site.Close()
	tab := browser.Visitor(t)
	tab.Open(site.URL)
	tab.Do(chromedp.Click(chromedp.CSS("#send")))
	tab.Until(`document.getElementById('line')`)
	assert.Contains(t, tab.Text(), "This was not sent")
	tab.RequireAccessible()
	room.until(func() bool { return room.queued() == 1 }, "they have a place")
	tab.Do(chromedp.Click(chromedp.CSS("#line")))
	tab.Until(`document.getElementById('updated')`)
	assert.Contains(t, tab.Text(), "You are in the waiting room")
	assert.Equal(t, "/order?of=1", browsertest.Eval[string](tab, `location.pathname + location.search`))
	inFirst.leave()
	tab.Until(inside)
}

func TestWhoeverComesBackTooLateIsToldSo(t *testing.T) {
	t.Parallel()
	room := newRoom(t, time.Second, func(c *proxy.RoomConfig) { c.Settings.QueueTicketTTL = 2 * time.Second })
	room.person()
	tab := browser.Visitor(t)
	tab.Open(room.url)
	assert.True(t, browsertest.Eval[bool](tab, `document.getElementById('rejoined').hidden`))
	tab.Open("about:blank")
	room.until(func() bool { return room.queued() == 0 }, "they have gone")
	away := time.NewTimer(3 * time.Second)
	<-away.C
	tab.Open(room.url)
	assert.False(t, browsertest.Eval[bool](tab, `document.getElementById('rejoined').hidden`))
	tab.RequireAccessible()
}

func TestBrowsersUnpackThePage(t *testing.T) {
	t.Parallel()
	room := newRoom(t, time.Minute)
	room.person()
	tab := browser.Visitor(t)
	tab.Open(room.url)
	assert.Less(t, browsertest.Eval[int](tab, `performance.getEntriesByType('navigation')[0].encodedBodySize`), 9<<10)
	assert.Greater(t, browsertest.Eval[int](tab, `performance.getEntriesByType('navigation')[0].decodedBodySize`), 10<<10)
	room.until(func() bool { return room.queued() == 1 }, "the room queues, and its page is an answer of the gate's")
	var asked http.Client
	icon, err := asked.Get(room.url + "/favicon.ico")
	require.NoError(t, err)
	defer icon.Body.Close()
	source, err := io.ReadAll(icon.Body)
	require.NoError(t, err)
	assert.Contains(t, string(source), "<svg")
}
