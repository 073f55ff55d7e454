package left_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

func TestWhatTheOriginSaysIsLeftIsToldToThoseWhoWait(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(gatetest.LeftEnabled))
	gatetest.Leaves(f.Site)
	in := f.Full()[0]
	v := f.Waits()
	assert.Equal(t, false, v.Get("/", gatetest.AsJSON).Told("itemsLeftKnown"))
	answer := in.Get("/?left=37")
	assert.True(t, answer.In())
	assert.NotContains(t, answer.Header, "Fairdoor-Left")
	f.Pass(time.Second)
	f.Pass(time.Second)
	told := v.Get("/", gatetest.AsJSON)
	assert.Equal(t, true, told.Told("itemsLeftKnown"))
	assert.Equal(t, 37., told.Told("itemsLeft"))
	assert.Contains(t, v.Get("/").Body, `<dd id="left">37</dd>`)
	l := v.Listen("")
	assert.Equal(t, 37., l.Next("numbers").Data["itemsLeft"])
	for _, nonsense := range []string{"-1", "many", "1e3", "99999999999", "3.5", " "} {
		in.Get("/?left=" + strings.ReplaceAll(nonsense, " ", "%20"))
	}
	in.Get("/?left=36")
	f.Pass(time.Second)
	f.Pass(2 * time.Second)
	assert.Equal(t, 36., l.Next("numbers").Data["itemsLeft"])
}

func TestARoomThatDoesNotWantToHearWhatIsLeftDoesNot(t *testing.T) {
	f := gatetest.Start(t)
	gatetest.Leaves(f.Site)
	in := f.Full()[0]
	v := f.Waits()
	assert.NotContains(t, in.Get("/?left=37").Header, "Fairdoor-Left")
	f.Pass(time.Second)
	f.Pass(time.Second)
	assert.Equal(t, false, v.Get("/", gatetest.AsJSON).Told("itemsLeftKnown"))
}

// The gates share a store, and sync once a second, as they do with Redis.
func TestEveryWaiterIsToldWithinTwoSecondsThatEverythingIsSoldOut(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	shared := func(_ *proxy.Config, o *proxy.Options) { o.Store, o.Clock, o.SyncInterval = store, nil, time.Second }
	a := gatetest.Start(t, gatetest.Room(gatetest.LeftEnabled), gatetest.Settings(gatetest.Closes), shared)
	b := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) { *c = a.Config }, shared)
	gatetest.Leaves(a.Site)
	in := a.Visitor()
	require.True(t, in.Get("/").In())
	var streams []*gatetest.Listener
	for range 3 {
		for _, f := range []*gatetest.Fixture{a, b} {
			v := f.Visitor()
			a.Soon(func() bool { return !v.Get("/").In() })
			l := v.Listen("")
			l.Next("place")
			streams = append(streams, l)
		}
	}
	said := time.Now()
	require.True(t, in.Get("/?left=0").In())
	for _, l := range streams {
		l.Next("closed")
	}
	assert.Less(t, time.Since(said), 2*time.Second)
	for _, f := range []*gatetest.Fixture{a, b} {
		late := f.Visitor().Get("/", gatetest.AsJSON)
		assert.Equal(t, true, late.Told("soldOut"))
		assert.Equal(t, 0., late.Told("refreshIntervalSeconds"))
		assert.Empty(t, late.SetCookies())
		assert.Contains(t, f.Visitor().Get("/").Body, "Everything is sold out")
	}
	assert.True(t, in.Get("/").In(), "those who are in stay")
	require.Equal(t, http.StatusOK, a.Patch(`{"on_sold_out": "keep"}`).Status)
	b.Soon(func() bool { return b.Visitor().Get("/", gatetest.AsJSON).Told("soldOut") == false })
}

// slowly has the site answer the path /slow only when it is told to, and says when it has been
// asked.
func slowly(s *gatetest.Site) (asked <-chan struct{}, answer chan<- string) {
	arrived, say := make(chan struct{}, 1), make(chan string, 1)
	s.Will(func(w http.ResponseWriter, r *http.Request) {
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
func soldOut(f *gatetest.Fixture) bool {
	f.T.Helper()
	f.Pass(time.Second)
	f.Pass(time.Second)
	return f.Visitor().Get("/", gatetest.AsJSON).Told("soldOut") == true
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
			f := gatetest.Start(t, gatetest.Room(gatetest.LeftEnabled), gatetest.Settings(gatetest.Closes))
			asked, answer := slowly(f.Site)
			in := f.Full()[0]
			done := make(chan struct{})
			twin := in.Twin()
			go func() {
				defer close(done)
				assert.True(t, twin.Get("/slow").In())
			}()
			<-asked
			f.Clock.Add(time.Second)
			require.True(t, in.Get("/?left="+c.fast).In())
			f.Clock.Add(time.Second)
			answer <- c.slow
			<-done
			assert.Equal(t, c.soldOut, soldOut(f))
		})
	}
}

func TestWhatWasLeftBeforeDoesNotCloseARoomThatIsSetToClose(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(gatetest.LeftEnabled), gatetest.Settings(gatetest.Closes))
	gatetest.Leaves(f.Site)
	in := f.Full()[0]
	require.True(t, in.Get("/?left=0").In())
	require.True(t, soldOut(f))
	for range 2 {
		require.Equal(t, http.StatusOK, f.Patch(`{"on_sold_out": "keep"}`).Status)
		require.False(t, soldOut(f))
		require.Equal(t, http.StatusOK, f.Patch(`{"on_sold_out": null}`).Status)
		require.False(t, soldOut(f), "the origin has not said so since")
		require.Equal(t, http.StatusOK, f.Patch(`{"total_active_users": 7}`).Status)
		require.True(t, in.Get("/?left=0").In())
		require.True(t, soldOut(f))
	}
}

func TestEveryWaiterIsToldWhatThereIsToBuy(t *testing.T) {
	listed, err := queue.ParseItems([]byte(`[{"name": "Standing", "price": "49 €", "left": 120}, {"name": "Seat", "price": "89 €", "left": 3}]`))
	require.NoError(t, err)
	f := gatetest.Start(t, gatetest.Room(gatetest.LeftEnabled), gatetest.Settings(func(s *queue.Settings) { s.Items, s.OnSoldOut = listed, queue.CloseToAll }))
	f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Fairdoor-Items", r.URL.Query().Get("items"))
		_, _ = w.Write([]byte("in"))
	})
	says := func(v *gatetest.Visitor, items string) {
		answer := v.Get("/?items=" + url.QueryEscape(items))
		require.True(t, answer.In())
		assert.NotContains(t, answer.Header, "Fairdoor-Items")
		f.Pass(time.Second)
		f.Pass(2 * time.Second)
	}
	in := f.Full()[0]
	v := f.Waits()
	l := v.Listen("")
	row := func(name, price string, left any, soldOut bool) any {
		return map[string]any{"name": name, "price": price, "left": left, "soldOut": soldOut}
	}
	assert.Equal(t, []any{row("Standing", "49 €", 120., false), row("Seat", "89 €", 3., false)}, v.Get("/", gatetest.AsJSON).Told("items"))
	says(in, `[{"name": "Standing", "left": 0}, {"name": "Parking \u20ac", "left": 5}]`)
	told := v.Get("/", gatetest.AsJSON)
	assert.Equal(t, []any{row("Standing", "49 €", 0., true), row("Seat", "89 €", 3., false), row("Parking €", "", 5., false)}, told.Told("items"))
	assert.Equal(t, 8., told.Told("itemsLeft"), "which is the sum")
	page := v.Get("/").Body
	assert.Contains(t, page, `<div><dt><bdi>Standing</bdi> · <bdi>49 €</bdi></dt><dd>sold out</dd></div>`)
	assert.Contains(t, page, `<div><dt><bdi>Seat</bdi> · <bdi>89 €</bdi></dt><dd>Left: 3</dd></div>`)
	assert.Contains(t, page, `<div><dt><bdi>Parking €</bdi></dt><dd>Left: 5</dd></div>`)
	f.Soon(func() bool { return len(l.Next("numbers").Data["items"].([]any)) == 3 })
	for _, nonsense := range []string{`[{"name": "Programme"}]`, `[{"name": 3}]`, `{}`, `many`} {
		says(in, nonsense)
	}
	require.Equal(t, http.StatusUnprocessableEntity, f.Patch(`{"items": [{"name": "Seat", "price": 3}]}`).Status)
	require.Equal(t, http.StatusOK, f.Patch(`{"items": [{"name": "Seat", "price": "99 €", "left": 2}]}`).Status)
	assert.Equal(t, []any{row("Seat", "99 €", 2., false), row("Standing", "", 0., true), row("Parking €", "", 5., false)}, f.Visitor().Get("/", gatetest.AsJSON).Told("items"))
	assert.Equal(t, false, f.Visitor().Get("/", gatetest.AsJSON).Told("soldOut"))
	says(in, `[{"name": "Standing", "left": 0}, {"name": "Seat", "left": 0}]`)
	assert.Equal(t, true, f.Visitor().Get("/", gatetest.AsJSON).Told("soldOut"), "where nothing is left of any item the room closes")
	says(in, `[]`)
	assert.Equal(t, []any{row("Seat", "99 €", 2., false)}, f.Visitor().Get("/", gatetest.AsJSON).Told("items"), "what the origin had said is taken back")
	assert.Equal(t, false, f.Visitor().Get("/", gatetest.AsJSON).Told("soldOut"))
}
