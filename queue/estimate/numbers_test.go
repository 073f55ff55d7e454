package estimate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// start is at the beginning of a minute.
var start = queue.At(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))

func settings(total, perMinute int) queue.Settings {
	return queue.Settings{TotalActiveUsers: total, NewUsersPerMinute: perMinute, Pacing: queue.PacingMinute}.WithDefaults()
}

func TestWaitInRandomIsThatOfAQuarterHalfAndThreeQuarters(t *testing.T) {
	s := settings(1000, 1000)
	s.Method = queue.Random
	for _, c := range []struct {
		name          string
		rate          float64
		waiting       int
		p25, p50, p75 int
	}{
		// Nobody comes, so that a part p of them takes that part of the ten minutes.
		{"ten of a hundred a minute", 10, 100, 3, 5, 8},
		{"all of them in a minute", 100, 100, 1, 1, 1},
		{"more than wait", 100, 10, 1, 1, 1},
		{"half of them in a minute", 50, 100, 1, 1, 2},
		{"nobody waits", 10, 0, 1, 1, 1},
	} {
		n := &estimate.Numbers{Settings: s, Rate: c.rate, Waiting: c.waiting}
		assert.Equal(t, estimate.Wait{Known: true, Minutes: c.p50, P25: c.p25, P50: c.p50, P75: c.p75}, n.Wait(start), c.name)
	}
}

func TestWaitInFIFOIsThePeopleAheadOverTheRate(t *testing.T) {
	n := &estimate.Numbers{
		At: start.Add(150 * time.Second), Settings: settings(1000, 1000), Rate: 100, Waiting: 2500,
		Buckets: queue.Reserve(0, []queue.BucketCount{
			{Bucket: start, Waiting: 500}, {Bucket: start.Add(time.Minute), Waiting: 1000}, {Bucket: start.Add(2 * time.Minute), Waiting: 1000},
		}),
	}
	for _, c := range []struct {
		name    string
		arrived time.Duration
		ahead   int
		minutes int
	}{
		{"at the head of the first bucket", 0, 1, 1},
		{"in the middle of the first bucket", 30 * time.Second, 250, 3},
		{"in the second", 61 * time.Second, 517, 6},
		{"at the head of the last", 2 * time.Minute, 1501, 15},
		{"in the middle of the last, which is open yet", 135 * time.Second, 2000, 20},
		{"before all others", -time.Hour, 0, 1},
		{"after all others", 150 * time.Second, 2500, 25},
	} {
		ahead, known := n.Ahead(start.Add(c.arrived))
		assert.True(t, known, c.name)
		assert.Equal(t, c.ahead, ahead, c.name)
		assert.Equal(t, estimate.Wait{Known: true, Minutes: c.minutes}, n.Wait(start.Add(c.arrived)), c.name)
	}
	assert.Equal(t, estimate.Wait{Known: true, Minutes: 25}, n.LongestWait())
}

func TestWaitIsFiniteHoweverManyWait(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random} {
		s := settings(1, 1)
		s.Method = method
		n := &estimate.Numbers{At: start, Settings: s, Rate: 1e-9, Waiting: 1 << 40, Buckets: queue.Reserve(0, []queue.BucketCount{{Bucket: start - 1, Waiting: 1 << 40}})}
		assert.Equal(t, 10*365*24*60, n.Wait(start).Minutes, method.String())
	}
}

func TestPeopleAheadAreKnownInFIFOOnly(t *testing.T) {
	for method := queue.Random; method <= queue.Reject; method++ {
		s := settings(1, 1)
		s.Method = method
		_, known := (&estimate.Numbers{Settings: s, Waiting: 5}).Ahead(start)
		assert.False(t, known, method.String())
	}
}

func TestQueueingIsWhenPeopleWaitOrWouldHaveTo(t *testing.T) {
	s, pass, held := settings(1, 1), settings(1, 1), settings(1, 1)
	pass.Method, held.Method, held.QueueAll = queue.Passthrough, queue.Passthrough, true
	for _, c := range []struct {
		name string
		n    estimate.Numbers
		want bool
	}{
		{"an open room", estimate.Numbers{Settings: s, Open: 1}, false},
		{"a full room", estimate.Numbers{Settings: s}, true},
		{"an open room with people waiting", estimate.Numbers{Settings: s, Open: 1, Waiting: 1}, true},
		{"a paused room", estimate.Numbers{Settings: s, Open: 1, Paused: true}, true},
		{"passthrough", estimate.Numbers{Settings: pass}, false},
		{"passthrough with queue_all", estimate.Numbers{Settings: held}, true},
	} {
		assert.Equal(t, c.want, c.n.Queueing(), c.name)
	}
}

// An Estimator knows a room by the answers of its store alone.
func TestWhatIsToldGoesByTheStoresAnswers(t *testing.T) {
	s := settings(1000, 10)
	e := estimate.New(0)
	answer := func(at queue.Instant, waiting int) *queue.View {
		v := &queue.View{Status: queue.Status{Now: at, Factor: 1, Active: 500, Present: waiting}, Nodes: []uint64{1}}
		if waiting > 0 {
			v.Buckets = []queue.BucketCount{{Bucket: start, Waiting: waiting}}
		}
		return v
	}
	assert.Equal(t, estimate.Wait{}, e.Numbers().LongestWait(), "nothing was heard yet")

	for _, second := range []time.Duration{0, 1, 4} {
		e.Follow(answer(start.Add(second*time.Second), 25), &s, false)
	}
	n := e.Numbers()
	assert.Equal(t, 25, n.Waiting)
	assert.InDelta(t, 10, n.Rate, 1e-9)
	assert.Equal(t, estimate.Wait{Known: true, Minutes: 2}, n.LongestWait(), "ten are let in now, ten as the next minute begins, and the others a minute later")
	assert.Equal(t, 25, e.Outlook(answer(n.At, 25), &s).Before(n.At))

	e.Doubt()
	assert.Equal(t, estimate.StoreUnreachable, e.Numbers().Reason())
	assert.False(t, e.Numbers().LongestWait().Known)

	recovering := answer(n.At.Add(time.Millisecond), 25)
	recovering.Recovering = true
	e.Follow(recovering, &s, false)
	assert.Equal(t, estimate.StoreRecovering, e.Numbers().Reason(), "it answers")
	assert.False(t, e.Numbers().LongestWait().Known, "but not all have told it again who waits")
	e.Follow(answer(n.At.Add(time.Second), 25), &s, false)
	assert.True(t, e.Numbers().LongestWait().Known)
}
