package browsertest_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/left"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
)

// shopWithStock says how much is left, as the query of a request has it.
func shopWithStock(w http.ResponseWriter, q *http.Request) {
	if left := q.URL.Query().Get("left"); left != "" {
		w.Header().Set("Fairdoor-Left", left)
	}
	_, _ = io.WriteString(w, "<!doctype html><title>Shop</title><h1>Welcome</h1>")
}

// patch changes the room while it runs.
func (r *room) patch(body string) {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), http.MethodPatch, r.admin+"/api/v1/rooms/shop", strings.NewReader(body))
	require.NoError(r.t, err)
	q.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(q)
	require.NoError(r.t, err)
	defer answer.Body.Close()
	require.Equal(r.t, http.StatusOK, answer.StatusCode)
}

const heading = `document.getElementById('heading')?.textContent`

func TestThePageTellsWhatIsLeftAndWhenNothingIs(t *testing.T) {
	t.Parallel()
	room := newRoomOf(t, http.HandlerFunc(shopWithStock), func(c *proxy.RoomConfig) {
		// Nothing but events can tell anything in time.
		c.Settings.RefreshInterval, c.Settings.OnSoldOut, c.Commands = 5*time.Minute, queue.CloseToAll, append(c.Commands, left.Command)
	})
	in := room.person()
	tab := browser.Visitor(t)
	tab.Look(browsertest.Light, 390, 844)
	tab.Open(room.url)
	mark(tab)
	tab.Until(`document.getElementById('items').hidden`)
	in.ask("GET", "/?left=37")
	tab.Until(`document.getElementById('left').textContent === '37' && !document.getElementById('items').hidden`)
	tab.RequireAccessible()
	tab.Screenshot("page-left")

	said := time.Now()
	in.ask("GET", "/?left=0")
	tab.Until(heading + ` === 'Everything is sold out'`)
	assert.Less(t, time.Since(said), 2*time.Second)
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	tab.RequireAccessible()
	tab.Screenshot("page-sold-out")
}

func TestSomebodyWhoIsInIsHeldAndGoesOnByItself(t *testing.T) {
	t.Parallel()
	room := newLiveRoom(t, queue.FIFO, time.Second)
	tab := browser.Visitor(t)
	tab.Look(browsertest.Light, 390, 844)
	tab.Open(room.url)
	tab.Until(inside)
	room.patch(`{"hold_active": "now"}`)
	tab.Reload()
	tab.Until(heading + ` === 'We will be back soon'`)
	mark(tab)
	tab.RequireAccessible()
	tab.Screenshot("page-held")
	from := room.count()
	room.until(func() bool { return room.count() > from+1 }, "it checks in")
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page was not loaded again")
	room.patch(`{"hold_active": "off"}`)
	tab.Until(inside)
}

func TestAPageGoesFromThePrequeueIntoTheSite(t *testing.T) {
	t.Parallel()
	var loads atomic.Int64
	welcome := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/" {
			loads.Add(1)
		}
		_, _ = io.WriteString(w, "<!doctype html><title>Shop</title><h1>Welcome</h1>")
	})
	begins := time.Now().Add(8 * time.Second)
	room := newRoomOf(t, welcome, func(c *proxy.RoomConfig) {
		// Nothing but events can lead anybody in.
		c.Settings.RefreshInterval, c.Settings.TotalActiveUsers = 5*time.Minute, 100
		c.Events = event.List{{Name: "sale", Prequeue: begins.Add(-10 * time.Minute), Start: begins, End: begins.Add(time.Hour), Shuffle: true}}
	})
	tab := browser.Visitor(t)
	tab.Look(browsertest.Light, 390, 844)
	tab.Open(room.url)
	mark(tab)
	tab.Until(`!document.getElementById('starts').hidden && !document.getElementById('shuffled').hidden`)
	tab.Until(`/^\d seconds?$/.test(document.getElementById('wait').textContent)`)
	tab.Until(`/^Start: .*\d/.test(document.getElementById('by').textContent) && /^Start: .* · Waiting room$/.test(document.title)`)
	assert.Equal(t, "off", browsertest.Eval[string](tab, `document.getElementById('wait').getAttribute('aria-live')`), "seconds are not said aloud")
	tab.RequireAccessible()
	assert.True(t, browsertest.Eval[bool](tab, marked), "the page is not loaded again while it waits")
	require.True(t, time.Now().Before(begins), "there was time to look")
	tab.Until(inside)
	assert.WithinDuration(t, begins, time.Now(), 10*time.Second)
	assert.EqualValues(t, 1, loads.Load(), "the site is loaded once")
	assert.LessOrEqual(t, room.count(), 2, "its stream leads it in, and not check-ins")
}
