package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

var inLine = gatetest.Settings(func(s *queue.Settings) { s.Method, s.LineDropout = queue.Line, time.Minute })

// places asserts what visitors are told of their places in turn.
func places(t *testing.T, visitors []*gatetest.Visitor, want ...string) {
	t.Helper()
	for i, v := range visitors {
		a := v.Get("/", gatetest.AsJSON)
		got := fmt.Sprintf("%v of %v, %v ahead", a.Told("position"), a.Told("usersQueued"), a.Told("usersAhead"))
		assert.Equal(t, want[i], got)
		assert.Equal(t, true, a.Told("positionKnown"))
		assert.Equal(t, true, a.Told("usersAheadKnown"))
		assert.EqualValues(t, i+2, a.Told("ticketNumber"), "after the one who is in")
	}
}

func TestInAnExactLineEveryoneIsToldTheirPlace(t *testing.T) {
	f := gatetest.Start(t, inLine, gatetest.Settings(func(s *queue.Settings) { s.DisableSessionRenewal = true }))
	f.Full()
	var waiting []*gatetest.Visitor
	for range 3 {
		v := f.Visitor()
		v.Get("/")
		waiting = append(waiting, v)
	}
	places(t, waiting, "1 of 3, 0 ahead", "2 of 3, 1 ahead", "3 of 3, 2 ahead")
	f.Pass(time.Second)
	waiting[0].Send(http.MethodPost, "/.fairdoor/leave", nil)
	f.Pass(2 * time.Second)
	f.Pass(2 * time.Second)
	second := waiting[1].Get("/", gatetest.AsJSON)
	assert.Equal(t, "line", second.Told("queueingMethod"))
	assert.Equal(t, true, second.Told("isLineQueue"))
	assert.Equal(t, false, second.Told("isFIFOQueue"))
	assert.EqualValues(t, 1, second.Told("position"))
	assert.EqualValues(t, 2, second.Told("usersQueued"))
	assert.EqualValues(t, 3, second.Told("ticketNumber"), "a number is kept")
	assert.EqualValues(t, 3, second.Told("firstWaitingNumber"))
	assert.EqualValues(t, 4, second.Told("lastWaitingNumber"))
	assert.Equal(t, true, second.Told("waitTimeKnown"))
	third := waiting[2].Get("/", gatetest.AsJSON)
	assert.Greater(t, third.Told("waitTime"), second.Told("waitTime"), "the wait is that of their place")
	assert.Contains(t, waiting[2].Get("/").Body, `<dd id="position">2nd of 2</dd>`)
}

func TestACustomPageTellsEveryoneTheirPlace(t *testing.T) {
	page, err := templates.Parse([]byte("{{position}}/{{usersQueued}}{{^usersAhead}} next{{/usersAhead}}"))
	require.NoError(t, err)
	f := gatetest.Start(t, inLine, gatetest.Room(func(r *proxy.RoomConfig) { r.Page = page }))
	f.Full()
	var waiting []*gatetest.Visitor
	for i, want := range []string{"1/1 next", "2/2", "3/3"} {
		v := f.Visitor()
		assert.Equal(t, want, v.Get("/").Body)
		waiting = append(waiting, v)
		require.Len(t, waiting, i+1)
	}
	for i, want := range []string{"1/3 next", "2/3", "3/3"} {
		assert.Equal(t, want, waiting[i].Get("/").Body)
	}
}

// mute is a store that can stop to answer.
type mute struct {
	queue.Store
	silent atomic.Bool
}

func (m *mute) Admit(ctx context.Context, room string, report *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	if m.silent.Load() {
		return queue.Status{}, errors.New("silent")
	}
	return m.Store.Admit(ctx, room, report, claims, grants)
}

func TestWithoutTheStoreNoPlaceIsTold(t *testing.T) {
	m := &mute{}
	f := gatetest.Start(t, inLine, func(_ *proxy.Config, o *proxy.Options) { m.Store, o.Store = o.Store, m })
	v := f.Waiter()
	f.Pass(2 * time.Second)
	m.silent.Store(true)
	a := v.Get("/", gatetest.AsJSON)
	assert.Equal(t, false, a.Told("positionKnown"))
	assert.EqualValues(t, 0, a.Told("position"))
	assert.Equal(t, false, a.Told("usersAheadKnown"))
	assert.Equal(t, false, a.Told("waitTimeKnown"))
	assert.EqualValues(t, 2, a.Told("ticketNumber"), "which is in the ticket")
	assert.EqualValues(t, 1, a.Told("usersQueued"))
}

// A stream cannot change the cookie: so it ends once its visitor has a number that the cookie does
// not have.
func TestANumberThatAStreamTellsComesIntoTheCookie(t *testing.T) {
	m := &mute{}
	f := gatetest.Start(t, inLine, func(_ *proxy.Config, o *proxy.Options) { m.Store, o.Store = o.Store, m })
	f.Full()
	m.silent.Store(true)
	v := f.Visitor()
	v.Get("/")
	l := v.Listen("")
	assert.Zero(t, l.Next("place").Data["ticketNumber"])
	m.silent.Store(false)
	f.Pass(gatetest.Interval)
	assert.EqualValues(t, 2, l.Next("place").Data["ticketNumber"])
	f.Soon(func() bool { return f.Streams() == 0 })
	v.Listen("").Next("place")
	m.silent.Store(true)
	assert.EqualValues(t, 2, v.Get("/", gatetest.AsJSON).Told("ticketNumber"))
}

func TestInFifoThePlaceIsAnEstimate(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Bucket = time.Second }))
	f.Full()
	f.Visitor().Get("/")
	f.Pass(2 * time.Second)
	a := f.Visitor().Get("/", gatetest.AsJSON)
	assert.Equal(t, false, a.Told("positionKnown"))
	assert.EqualValues(t, 2, a.Told("position"))
	assert.EqualValues(t, 1, a.Told("usersAhead"))
	assert.EqualValues(t, 2, a.Told("usersQueued"), "themselves included")
	assert.Equal(t, f.Clock.Now().Format("2006-01-02T15:04:05.000Z"), a.Told("bucketId"))
	for _, name := range []string{"ticketNumber", "firstWaitingNumber", "lastWaitingNumber"} {
		assert.EqualValues(t, 0, a.Told(name))
	}
}

func TestEachWhoWaitsIsToldTheBucketThatTheyCountIn(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line} {
		t.Run(method.String(), func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Method = method }))
			f.Full()
			v := f.Visitor()
			first := v.Get("/", gatetest.AsJSON)
			bucket, err := time.Parse(time.RFC3339, first.Told("bucketId").(string))
			require.NoError(t, err)
			arrived, err := time.Parse(time.RFC3339, first.Told("arrivedAt").(string))
			require.NoError(t, err)
			assert.False(t, bucket.After(arrived))
			assert.Less(t, arrived.Sub(bucket), time.Minute)
			f.Pass(20 * time.Second)
			assert.Equal(t, first.Told("bucketId"), v.Get("/", gatetest.AsJSON).Told("bucketId"), "it is the same at every check-in")
		})
	}
}
