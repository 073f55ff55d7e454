package proxy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func inBucketsOf(d time.Duration) func(*proxy.Config, *proxy.Options) {
	return gatetest.Settings(func(s *queue.Settings) { s.Bucket = d })
}

func TestWhoseTurnItIsInFifoIsLetInWithinASecond(t *testing.T) {
	f := gatetest.Start(t, inBucketsOf(time.Second), gatetest.Room(gatetest.RevokeEnabled))
	in := f.Full()[0]
	var line []*gatetest.Listener
	var visitors []*gatetest.Visitor
	for range 3 {
		v := f.Visitor()
		v.Get("/")
		visitors = append(visitors, v)
		f.Pass(time.Second)
	}
	for _, v := range []*gatetest.Visitor{visitors[2], visitors[0], visitors[1]} {
		l := v.Listen("")
		l.Next("place")
		line = append(line, l)
	}
	first, others := line[1], []*gatetest.Listener{line[0], line[2]}

	in.Leaves()
	f.Pass(0)
	first.EndsWith("admitted")
	assert.True(t, visitors[0].Get("/").In(), "the slot is theirs")
	for range 3 {
		f.Pass(time.Second)
	}
	for _, l := range others {
		l.Quiet()
	}
	assert.Equal(t, 1, f.Status("shop").Active)
	assert.Equal(t, 2, f.Status("shop").Queued)
}

func TestOfABucketAsManyAreCalledAsSlotsAreKeptForIt(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.TotalActiveUsers = 3 }), gatetest.Room(gatetest.RevokeEnabled))
	in := f.Full()
	var line []*gatetest.Listener
	for range 5 {
		v := f.Visitor()
		v.Get("/")
		line = append(line, v.Listen(""))
		f.Clock.Add(time.Second)
	}
	f.Pass(time.Second)
	in[0].Leaves()
	in[1].Leaves()
	f.Pass(0)
	line[0].EndsWith("admitted")
	line[1].EndsWith("admitted")
	for range 3 {
		f.Pass(time.Second)
	}
	for _, l := range line[2:] {
		l.Quiet()
	}
	assert.Equal(t, 3, f.Status("shop").Active)
}

func TestNobodyIsCalledInRandom(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Method, s.RefreshJitter = queue.Random, 0 }), gatetest.Room(gatetest.RevokeEnabled))
	in := f.Full()[0]
	v := f.Visitor()
	v.Get("/")
	l := v.Listen("")
	l.Next("place")
	numbers := l.Next("numbers").Data
	assert.Equal(t, "random", numbers["queueingMethod"])
	assert.Contains(t, numbers, "waitTime75Percentile")
	in.Leaves()
	for range 10 {
		f.Pass(time.Second)
		l.Quiet()
	}
	f.Pass(3 * gatetest.Interval)
	l.EndsWith("admitted")
}

func TestAllTabsOfWhoeverIsLetInAreTold(t *testing.T) {
	f := gatetest.Start(t, gatetest.Room(gatetest.RevokeEnabled))
	in := f.Full()[0]
	v := f.Visitor()
	v.Get("/")
	tabs := []*gatetest.Listener{v.Listen(""), v.Listen("")}
	for _, l := range tabs {
		l.Next("place")
	}
	f.Pass(time.Second)
	assert.Equal(t, 1, f.Status("shop").Queued, "they are one visitor")
	in.Leaves()
	f.Pass(0)
	for _, l := range tabs {
		l.EndsWith("admitted")
	}
	assert.Equal(t, 1, f.Status("shop").Active)
}

func TestWhoseTurnItIsInLineIsLetInWithinASecond(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Method, s.TotalActiveUsers = queue.Line, 2 }), gatetest.Room(gatetest.RevokeEnabled))
	in := f.Full()
	var visitors []*gatetest.Visitor
	for range 4 {
		v := f.Visitor()
		v.Get("/")
		visitors = append(visitors, v)
	}
	f.Pass(2 * time.Second)
	line := make([]*gatetest.Listener, len(visitors))
	for i := len(visitors) - 1; i >= 0; i-- {
		line[i] = visitors[i].Listen("")
		line[i].Next("place")
	}
	numbers := line[3].Next("numbers").Data
	assert.Equal(t, map[string]any{
		"queueingMethod": "line", "usersQueued": 4., "usersPreferred": 0., "admissionsPaused": false, "isEventPrequeueing": false, "timeUntilEventStart": 0.,
		"firstWaitingNumber": 3., "lastWaitingNumber": 6., "lastUpdated": numbers["lastUpdated"],
	}, numbers)

	for i, leaves := range in {
		leaves.Leaves()
		f.Pass(0)
		line[i].EndsWith("admitted")
		assert.True(t, visitors[i].Get("/").In(), "the slot is theirs")
		f.Pass(2 * time.Second)
		assert.Equal(t, float64(4+i), line[3].Next("numbers").Data["firstWaitingNumber"], "the others see it move")
		for _, l := range line[i+1:] {
			l.Quiet()
		}
	}
	assert.Equal(t, 2, f.Status("shop").Active)
	assert.Equal(t, 2, f.Status("shop").Queued)
}

func TestAVisitorWithManyStreamsIsNotCalledMoreOften(t *testing.T) {
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.RefreshJitter = 0 }), gatetest.Room(gatetest.RevokeEnabled))
	in := f.Full()[0]
	greedy, modest := f.Visitor(), f.Visitor()
	greedy.Get("/")
	f.Clock.Add(time.Second)
	modest.Get("/")
	var tabs []*gatetest.Listener
	for range 4 {
		tabs = append(tabs, greedy.Listen(""))
	}
	l := modest.Listen("")
	for _, tab := range append(tabs, l) {
		tab.Next("place")
	}
	for range 2 {
		in.Leaves()
		f.Pass(0)
		if tabs != nil {
			for _, tab := range tabs {
				tab.EndsWith("admitted")
			}
			tabs, in = nil, greedy
			require.True(t, greedy.Get("/").In())
			f.Pass(time.Second)
			l.Quiet()
		}
	}
	l.EndsWith("admitted")
	assert.Equal(t, 1, f.Status("shop").Active)
	m := f.Families()
	assert.Equal(t, 3., m["fairdoor_decisions_total admitted shop"].GetCounter().GetValue(), "the first, and each of the two once")
}
