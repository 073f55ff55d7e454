package proxy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/queue"
)

func inBucketsOf(d time.Duration) func(*proxy.Config, *proxy.Options) {
	return settings(func(s *queue.Settings) { s.Bucket = d })
}

func TestWhoseTurnItIsInFifoIsLetInWithinASecond(t *testing.T) {
	f := start(t, inBucketsOf(time.Second), room(revokeEnabled))
	in := f.full()[0]
	var line []*listener
	var visitors []*visitor
	for range 3 {
		v := f.visitor()
		v.get("/")
		visitors = append(visitors, v)
		f.pass(time.Second)
	}
	for _, v := range []*visitor{visitors[2], visitors[0], visitors[1]} {
		l := v.listen("")
		l.next("place")
		line = append(line, l)
	}
	first, others := line[1], []*listener{line[0], line[2]}

	in.leaves()
	f.pass(0)
	first.endsWith("admitted")
	assert.True(t, visitors[0].get("/").in(), "the slot is theirs")
	for range 3 {
		f.pass(time.Second)
	}
	for _, l := range others {
		l.quiet()
	}
	assert.Equal(t, 1, f.status("shop").Active)
	assert.Equal(t, 2, f.status("shop").Queued)
}

func TestOfABucketAsManyAreCalledAsSlotsAreKeptForIt(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.TotalActiveUsers = 3 }), room(revokeEnabled))
	in := f.full()
	var line []*listener
	for range 5 {
		v := f.visitor()
		v.get("/")
		line = append(line, v.listen(""))
		f.clock.add(time.Second)
	}
	f.pass(time.Second)
	in[0].leaves()
	in[1].leaves()
	f.pass(0)
	line[0].endsWith("admitted")
	line[1].endsWith("admitted")
	for range 3 {
		f.pass(time.Second)
	}
	for _, l := range line[2:] {
		l.quiet()
	}
	assert.Equal(t, 3, f.status("shop").Active)
}

func TestNobodyIsCalledInRandom(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.Method, s.RefreshJitter = queue.Random, 0 }), room(revokeEnabled))
	in := f.full()[0]
	v := f.visitor()
	v.get("/")
	l := v.listen("")
	l.next("place")
	numbers := l.next("numbers").data
	assert.Equal(t, "random", numbers["queueingMethod"])
	assert.Contains(t, numbers, "waitTime75Percentile")
	in.leaves()
	for range 10 {
		f.pass(time.Second)
		l.quiet()
	}
	f.pass(3 * interval)
	l.endsWith("admitted")
}

func TestAllTabsOfWhoeverIsLetInAreTold(t *testing.T) {
	f := start(t, room(revokeEnabled))
	in := f.full()[0]
	v := f.visitor()
	v.get("/")
	tabs := []*listener{v.listen(""), v.listen("")}
	for _, l := range tabs {
		l.next("place")
	}
	f.pass(time.Second)
	assert.Equal(t, 1, f.status("shop").Queued, "they are one visitor")
	in.leaves()
	f.pass(0)
	for _, l := range tabs {
		l.endsWith("admitted")
	}
	assert.Equal(t, 1, f.status("shop").Active)
}

func TestWhoseTurnItIsInLineIsLetInWithinASecond(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.Method, s.TotalActiveUsers = queue.Line, 2 }), room(revokeEnabled))
	in := f.full()
	var visitors []*visitor
	for range 4 {
		v := f.visitor()
		v.get("/")
		visitors = append(visitors, v)
	}
	f.pass(2 * time.Second)
	line := make([]*listener, len(visitors))
	for i := len(visitors) - 1; i >= 0; i-- {
		line[i] = visitors[i].listen("")
		line[i].next("place")
	}
	numbers := line[3].next("numbers").data
	assert.Equal(t, map[string]any{
		"queueingMethod": "line", "usersQueued": 4., "usersPreferred": 0., "admissionsPaused": false, "isEventPrequeueing": false, "timeUntilEventStart": 0.,
		"firstWaitingNumber": 3., "lastWaitingNumber": 6., "lastUpdated": numbers["lastUpdated"],
	}, numbers)

	for i, leaves := range in {
		leaves.leaves()
		f.pass(0)
		line[i].endsWith("admitted")
		assert.True(t, visitors[i].get("/").in(), "the slot is theirs")
		f.pass(2 * time.Second)
		assert.Equal(t, float64(4+i), line[3].next("numbers").data["firstWaitingNumber"], "the others see it move")
		for _, l := range line[i+1:] {
			l.quiet()
		}
	}
	assert.Equal(t, 2, f.status("shop").Active)
	assert.Equal(t, 2, f.status("shop").Queued)
}

func TestAVisitorWithManyStreamsIsNotCalledMoreOften(t *testing.T) {
	f := start(t, settings(func(s *queue.Settings) { s.RefreshJitter = 0 }), room(revokeEnabled))
	in := f.full()[0]
	greedy, modest := f.visitor(), f.visitor()
	greedy.get("/")
	f.clock.add(time.Second)
	modest.get("/")
	var tabs []*listener
	for range 4 {
		tabs = append(tabs, greedy.listen(""))
	}
	l := modest.listen("")
	for _, tab := range append(tabs, l) {
		tab.next("place")
	}
	for range 2 {
		in.leaves()
		f.pass(0)
		if tabs != nil {
			for _, tab := range tabs {
				tab.endsWith("admitted")
			}
			tabs, in = nil, greedy
			require.True(t, greedy.get("/").in())
			f.pass(time.Second)
			l.quiet()
		}
	}
	l.endsWith("admitted")
	assert.Equal(t, 1, f.status("shop").Active)
	m := f.metrics()
	assert.Equal(t, 3., m["fairdoor_decisions_total admitted shop"].GetCounter().GetValue(), "the first, and each of the two once")
}
