//go:build soak

package browsertest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest/webdriver"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// onEach runs a test in each of the other browsers, one after the other.
func onEach(t *testing.T, test func(t *testing.T, b *webdriver.Browser)) {
	for name, open := range webdriver.Kinds {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func TestInOtherBrowsersAVisitorSeesTheirPlaceFallAndGetsIn(t *testing.T) {
	onEach(t, func(t *testing.T, b *webdriver.Browser) {
		room := newLiveRoom(t, queue.FIFO, time.Second)
		inFirst := room.person()
		goodbye := room.person().queue()
		defer goodbye()
		nextBucket(t)
		b.Open(room.url)
		webdriver.Eval[bool](b, `window.marked = true`)
		b.Until(`document.getElementById('ahead').textContent === '1'`)
		b.Screenshot("page-in-" + path.Base(t.Name()))
		goodbye()
		b.Until(`document.getElementById('ahead').textContent === '0'`)
		assert.True(t, webdriver.Eval[bool](b, marked), "the page was not loaded again")
		assert.NotZero(t, room.opened.Load(), "it listens to events")
		inFirst.leave()
		b.Until(inside)
	})
}

func TestInFirefoxAHiddenPageGoesOnCheckingInAndGetsIn(t *testing.T) {
	b := webdriver.Firefox(t) // WebKit's small browser shows a tab that it has put behind another as visible
	room := newRoom(t, 2*time.Second)
	inFirst := room.person()
	b.Open(room.url)
	page := b.Window()
	room.until(func() bool { return room.count() >= 1 }, "it checks in")
	b.Another()
	from := room.count()
	room.until(func() bool { return room.count() >= from+3 }, "it goes on when it is hidden")
	assert.Equal(t, "hidden", room.seen(from + 2)[0].visibility)
	inFirst.leave()
	b.Look(page)
	b.Until(inside)
}

func TestInOtherBrowsersAPageOutlivesALostConnection(t *testing.T) {
	onEach(t, func(t *testing.T, b *webdriver.Browser) {
		room := newRoom(t, time.Second)
		inFirst := room.person()
		b.Open(room.url)
		webdriver.Eval[bool](b, `window.marked = true`)
		b.Until(`document.getElementById('ahead').textContent === '0'`)
		room.down.Store(true)
		b.Until(`document.getElementById('note').textContent !== ''`)
		room.down.Store(false)
		b.Until(`document.getElementById('note').textContent === ''`)
		assert.True(t, webdriver.Eval[bool](b, marked), "the page was not loaded again")
		inFirst.leave()
		b.Until(inside)
	})
}

// A browser may keep a page whole while its visitor is elsewhere.
func TestInOtherBrowsersWhoComesBackToThePageHasTheirPlace(t *testing.T) {
	onEach(t, func(t *testing.T, b *webdriver.Browser) {
		room := newLiveRoom(t, queue.FIFO, time.Second)
		inFirst := room.person()
		b.Open(room.url)
		goodbye := room.person().queue() // behind
		defer goodbye()
		elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, welcome) }))
		defer elsewhere.Close()
		b.Open(elsewhere.URL)
		b.Back()
		b.Until(`document.getElementById('ahead').textContent === '0'`)
		from := room.count()
		room.until(func() bool { return room.count() > from || room.streams() > 0 }, "it asks or listens again")
		inFirst.leave()
		b.Until(inside)
		b.Open(elsewhere.URL)
		b.Back()
		b.Until(inside)
	})
}
