package browsertest_test

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

const (
	marked  = `window.marked === true`
	updated = `document.getElementById('updated').dateTime`
	inside  = `document.body && document.body.innerText.includes('Welcome')`
)

// mark leaves a mark in the document that would not survive a reload.
func mark(tab *browsertest.Tab) {
	tab.Do(chromedp.Evaluate[chromedp.Void](`window.marked = true`))
}

func TestAVisitorSeesTheNumbersChangeAndGetsInWithoutReloading(t *testing.T) {
	t.Parallel()
	room := newRoom(t, time.Second)
	inFirst := room.person()
	goodbye := room.person().queue()
	defer goodbye()

	tab := browser.Visitor(t)
	nextBucket(t)
	tab.Open(room.url)
	mark(tab)
	tab.Until(`document.getElementById('ahead').textContent === '1'`)
	before := browsertest.Eval[string](tab, updated)
	goodbye()
	tab.Until(`document.getElementById('ahead').textContent === '0'`)
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	assert.NotEqual(t, before, browsertest.Eval[string](tab, updated))

	inFirst.leave()
	tab.Until(inside)
}

func TestAVisitorWithoutScriptGetsIn(t *testing.T) {
	t.Parallel()
	room := newRoom(t, time.Second)
	inFirst := room.person()
	tab := browser.Visitor(t)
	browsertest.Call(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	tab.Open(room.url)
	assert.Contains(t, tab.Text(), "You will be let in automatically")
	tab.Screenshot("page-without-script")
	inFirst.leave()
	tab.Until(inside)
	assert.Zero(t, room.count(), "no script has asked")
}

func TestAHiddenTabKeepsItsRhythmAndCatchesUpWhenLookedAt(t *testing.T) {
	t.Parallel()
	room := newRoom(t, 2*time.Second)
	room.person()
	tab := browser.Visitor(t)
	tab.Open(room.url)
	mark(tab)
	other := tab.Another()
	tab.Until(`document.hidden`)

	from := room.count()
	room.until(func() bool { return room.count() >= from+4 }, "it goes on checking in")
	checkIns := room.seen(from)
	for i, c := range checkIns[1:] {
		assert.Equal(t, "hidden", c.visibility)
		assert.Less(t, c.at.Sub(checkIns[i].at), 5*time.Second, "what it was told, 3 s at most, and some slack")
	}

	// A browser may stop a page in the background altogether.
	browsertest.Call(tab, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateFrozen})
	from = room.count()
	overdue := time.NewTimer(4 * time.Second)
	<-overdue.C
	require.LessOrEqual(t, room.count(), from+1, "a frozen page does not ask")
	from = room.count()
	other.Close()
	browsertest.Call(tab, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateActive})
	tab.Front()
	looked := time.Now()
	room.until(func() bool { return room.count() > from }, "it asks")
	next := room.seen(from)[0]
	assert.Equal(t, "visible", next.visibility)
	assert.Less(t, next.at.Sub(looked), 2*time.Second, "at once")
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
}

// eachKind runs a test in a room without events, with them, and with an exact line.
func eachKind(t *testing.T, test func(t *testing.T, room *room)) {
	t.Run("by check-ins", func(t *testing.T) {
		t.Parallel()
		test(t, newRoom(t, time.Minute))
	})
	for _, method := range []queue.Method{queue.FIFO, queue.Line} {
		t.Run("by events in "+method.String(), func(t *testing.T) {
			t.Parallel()
			test(t, newLiveRoom(t, method, time.Minute))
		})
	}
}

func TestWhoeverClosesTheTabIsNoLongerCounted(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, room *room) {
		room.person()
		tab := browser.Visitor(t)
		tab.Another() // so that the browser context stays when the page is closed
		tab.Open(room.url)
		room.until(func() bool { return room.queued() == 1 }, "the visitor is counted")
		tab.Close()
		room.until(func() bool { return room.queued() == 0 }, "long before their next check-in was due")
	})
}

func TestReloadingKeepsThePlace(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, room *room) {
		room.person()
		first, second := browser.Visitor(t), browser.Visitor(t)
		first.Open(room.url)
		nextBucket(t)
		second.Open(room.url)
		room.until(func() bool { return room.queued() == 2 }, "both are counted")
		for range 3 {
			mark(first)
			first.Reload()
			assert.False(t, browsertest.Eval[bool](first, marked))
			room.until(func() bool { return room.queued() == 2 }, "both are counted, once")
		}
		nextBucket(t)
		second.Reload()
		second.Until(`document.getElementById('ahead').textContent === '1'`)
		first.Reload()
		first.Until(`document.getElementById('ahead').textContent === '0'`)
	})
}

func TestAGoodbyeThatIsLongOnItsWayTakesNobodyOutWhoIsBack(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, room *room) {
		room.person()
		tab := browser.Visitor(t)
		tab.Open(room.url)
		room.until(func() bool { return room.queued() == 1 }, "the visitor is counted")
		room.goodbyes.Lock()
		from := room.count()
		tab.Reload()
		room.until(func() bool { return room.count() > from }, "the page has asked")
		before := room.count()
		room.goodbyes.Unlock()
		room.until(func() bool { return room.count() > before }, "it asks once more, long before the next check-in is due")
		room.until(func() bool { return room.queued() == 1 }, "the visitor is counted")
	})
}

func TestPausingHoldsThePageAndKeepsThePlace(t *testing.T) {
	t.Parallel()
	room := newRoom(t, time.Second)
	inFirst := room.person()
	tab := browser.Visitor(t)
	tab.Open(room.url)
	mark(tab)
	click(tab, "summary")
	click(tab, "#pause")
	before := browsertest.Eval[string](tab, updated)
	from := room.count()
	room.until(func() bool { return room.count() >= from+2 }, "the place is kept")
	assert.Equal(t, before, browsertest.Eval[string](tab, updated), "nothing moves")
	tab.RequireAccessible()

	inFirst.leave()
	tab.Until(`document.querySelector('#enter.go:not([hidden])')`)
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page waits for its visitor")
	tab.RequireAccessible()
	tab.Screenshot("page-your-turn")
	click(tab, "#enter")
	tab.Until(inside)
}

func TestThePageOutlivesALostConnection(t *testing.T) {
	t.Parallel()
	room := newRoom(t, time.Second)
	inFirst := room.person()
	tab := browser.Visitor(t)
	tab.Open(room.url)
	mark(tab)
	room.down.Store(true)
	tab.Until(`document.getElementById('note').textContent !== ''`)
	tab.RequireAccessible()
	tab.Screenshot("page-connection-lost")
	room.down.Store(false)
	tab.Until(`document.getElementById('note').textContent === ''`)
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	inFirst.leave()
	tab.Until(inside)
}
