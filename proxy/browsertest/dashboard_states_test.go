package browsertest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cookie"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/browsertest"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/event"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
)

// threeStates is a gate of three rooms: one in the shuffled prequeue of a sale, one that is slowed
// as its origin fails, and one in shadow mode. Its clock is handed in.
func threeStates(t *testing.T) (dashboard string) {
	t.Helper()
	began := time.Now().UTC().Truncate(time.Minute).Add(5 * time.Second)
	var passed atomic.Int64
	clock := func() time.Time { return began.Add(time.Duration(passed.Load())) }
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasPrefix(q.URL.Path, "/tickets") {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(site.Close)
	origin, err := url.Parse(site.URL)
	require.NoError(t, err)
	key, err := cookie.ParseKey(cookie.NewKey())
	require.NoError(t, err)
	room := func(name, path string, change func(*queue.Settings)) proxy.RoomConfig {
		s := queue.Settings{TotalActiveUsers: 40, NewUsersPerMinute: 60, SessionDuration: time.Hour}
		change(&s)
		return proxy.RoomConfig{Name: name, Routes: []route.Route{{Path: path}}, Origin: origin, Settings: s}
	}
	sale := room("winter-shop", "/shop", func(*queue.Settings) {})
	at := began.Add(8 * time.Minute)
	sale.Events = event.List{{
		Name: "winter-sale", Description: "Skis and boots", Prequeue: at.Add(-10 * time.Minute), Start: at, End: at.Add(9 * time.Hour), Shuffle: true,
		Overrides: event.Overrides{"total_active_users": []byte("800"), "new_users_per_minute": []byte("500")},
	}}
	past := record.Open(t.TempDir(), began.Add(-2*time.Hour), zap.NewNop())
	for at := began.Add(-2 * time.Hour); at.Before(began); at = at.Add(10 * time.Second) {
		minutes := int(at.Sub(began.Add(-2 * time.Hour)).Minutes())
		past.Observe(at, record.Sample{Room: "winter-shop", At: at, Known: true, Standing: record.Standing{
			Active: 10 + minutes%7, TotalActiveUsers: 40, NewUsersPerMinute: 60, Held: minutes >= 30 && minutes < 36, SoldOut: minutes >= 80 && minutes < 90,
			Event: map[bool]string{true: "winter-sale"}[minutes >= 118], Prequeue: minutes >= 118,
		}})
	}
	gate, err := proxy.New(t.Context(), proxy.Config{Keys: []cookie.Key{key}, Rooms: []proxy.RoomConfig{
		sale,
		room("tickets", "/tickets", func(s *queue.Settings) { s.AdmissionControlLatency, s.AdmissionControlErrors = time.Second, .1 }),
		room("catalogue", "/catalogue", func(s *queue.Settings) { s.Method, s.Shadow = queue.Passthrough, true }),
	}}, proxy.Options{Store: memstore.New(), Clock: clock, SyncInterval: 20 * time.Millisecond, History: past})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	front, admin := httptest.NewServer(gate), httptest.NewServer(gate.Admin())
	t.Cleanup(front.Close)
	t.Cleanup(admin.Close)
	told := func(path string) string {
		resp, err := http.Get(admin.URL + "/api/v1/rooms/" + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(text)
	}
	require.Eventually(t, func() bool { return strings.Contains(told("winter-shop/status"), "event_prequeueing") }, 20*time.Second, 20*time.Millisecond)
	for range 12 {
		for _, path := range []string{"/shop", "/tickets", "/catalogue"} {
			jar, err := cookiejar.New(nil)
			require.NoError(t, err)
			visitor := http.Client{Jar: jar}
			for range 3 {
				resp, err := visitor.Get(front.URL + path)
				require.NoError(t, err)
				resp.Body.Close()
			}
		}
	}
	// What is measured of the catalogue counts once its gate knows how many are in it.
	require.Eventually(t, func() bool { return strings.Contains(told("catalogue/proposal"), `"peakActiveUsers": 12`) }, 20*time.Second, 20*time.Millisecond)
	passed.Add(int64(pressure.Every))
	require.Eventually(t, func() bool { return strings.Contains(told("tickets/status"), `"admissionFactor": 0.5`) }, 20*time.Second, 20*time.Millisecond)
	require.Eventually(t, func() bool { return strings.Contains(told("catalogue/proposal"), `"sightings": 1`) }, 20*time.Second, 20*time.Millisecond)
	return admin.URL
}

func TestTheDashboardOfAPrequeueASlowedRoomAndShadowMode(t *testing.T) {
	t.Parallel()
	home, tab := threeStates(t), browser.Visitor(t)
	for name, width := range map[string]int64{"phone": 390, "desk": 1280} {
		for room, want := range map[string][]string{
			"winter-shop": {"Prequeue of winter-sale", "everybody new is held until it does", "held by operators"},
			"tickets":     {"Slowed", "Admissions are slowed to 30 of 60 a minute"},
			"catalogue":   {"Shadow mode", "Proposed: total_active_users"},
		} {
			tab.Look(browsertest.Light, width, 900)
			tab.Open(home + "/rooms/" + room)
			tab.Screenshot(fmt.Sprintf("dashboard-%s-%s", room, name))
			text := browsertest.Eval[string](tab, `document.body.textContent`)
			for _, words := range want {
				assert.Contains(t, text, words, "%s on a %s", room, name)
			}
			assert.Equal(t, width, browsertest.Eval[int64](tab, `document.documentElement.scrollWidth`), "%s on a %s: nothing is cut off", room, name)
			tab.RequireAccessible()
		}
	}
	tab.Open(home + "/rooms/catalogue/limits")
	tab.Screenshot("dashboard-proposal-desk")
	tab.RequireAccessible()
	proposed := browsertest.Eval[string](tab, `document.querySelector('#proposed [name=total_active_users]').value`)
	tab.Do(chromedp.Click(chromedp.CSS("#proposed button")))
	tab.Until(`document.querySelector('.answer .main')`)
	assert.Contains(t, browsertest.Eval[[]string](tab, `[...document.querySelectorAll('.then')].map(e => e.textContent)`), proposed)
	tab.Do(chromedp.Click(chromedp.CSS(".answer .main")))
	tab.Until(`document.querySelector('.done')`)
	assert.Equal(t, proposed, browsertest.Eval[string](tab, `document.getElementById('total_active_users').value`), "what is proposed is taken by one button")
}
