package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/left"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

func TestThoseWhoAreInAreHeldAtTheirNextRequest(t *testing.T) {
	f := start(t)
	v := f.full()[0]
	require.Equal(t, http.StatusOK, f.patch(`{"hold_active": "now"}`).status)
	f.site.requests()

	page := v.get("/checkout?step=2")
	assert.Equal(t, http.StatusOK, page.status)
	assert.Contains(t, page.body, "We will be back soon")
	assert.Contains(t, page.body, "url=/checkout?step=2", "it goes on by itself, without script, too")
	assert.Equal(t, "no-store", page.header.Get("Cache-Control"))
	assert.NotEmpty(t, page.header.Get("Retry-After"))
	told := v.get("/", asJSON)
	assert.Equal(t, true, told.told("isHeld"))
	assert.Equal(t, false, told.told("usersAheadKnown"))
	assert.InDelta(t, 20, told.told("refreshIntervalSeconds"), 4)

	form := v.send(http.MethodPost, "/buy", strings.NewReader("a=b"), asJSON)
	assert.Equal(t, http.StatusTooManyRequests, form.status)
	assert.Equal(t, "application/problem+json", form.header.Get("Content-Type"))
	assert.Equal(t, http.StatusServiceUnavailable, v.get("/style.css", with("Sec-Fetch-Dest", "style")).status)
	assert.Equal(t, http.StatusServiceUnavailable, v.get("/next", with("Sec-Purpose", "prefetch")).status)
	assert.Equal(t, http.StatusNoContent, v.get("/.fairdoor/events").status)
	assert.Contains(t, v.get("/.fairdoor/session", asJSON).body, `"isHeld": true`)
	assert.False(t, f.visitor().get("/").in())
	assert.Empty(t, f.site.requests(), "the site is left alone")

	f.pass(time.Hour)
	assert.False(t, v.get("/").in())
	require.Equal(t, http.StatusOK, f.patch(`{"hold_active": "off"}`).status)
	f.pass(time.Second)
	assert.True(t, v.get("/").in(), "they have their slot again")
	assert.Equal(t, 1, f.status("shop").Active)
}

// leaves has the site say how much is left at each request, as the path says it.
func leaves(s *site) {
	s.will(func(w http.ResponseWriter, r *http.Request) {
		if left := r.URL.Query().Get("left"); left != "" {
			w.Header().Set("Fairdoor-Left", left)
		}
		_, _ = w.Write([]byte("in"))
	})
}

func leftEnabled(r *proxy.RoomConfig) { r.Commands = append(r.Commands, left.Command) }

func TestWhatTheOriginSaysIsLeftIsToldToThoseWhoWait(t *testing.T) {
	f := start(t, room(leftEnabled))
	leaves(f.site)
	in := f.full()[0]
	v := f.waits()
	assert.Equal(t, false, v.get("/", asJSON).told("itemsLeftKnown"))
	answer := in.get("/?left=37")
	assert.True(t, answer.in())
	assert.NotContains(t, answer.header, "Fairdoor-Left")
	f.pass(time.Second)
	f.pass(time.Second)
	told := v.get("/", asJSON)
	assert.Equal(t, true, told.told("itemsLeftKnown"))
	assert.Equal(t, 37., told.told("itemsLeft"))
	assert.Contains(t, v.get("/").body, `<dd id="left">37</dd>`)
	l := v.listen("")
	assert.Equal(t, 37., l.next("numbers").data["itemsLeft"])
	for _, nonsense := range []string{"-1", "many", "1e3", "99999999999", "3.5", " "} {
		in.get("/?left=" + strings.ReplaceAll(nonsense, " ", "%20"))
	}
	in.get("/?left=36")
	f.pass(time.Second)
	f.pass(2 * time.Second)
	assert.Equal(t, 36., l.next("numbers").data["itemsLeft"])
}

func TestARoomThatDoesNotWantToHearWhatIsLeftDoesNot(t *testing.T) {
	f := start(t)
	leaves(f.site)
	in := f.full()[0]
	v := f.waits()
	assert.NotContains(t, in.get("/?left=37").header, "Fairdoor-Left")
	f.pass(time.Second)
	f.pass(time.Second)
	assert.Equal(t, false, v.get("/", asJSON).told("itemsLeftKnown"))
}

func closes(s *queue.Settings) { s.OnSoldOut = queue.CloseToAll }

// The gates share a store, and sync once a second, as they do with Redis.
func TestEveryWaiterIsToldWithinTwoSecondsThatEverythingIsSoldOut(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	shared := func(_ *proxy.Config, o *proxy.Options) { o.Store, o.Clock, o.SyncInterval = store, nil, time.Second }
	a := start(t, room(leftEnabled), settings(closes), shared)
	b := start(t, func(c *proxy.Config, _ *proxy.Options) { *c = a.config }, shared)
	leaves(a.site)
	in := a.visitor()
	require.True(t, in.get("/").in())
	var streams []*listener
	for range 3 {
		for _, f := range []*fixture{a, b} {
			v := f.visitor()
			a.soon(func() bool { return !v.get("/").in() })
			l := v.listen("")
			l.next("place")
			streams = append(streams, l)
		}
	}
	said := time.Now()
	require.True(t, in.get("/?left=0").in())
	for _, l := range streams {
		l.next("closed")
	}
	assert.Less(t, time.Since(said), 2*time.Second)
	for _, f := range []*fixture{a, b} {
		late := f.visitor().get("/", asJSON)
		assert.Equal(t, true, late.told("soldOut"))
		assert.Equal(t, 0., late.told("refreshIntervalSeconds"))
		assert.Empty(t, late.setCookies())
		assert.Contains(t, f.visitor().get("/").body, "Everything is sold out")
	}
	assert.True(t, in.get("/").in(), "those who are in stay")
	require.Equal(t, http.StatusOK, a.patch(`{"on_sold_out": "keep"}`).status)
	b.soon(func() bool { return b.visitor().get("/", asJSON).told("soldOut") == false })
}

// slowly has the site answer the path /slow only when it is told to, and says when it has been asked.
func slowly(s *site) (asked <-chan struct{}, answer chan<- string) {
	arrived, say := make(chan struct{}, 1), make(chan string, 1)
	s.will(func(w http.ResponseWriter, r *http.Request) {
		left := r.URL.Query().Get("left")
		if r.URL.Path == "/slow" {
			arrived <- struct{}{}
			select {
			case left = <-say:
			case <-r.Context().Done():
			}
		}
		if left != "" {
			w.Header().Set("Fairdoor-Left", left)
		}
		_, _ = w.Write([]byte("in"))
	})
	return arrived, say
}

// soldOut reports whether newcomers are told that everything is sold out, once the gate has synced.
func (f *fixture) soldOut() bool {
	f.t.Helper()
	f.pass(time.Second)
	f.pass(time.Second)
	return f.visitor().get("/", asJSON).told("soldOut") == true
}

func TestANumberThatIsLeftIsOfTheMomentAtWhichItWasAskedFor(t *testing.T) {
	for _, c := range []struct {
		name, slow, fast string
		soldOut          bool
	}{
		{"a slow answer does not close a room that has been restocked", "0", "37", false},
		{"a slow answer does not open a room that has sold out", "1", "0", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t, room(leftEnabled), settings(closes))
			asked, answer := slowly(f.site)
			in := f.full()[0]
			done := make(chan struct{})
			twin := in.twin()
			go func() {
				defer close(done)
				assert.True(t, twin.get("/slow").in())
			}()
			<-asked
			f.clock.add(time.Second)
			require.True(t, in.get("/?left="+c.fast).in())
			f.clock.add(time.Second)
			answer <- c.slow
			<-done
			assert.Equal(t, c.soldOut, f.soldOut())
		})
	}
}

func TestWhatWasLeftBeforeDoesNotCloseARoomThatIsSetToClose(t *testing.T) {
	f := start(t, room(leftEnabled), settings(closes))
	leaves(f.site)
	in := f.full()[0]
	require.True(t, in.get("/?left=0").in())
	require.True(t, f.soldOut())
	for range 2 {
		require.Equal(t, http.StatusOK, f.patch(`{"on_sold_out": "keep"}`).status)
		require.False(t, f.soldOut())
		require.Equal(t, http.StatusOK, f.patch(`{"on_sold_out": null}`).status)
		require.False(t, f.soldOut(), "the origin has not said so since")
		require.Equal(t, http.StatusOK, f.patch(`{"total_active_users": 7}`).status)
		require.True(t, in.get("/?left=0").in())
		require.True(t, f.soldOut())
	}
}
