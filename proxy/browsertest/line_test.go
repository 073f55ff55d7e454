package browsertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/queue"
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
	first.ask("POST", "/.fairdoor/leave")
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
	ahead.ask("POST", "/.fairdoor/leave")
	tab.Until(place + ` === 'about 1 of 1'`)
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	inFirst.leave()
	tab.Until(inside)
	require.Zero(t, room.count(), "no check-in but the stream's")
}

// others asks the other tabs of the room whether they hear, once they have said all
// that they had to.
const others = `new Promise(heard => {
  const channel = new BroadcastChannel('fairdoor shop');
  channel.onmessage = () => { channel.postMessage([0, 0]); channel.close(); heard(true); };
  channel.postMessage([0, 2]);
})`

func TestOnlyTheLastOfTwoTabsSaysGoodbye(t *testing.T) {
	t.Parallel()
	for name, deaf := range map[string]bool{"with events": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			room := newLiveRoom(t, queue.Line, time.Minute)
			room.deaf.Store(deaf)
			room.person()
			tab := browser.Visitor(t)
			tab.Open(room.url)
			tab.Until(place + ` === '1st of 1'`)
			tab.Another() // so that the browser context stays when the page is closed
			other := tab.Another()
			other.Open(room.url)
			other.Until(place + ` === '1st of 1'`)
			require.True(t, browsertest.Eval[bool](other, others))
			require.True(t, browsertest.Eval[bool](tab, others))
			other.Close()
			require.Equal(t, 1, room.queued())
			tab.Close()
			room.until(func() bool { return room.queued() == 0 }, "the visitor is taken for gone")
			assert.EqualValues(t, 1, room.left.Load(), "goodbyes")
		})
	}
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
