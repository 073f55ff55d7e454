package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

var reportCases = []contractCase{
	{"a view has the goodbyes since the last one, each once, even if it was sent again", func(n *node) {
		n.configure(limited(1))
		other := n.another()
		other.look()
		n.pass(time.Second)
		p := n.report(queue.Report{Left: []queue.Departure{{ID: id(1), At: start}, {ID: id(2), At: n.now}}})
		n.send(p)
		n.pass(time.Second)
		p.Now = n.now
		n.send(p)
		v := other.sync(queue.Report{Since: start})
		assert.ElementsMatch(n, ids(1, 2), v.Left)
		assert.Empty(n, other.sync(queue.Report{Since: v.Now}).Left)
		n.pass(20 * time.Second)
		n.look()
		assert.Empty(n, other.sync(queue.Report{Since: start}).Left, "only lately")
	}},
	{"a view has so many goodbyes at most, the latest", func(n *node) {
		n.configure(limited(1))
		for range 2 {
			left := make([]queue.Departure, queue.MaxLeft)
			for i := range left {
				left[i] = queue.Departure{ID: id(5000 + i), At: n.now}
			}
			n.sync(queue.Report{Left: left})
			n.pass(time.Second)
		}
		n.sync(queue.Report{Left: []queue.Departure{{ID: id(1), At: n.now}}})
		got := n.another().sync(queue.Report{Since: start}).Left
		assert.Len(n, got, queue.MaxLeft)
		assert.Contains(n, got, id(1))
	}},
	{"a room begins empty", func(n *node) {
		n.configure(ample())
		v := n.look()
		assert.Equal(n, queue.Status{Now: n.now, Open: 1000}, queue.Status{Now: v.Now, Active: v.Active, Admitted: v.Admitted, Open: v.Open, Present: v.Present})
		assert.Empty(n, v.Buckets)
		assert.Empty(n, v.Revoked)
		assert.False(n, v.RateKnown)
	}},
	{"people are counted by bucket over all nodes, oldest first, and empty buckets are left out", func(n *node) {
		n.configure(ample())
		other := n.another()
		n.count(people(3, cell(0)), people(1, cell(-2)), people(1, cell(-1)))
		v := other.count(people(2, cellUntil(0, 20*time.Second)), people(4, cell(-3)), people(-1, cell(-1)))
		assert.Equal(n, []queue.BucketCount{
			{Bucket: start.Add(-3 * time.Minute), Waiting: 4},
			{Bucket: start.Add(-2 * time.Minute), Waiting: 1},
			{Bucket: start, Waiting: 5},
		}, v.Buckets)
		assert.Equal(n, 10, v.Present)
	}},
	{"a report seen before is not counted again", func(n *node) {
		n.configure(ample())
		p := n.report(queue.Report{
			Cells:    []queue.CellChange{people(3, cell(0))},
			Sessions: []queue.Session{{ID: id(1), Expires: n.now.Add(time.Minute)}},
		})
		for range 3 {
			v := n.send(p)
			assert.Equal(n, 3, v.Present)
			assert.Equal(n, 1, v.Active)
		}
		_, status := n.admitWith(p)
		assert.Equal(n, 3, status.Present)
	}},
	{"a report that came with claims is not counted again, and its grants are held", func(n *node) {
		n.configure(ample())
		p := n.report(queue.Report{Cells: []queue.CellChange{people(3, cell(0))}})
		grants, _ := n.admitWith(p, waiter(1, cell(0)))
		require.Equal(n, granted, grants[0].Verdict)
		assert.Equal(n, 2, n.send(p).Present)
		grants, status := n.admit(newcomer(1))
		assert.Equal(n, held, grants[0].Verdict)
		assert.Equal(n, 1, status.Active)
		assert.Equal(n, 2, status.Present)
	}},
	{"an older report that comes late is not counted", func(n *node) {
		n.configure(ample())
		late := n.report(queue.Report{Cells: []queue.CellChange{people(3, cell(0))}})
		n.count(people(1, cell(0)))
		assert.Equal(n, 1, n.send(late).Present)
	}},
	{"the numbers of the reports of different nodes have nothing to do with each other", func(n *node) {
		n.configure(ample())
		other := n.another()
		n.count(people(1, cell(0)))
		assert.Equal(n, 2, other.count(people(1, cell(0))).Present)
	}},
	{"a number may be left out", func(n *node) {
		n.configure(ample())
		n.count(people(1, cell(0)))
		n.seq += 5
		assert.Equal(n, 2, n.count(people(1, cell(0))).Present)
	}},
	{"past the end of their window people count no more", func(n *node) {
		n.configure(ample())
		n.count(people(2, cellUntil(0, 20*time.Second)), people(3, cellUntil(0, 25*time.Second)))
		n.at(20*time.Second - time.Millisecond)
		assert.Equal(n, 5, n.look().Present)
		n.at(20 * time.Second)
		assert.Equal(n, []queue.BucketCount{{Bucket: start, Waiting: 3}}, n.look().Buckets)
		n.at(time.Hour)
		v := n.look()
		assert.Zero(n, v.Present)
		assert.Empty(n, v.Buckets)
	}},
	{"people who are gone hold nobody up", func(n *node) {
		n.configure(limited(1))
		n.count(people(5, cellUntil(-1, 20*time.Second)), people(1, cellUntil(0, 40*time.Second)))
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(waiter(1, cellUntil(0, 40*time.Second))))
		n.at(20 * time.Second)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(waiter(1, cellUntil(0, 40*time.Second))))
	}},
	{"what is reported of a window that has passed is past", func(n *node) {
		n.configure(ample())
		n.at(20 * time.Second)
		assert.Zero(n, n.count(people(3, cellUntil(0, 20*time.Second)), people(2, cellUntil(0, 10*time.Second))).Present)
	}},
	{"a cell never has fewer than none", func(n *node) {
		n.configure(ample())
		v := n.count(people(2, cell(0)), people(-5, cell(0)))
		assert.Zero(n, v.Present)
		assert.Equal(n, 1, n.count(people(1, cell(0))).Present)
	}},
	{"what is taken away from one cell is not taken from another", func(n *node) {
		n.configure(ample())
		n.count(people(3, cell(0)), people(3, cell(1)))
		v := n.count(people(-9, cellUntil(0, 29*time.Second)), people(-1, cell(1)))
		assert.Equal(n, []queue.BucketCount{
			{Bucket: start, Waiting: 3},
			{Bucket: start.Add(time.Minute), Waiting: 2},
		}, v.Buckets)
	}},
	{"rooms have nothing to do with each other", func(n *node) {
		n.configure(ample())
		bar := n.of("bar")
		bar.configure(limited(1))
		n.admit(newcomer(1))
		n.count(people(1, cell(0)))
		assert.Equal(n, []queue.Verdict{granted}, bar.verdicts(newcomer(1)))
		assert.Equal(n, 1, n.look().Active)
		assert.Zero(n, bar.look().Present)
	}},
	{"the clock never goes back", func(n *node) {
		s := ample()
		s.NewUsersPerMinute = 1
		n.configure(s)
		n.at(time.Minute)
		n.admit(newcomer(1))
		n.at(59 * time.Second)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(2)), "an earlier minute does not come back")
		assert.Equal(n, start.Add(time.Minute), n.look().Now)
		n.at(0)
		assert.Zero(n, n.count(people(1, cellUntil(0, time.Minute))).Present)
	}},
}
