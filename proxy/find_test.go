package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/admin"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// foundBy is whom a search finds.
func foundBy(f *gatetest.Fixture, q string) []admin.FoundVisitor {
	f.T.Helper()
	var found admin.FoundJSON
	require.Equal(f.T, http.StatusOK, f.API(http.MethodGet, "/api/v1/visitors?q="+q, "", &found).Status)
	return found.Visitors
}

func TestSomebodyIsFoundByTheirCodeAndLetInNext(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Line} {
		t.Run(method.String(), func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.RefreshJitter, s.Method, s.TotalActiveUsers = 0, method, 1 }))
			in := f.Full()[0]
			first := f.Waits()
			f.Pass(time.Second)
			second := f.Waits()
			code := second.Get("/", gatetest.AsJSON).Told("supportCode").(string)
			found := foundBy(f, strings.ToLower(strings.ReplaceAll(code, "-", "")))
			require.Len(t, found, 1)
			assert.Equal(t, code, found[0].SupportCode)
			assert.Equal(t, "waiting", found[0].Status)
			assert.False(t, found[0].Ahead)
			assert.Empty(t, foundBy(f, "0000-0000"))

			path := "/api/v1/rooms/shop/visitors/code:" + code
			require.Equal(t, http.StatusNoContent, f.API(http.MethodPut, path+"/ahead", "", nil).Status)
			assert.True(t, foundBy(f, code)[0].Ahead)
			f.Pass(21 * time.Second)
			require.False(t, second.Get("/").In(), "the limits hold")
			require.False(t, first.Get("/").In())
			require.True(t, in.Get("/").In())
			f.Patch(`{"total_active_users": 2}`)
			f.Pass(21 * time.Second)
			assert.False(t, first.Get("/").In())
			require.True(t, second.Get("/").In())

			found = foundBy(f, code)
			require.Len(t, found, 1)
			assert.Equal(t, "active", found[0].Status)
			assert.Equal(t, "They were let in", found[0].Story[0].Text)
			require.Equal(t, http.StatusNoContent, f.API(http.MethodDelete, path, "", nil).Status)
			assert.False(t, second.Get("/").In(), "their session has ended")
			assert.True(t, in.Get("/").In())
			assert.Equal(t, http.StatusNotFound, f.API(http.MethodPut, "/api/v1/rooms/shop/visitors/code:7F3K/ahead", "", nil).Status)
		})
	}
}

func TestSomebodyWhosePageListensIsLetInNext(t *testing.T) {
	f := gatetest.Start(t, inBucketsOf(time.Second), gatetest.Settings(func(s *queue.Settings) { s.RefreshJitter = 0 }), gatetest.Room(gatetest.RevokeEnabled))
	in := f.Full()[0]
	var listeners []*gatetest.Listener
	var waiting []*gatetest.Visitor
	for range 2 {
		waiting = append(waiting, f.Waits())
		listeners = append(listeners, waiting[len(waiting)-1].Listen(""))
		f.Pass(2 * time.Second)
	}
	path := "/api/v1/rooms/shop/visitors/code:" + waiting[1].Get("/", gatetest.AsJSON).Told("supportCode").(string) + "/ahead"
	require.Equal(t, http.StatusNoContent, f.API(http.MethodPut, path, "", nil).Status)
	for _, l := range listeners {
		l.Next("place")
	}
	for range 3 { // in which only their streams ask
		f.Pass(21 * time.Second)
		require.True(t, in.Get("/").In())
		for _, l := range listeners {
			l.Next("place")
		}
	}
	f.Pass(0)
	in.Leaves()
	f.Pass(0)
	listeners[1].EndsWith("admitted")
	assert.True(t, waiting[1].Get("/").In(), "the slot is theirs")
	assert.False(t, waiting[0].Get("/").In())
}

func TestSomebodyWhoIsGivenBackTheirPlaceWaitsAsBefore(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.RefreshJitter, s.TotalActiveUsers = 0, 1 }))
	in := f.Full()[0]
	first := f.Waits()
	for range 4 { // so that the second comes in a bucket of their own
		f.Pass(21 * time.Second)
		require.False(t, first.Get("/").In())
		require.True(t, in.Get("/").In())
	}
	second := f.Waits()
	path := "/api/v1/rooms/shop/visitors/code:" + second.Get("/", gatetest.AsJSON).Told("supportCode").(string) + "/ahead"
	for _, method := range []string{http.MethodPut, http.MethodDelete} {
		require.Equal(t, http.StatusNoContent, f.API(method, path, "", nil).Status)
		f.Pass(21 * time.Second)
		require.False(t, second.Get("/").In())
		require.False(t, first.Get("/").In())
		require.True(t, in.Get("/").In())
	}
	f.Patch(`{"total_active_users": 2}`)
	f.Pass(21 * time.Second)
	assert.False(t, second.Get("/").In())
	assert.True(t, first.Get("/").In())
}
