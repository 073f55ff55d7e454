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
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/templates"
)

var inLine = settings(func(s *queue.Settings) { s.Method, s.LineDropout = queue.Line, time.Minute })

// places asserts what visitors are told of their places in turn.
func places(t *testing.T, visitors []*visitor, want ...string) {
	t.Helper()
	for i, v := range visitors {
		a := v.get("/", asJSON)
		got := fmt.Sprintf("%v of %v, %v ahead", a.told("position"), a.told("usersQueued"), a.told("usersAhead"))
		assert.Equal(t, want[i], got)
		assert.Equal(t, true, a.told("positionKnown"))
		assert.Equal(t, true, a.told("usersAheadKnown"))
		assert.EqualValues(t, i+2, a.told("ticketNumber"), "after the one who is in")
	}
}

func TestInAnExactLineEveryoneIsToldTheirPlace(t *testing.T) {
	f := start(t, inLine, settings(func(s *queue.Settings) { s.DisableSessionRenewal = true }))
	f.full()
	var waiting []*visitor
	for range 3 {
		v := f.visitor()
		v.get("/")
		waiting = append(waiting, v)
	}
	places(t, waiting, "1 of 3, 0 ahead", "2 of 3, 1 ahead", "3 of 3, 2 ahead")
	f.pass(time.Second)
	waiting[0].send(http.MethodPost, "/.fairdoor/leave", nil)
	f.pass(2 * time.Second)
	f.pass(2 * time.Second)
	second := waiting[1].get("/", asJSON)
	assert.Equal(t, "line", second.told("queueingMethod"))
	assert.Equal(t, true, second.told("isLineQueue"))
	assert.Equal(t, false, second.told("isFIFOQueue"))
	assert.EqualValues(t, 1, second.told("position"))
	assert.EqualValues(t, 2, second.told("usersQueued"))
	assert.EqualValues(t, 3, second.told("ticketNumber"), "a number is kept")
	assert.EqualValues(t, 3, second.told("firstWaitingNumber"))
	assert.EqualValues(t, 4, second.told("lastWaitingNumber"))
	assert.Equal(t, true, second.told("waitTimeKnown"))
	third := waiting[2].get("/", asJSON)
	assert.Greater(t, third.told("waitTime"), second.told("waitTime"), "the wait is that of their place")
	assert.Contains(t, waiting[2].get("/").body, `<dd id="position">2nd of 2</dd>`)
}

func TestACustomPageTellsEveryoneTheirPlace(t *testing.T) {
	page, err := templates.Parse([]byte("{{position}}/{{usersQueued}}{{^usersAhead}} next{{/usersAhead}}"))
	require.NoError(t, err)
	f := start(t, inLine, room(func(r *proxy.RoomConfig) { r.Page = page }))
	f.full()
	var waiting []*visitor
	for i, want := range []string{"1/1 next", "2/2", "3/3"} {
		v := f.visitor()
		assert.Equal(t, want, v.get("/").body)
		waiting = append(waiting, v)
		require.Len(t, waiting, i+1)
	}
	for i, want := range []string{"1/3 next", "2/3", "3/3"} {
		assert.Equal(t, want, waiting[i].get("/").body)
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
	f := start(t, inLine, func(_ *proxy.Config, o *proxy.Options) { m.Store, o.Store = o.Store, m })
	v := f.waiter()
	f.pass(2 * time.Second)
	m.silent.Store(true)
	a := v.get("/", asJSON)
	assert.Equal(t, false, a.told("positionKnown"))
	assert.EqualValues(t, 0, a.told("position"))
	assert.Equal(t, false, a.told("usersAheadKnown"))
	assert.Equal(t, false, a.told("waitTimeKnown"))
	assert.EqualValues(t, 2, a.told("ticketNumber"), "which is in the ticket")
	assert.EqualValues(t, 1, a.told("usersQueued"))
}

// A stream cannot change the cookie: so it ends once its visitor has a number that the cookie does not have.
func TestANumberThatAStreamTellsComesIntoTheCookie(t *testing.T) {
	m := &mute{}
	f := start(t, inLine, func(_ *proxy.Config, o *proxy.Options) { m.Store, o.Store = o.Store, m })
	f.full()
	m.silent.Store(true)
	v := f.visitor()
	v.get("/")
	l := v.listen("")
	assert.Zero(t, l.next("place").data["ticketNumber"])
	m.silent.Store(false)
	f.pass(interval)
	assert.EqualValues(t, 2, l.next("place").data["ticketNumber"])
	f.soon(func() bool { return f.streams() == 0 })
	v.listen("").next("place")
	m.silent.Store(true)
	assert.EqualValues(t, 2, v.get("/", asJSON).told("ticketNumber"))
}

func TestInFifoThePlaceIsAnEstimate(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.Bucket = time.Second }))
	f.full()
	f.visitor().get("/")
	f.pass(2 * time.Second)
	a := f.visitor().get("/", asJSON)
	assert.Equal(t, false, a.told("positionKnown"))
	assert.EqualValues(t, 2, a.told("position"))
	assert.EqualValues(t, 1, a.told("usersAhead"))
	assert.EqualValues(t, 2, a.told("usersQueued"), "themselves included")
	assert.Equal(t, f.clock.Now().Format("2006-01-02T15:04:05.000Z"), a.told("bucketId"))
	for _, name := range []string{"ticketNumber", "firstWaitingNumber", "lastWaitingNumber"} {
		assert.EqualValues(t, 0, a.told(name))
	}
}

func TestEachWhoWaitsIsToldTheBucketThatTheyCountIn(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line} {
		t.Run(method.String(), func(t *testing.T) {
			f := start(t, settings(func(s *queue.Settings) { s.Method = method }))
			f.full()
			v := f.visitor()
			first := v.get("/", asJSON)
			bucket, err := time.Parse(time.RFC3339, first.told("bucketId").(string))
			require.NoError(t, err)
			arrived, err := time.Parse(time.RFC3339, first.told("arrivedAt").(string))
			require.NoError(t, err)
			assert.False(t, bucket.After(arrived))
			assert.Less(t, arrived.Sub(bucket), time.Minute)
			f.pass(20 * time.Second)
			assert.Equal(t, first.told("bucketId"), v.get("/", asJSON).told("bucketId"), "it is the same at every check-in")
		})
	}
}
