package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// FinalReports checks when a store of several nodes gives the slot of a session on that has ended:
// once all nodes have reported that they have not renewed it, or after the slack. The Slack of the
// Harness is that of the store.
func FinalReports(t *testing.T, open func(t *testing.T) Harness) {
	t.Helper()
	for _, c := range finalCases {
		t.Run(c.name, func(t *testing.T) {
			h := open(t)
			n := newNode(t, h)
			n.configure(limited(1))
			other := n.another()
			other.ends(0)
			require.Equal(t, []queue.Verdict{granted}, n.verdicts(newcomer(1)))
			n.other = other
			c.run(n)
			require.NoError(t, h.Store.Close())
		})
	}
}

// ends has a node report that it knows the ends of sessions up to a moment after start for good.
func (n *node) ends(by time.Duration) *queue.View {
	n.Helper()
	return n.sync(queue.Report{Final: start.Add(by)})
}

// claims reports the same, and returns the verdict on the claim of visitor 2.
func (n *node) claims(by time.Duration) queue.Verdict {
	n.Helper()
	grants, _ := n.admitWith(n.report(queue.Report{Final: start.Add(by)}), newcomer(2))
	return grants[0].Verdict
}

// In each of them two nodes report, and visitor 1 has the only slot for a minute.
var finalCases = []contractCase{
	{"the slot is open once both nodes have reported the end", func(n *node) {
		n.both(time.Minute)
		assert.Equal(n, 1, n.ends(time.Minute).Active)
		assert.Equal(n, 1, n.other.ends(time.Minute).Open)
		assert.Equal(n, granted, n.claims(time.Minute))
	}},
	{"a claim brings the last report", func(n *node) {
		n.both(time.Minute)
		assert.Equal(n, refused, n.claims(time.Minute))
		assert.Equal(n, granted, n.other.claims(time.Minute))
	}},
	{"a report from before the end opens nothing", func(n *node) {
		n.both(time.Minute)
		n.ends(time.Minute)
		assert.Equal(n, 0, n.other.ends(time.Minute-time.Millisecond).Open)
	}},
	{"a renewal comes with the report that would open the slot", func(n *node) {
		n.both(time.Minute)
		n.ends(time.Minute)
		v := n.other.sync(queue.Report{Final: start.Add(time.Minute), Sessions: []queue.Session{{ID: id(1), Expires: start.Add(90 * time.Second)}}})
		assert.Equal(n, []int{1, 0}, []int{v.Active, v.Open})
	}},
	{"a node that is silent has the slack", func(n *node) {
		n.both(time.Minute)
		n.at(time.Minute + n.h.Slack - time.Millisecond)
		assert.Equal(n, refused, n.claims(time.Minute+n.h.Slack-time.Millisecond))
		n.at(time.Minute + n.h.Slack)
		assert.Equal(n, granted, n.claims(time.Minute+n.h.Slack))
	}},
	{"a node that does not know the ends has the slack", func(n *node) {
		n.both(time.Minute)
		n.other.sync(queue.Report{})
		assert.Equal(n, refused, n.claims(time.Minute))
	}},
	{"a node that is new does not know the ends", func(n *node) {
		n.both(time.Minute)
		third := n.other.another()
		third.sync(queue.Report{})
		n.ends(time.Minute)
		assert.Equal(n, 0, n.other.ends(time.Minute).Open)
		assert.Equal(n, 1, third.ends(time.Minute).Open)
	}},
	{"a node that has not reported for long is not waited for", func(n *node) {
		n.at(time.Minute - queue.Lately - time.Millisecond)
		n.other.sync(queue.Report{Final: n.now})
		n.at(time.Minute)
		assert.Equal(n, granted, n.claims(time.Minute))
	}},
	{"a report that comes again tells nothing new", func(n *node) {
		n.both(time.Minute - time.Second)
		old := n.other.report(queue.Report{Final: n.now})
		n.other.send(old)
		n.both(time.Minute)
		n.ends(time.Minute)
		again := *old
		again.Now, again.Final = n.now, n.now
		assert.Equal(n, 0, n.other.send(&again).Open)
	}},
	{"a node's clock that is ahead opens nothing before the end", func(n *node) {
		n.both(time.Minute - time.Millisecond)
		n.ends(time.Hour)
		assert.Equal(n, 0, n.other.ends(time.Hour).Open)
	}},
	{"a seat that goes by connections has the slack", func(n *node) {
		s := limited(1)
		s.Method, s.Occupancy = queue.Line, queue.ByConnection
		n.configure(s)
		lasts := s.WithDefaults().SessionLasts(n.h.Slack)
		n.stays(1, 2*time.Minute+lasts)
		n.both(2*time.Minute + lasts)
		n.ends(2*time.Minute + lasts)
		assert.Equal(n, 1, n.other.ends(2*time.Minute+lasts).Active)
	}},
	{"the next slot opens with the session's end, and then soon", func(n *node) {
		assert.Equal(n, start.Add(time.Minute), n.ends(0).NextOpen)
		n.both(time.Minute)
		assert.Equal(n, start.Add(time.Minute+queue.ReportTime), n.ends(time.Minute).NextOpen)
		n.at(time.Minute + n.h.Slack - time.Millisecond)
		assert.Equal(n, start.Add(time.Minute+n.h.Slack), n.ends(time.Minute).NextOpen)
	}},
}

// both sets the clock of both nodes. They have reported a second before.
func (n *node) both(d time.Duration) {
	if before := d - time.Second; n.now < start.Add(before) {
		n.at(before)
		n.other.now = n.now
		n.ends(before)
		n.other.ends(before)
	}
	n.at(d)
	n.other.now = n.now
}
