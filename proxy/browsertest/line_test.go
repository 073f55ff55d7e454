package browsertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anteroom-gate/anteroom/proxy/browsertest"
	"github.com/anteroom-gate/anteroom/queue"
)

func TestInAnExactLineAVisitorSeesTheirNumberFallAndGetsIn(t *testing.T) {
	t.Parallel()
	// Nothing but events can tell anything in time.
	room := newLiveRoom(t, queue.Line, 5*time.Minute)
	inFirst := room.person()
	first, second := room.person(), room.person()
	tab := browser.Visitor(t)
	tab.Look(browsertest.Light, 1280, 800)
	tab.Open(room.url)
	mark(tab)
	tab.Until(place + ` === '3rd of 3'`)
	tab.RequireAccessible()
	tab.Screenshot("page-line-third")
	room.person()
	tab.Until(place + ` === '3rd of 4'`)

	t.Log("one who is ahead leaves")
	first.ask("POST", "/.anteroom/leave")
	tab.Until(`/^(2nd|about 2) of 3$/.test(` + place + `)`)
	tab.Look(browsertest.Light, 390, 844)
	tab.RequireAccessible()
	tab.Screenshot("page-line-second-phone")

	t.Log("the next one gets in, and out again")
	inFirst.leave()
	second.ask("GET", "/")
	tab.Until(`/^(1st|about 1) of 2$/.test(` + place + `)`)
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	left := time.Now()
	second.leave()
	tab.Until(inside)
	assert.Less(t, time.Since(left), 10*time.Second)
	require.Zero(t, room.count(), "no check-in but the stream's")
}

func TestInFifoAVisitorSeesTheirPlaceFallAndGetsInByEvents(t *testing.T) {
	t.Parallel()
	room := newLiveRoom(t, queue.FIFO, 5*time.Minute)
	inFirst, ahead := room.person(), room.person()
	tab := browser.Visitor(t)
	nextBucket(t)
	tab.Open(room.url)
	mark(tab)
	tab.Until(place + ` === 'about 2 of 2'`)
	ahead.ask("POST", "/.anteroom/leave")
	tab.Until(place + ` === 'about 1 of 1'`)
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	inFirst.leave()
	tab.Until(inside)
	require.Zero(t, room.count(), "no check-in but the stream's")
}

func TestAHiddenTabIsLetInByEvents(t *testing.T) {
	t.Parallel()
	room := newLiveRoom(t, queue.Line, 5*time.Minute)
	inFirst := room.person()
	tab := browser.Visitor(t)
	tab.Open(room.url)
	tab.Until(place + ` === '1st of 1'`)
	tab.Another()
	tab.Until(`document.hidden`)
	inFirst.leave()
	tab.Until(inside)
	require.True(t, browsertest.Eval[bool](tab, `document.hidden`))
}
