package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// fine are limits by which five people are admitted in CutTime, in a room that cuts buckets.
func fine() queue.Settings {
	return queue.Settings{TotalActiveUsers: 10_000, NewUsersPerMinute: 150, SessionDuration: time.Minute}
}

// settles is when everybody is counted by the last boundary of a view, which was cut just now with so
// many people before its end: once all have made a check-in who stay.
func (n *node) settles(v *queue.View, people int) queue.Instant {
	n.Helper()
	at, settings := v.Boundaries[len(v.Boundaries)-1].Settles, v.Configuration.Settings
	least := n.now.Add(settings.Returning().Within(people))
	assert.GreaterOrEqual(n, at, least)
	assert.LessOrEqual(n, at, least.Add(n.h.Slack))
	return at
}

// arrived are so many people in the bucket that begins then, with two hours to check in.
func arrived(at queue.Instant, people int) queue.CellChange {
	return queue.CellChange{Cell: queue.Cell{Bucket: at, Until: start.Add(2 * time.Hour)}, People: people}
}

var boundaryCases = []contractCase{
	{"a bucket into which people are arriving ends once it has more than are admitted in CutTime, with an arrival bucket", func(n *node) {
		n.configure(fine())
		n.at(time.Second)
		assert.Empty(n, n.count(arrived(start, 5)).Boundaries)
		n.at(2*time.Second + queue.ArrivalTime - time.Millisecond)
		assert.Equal(n, queue.Boundaries{{At: start.Add(2 * time.Second)}}, n.count(arrived(start, 1)).Boundaries)
	}},
	{"a bucket that is over is cut into equal parts of its time", func(n *node) {
		n.configure(fine())
		n.at(time.Minute)
		v := n.count(arrived(start, 20))
		settles := n.settles(v, 20)
		part := func(i int) queue.Boundary {
			return queue.Boundary{At: start.Add(time.Duration(i) * 15 * time.Second), Settles: settles}
		}
		assert.Equal(n, queue.Boundaries{{At: start}, part(1), part(2), part(3)}, v.Boundaries)
	}},
	{"it is cut again only when everybody has checked in since", func(n *node) {
		n.configure(fine())
		n.at(time.Minute)
		parts := n.count(arrived(start, 20)).Boundaries
		back := fine().WithDefaults()
		n.pass(back.ReturnsWithin() - time.Millisecond)
		assert.Equal(n, parts, n.look().Boundaries, "they are still counted where they were")
		n.pass(time.Minute)
		assert.NotEqual(n, parts, n.look().Boundaries, "they are all in the first part")
	}},
	{"the more are ahead, the later everybody has checked in", func(n *node) {
		n.configure(fine())
		waiting := 0
		for minute, came := range []int{10, 40, 10_000} {
			n.at(time.Duration(minute+1) * time.Minute)
			v := n.count(arrived(start.Add(time.Duration(minute)*time.Minute), came))
			waiting += came
			n.settles(v, waiting)
		}
	}},
	{"the more are ahead, the more a bucket may have", func(n *node) {
		n.configure(fine())
		n.at(2*time.Minute - time.Millisecond)
		v := n.count(arrived(start, 100*queue.CutShare), arrived(start.Add(time.Minute), 100))
		assert.NotContains(n, v.Boundaries, queue.Boundary{At: n.now.Floor(queue.ArrivalTime)}, "a hundred are few behind so many")
		n.pass(queue.CutInterval + queue.ArrivalTime)
		v = n.count(arrived(start.Add(2*time.Minute), 100+100/queue.CutShare+1))
		assert.Contains(n, v.Boundaries, queue.Boundary{At: n.now.Floor(queue.ArrivalTime)})
	}},
	{"a boundary is dropped once nobody is behind it", func(n *node) {
		n.configure(fine())
		n.at(time.Minute)
		n.count(arrived(start, 20))
		n.pass(time.Hour)
		assert.Empty(n, n.count(arrived(start, -20)).Boundaries)
	}},
	{"there are at most MaxBoundaries, in order", func(n *node) {
		s := fine()
		s.NewUsersPerMinute = 1
		n.configure(s)
		for minute := range 20 {
			n.at(time.Duration(minute+1) * time.Minute)
			v := n.count(arrived(start.Add(time.Duration(minute)*time.Minute), 100_000))
			require.LessOrEqual(n, len(v.Boundaries), queue.MaxBoundaries)
			for i := range v.Boundaries[1:] {
				require.Less(n, v.Boundaries[i].At, v.Boundaries[i+1].At)
			}
		}
	}},
	{"where bucket is set, and in other methods, no bucket is cut", func(n *node) {
		set, random := fine(), fine()
		set.Bucket, random.Method = time.Minute, queue.Random
		for _, s := range []queue.Settings{set, random} {
			n.at(time.Second)
			n.configure(fine())
			n.pass(time.Minute)
			require.NotEmpty(n, n.count(arrived(n.now.Floor(time.Minute), 100)).Boundaries)
			n.configure(s)
			assert.Empty(n, n.look().Boundaries)
		}
	}},
	{"a claimant is behind those who are counted in earlier fine buckets", func(n *node) {
		n.configure(fine())
		early, late := queue.Cell{Bucket: start.Add(10 * time.Millisecond), Until: start.Add(time.Minute)}, queue.Cell{Bucket: start.Add(11 * time.Millisecond), Until: start.Add(time.Minute)}
		n.configure(limited(2))
		n.count(people(2, early), people(1, late))
		assert.Equal(n, []queue.Verdict{queue.Refused, queue.Granted}, n.verdicts(waiter(1, late), waiter(2, early)))
	}},
	{"while people wait in order, a view has how many sessions end soon", func(n *node) {
		s := ample()
		s.SessionDuration = time.Hour
		n.configure(s)
		end := func(i int, in time.Duration) queue.Session {
			return queue.Session{ID: id(i), Expires: n.now.Add(in - n.h.Slack)}
		}
		sessions := []queue.Session{end(1, time.Hour), end(2, 2*time.Second), end(3, 2*time.Second), end(4, 20*time.Second)}
		v := n.sync(queue.Report{Sessions: sessions})
		assert.Empty(n, v.Ends, "nobody waits")
		assert.Equal(n, [len(queue.EndSteps)]int{0, 2, 2, 2, 2, 2, 2, 2, 3, 3}, n.count(people(1, cell(0))).Ends)
		s.Method = queue.Random
		n.configure(s)
		assert.Empty(n, n.look().Ends, "there is no order")
	}},
}
