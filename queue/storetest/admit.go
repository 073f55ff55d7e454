package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
)

const (
	refused = queue.Refused
	granted = queue.Granted
	held    = queue.Held
	uncount = queue.Beyond
	used    = queue.Used
	banned  = queue.Banned
)

var admitCases = []contractCase{
	{"a newcomer takes a slot while nobody waits, for one session duration", func(n *node) {
		n.configure(ample())
		n.at(7 * time.Second)
		grants, status := n.admit(newcomer(1))
		want := queue.Grant{Verdict: granted, AcceptedAt: n.now, Expires: n.now.Add(time.Minute)}
		assert.Equal(n, []queue.Grant{want}, grants)
		assert.Equal(n, 1, status.Active)
		assert.Equal(n, 1, status.Admitted)
		assert.Equal(n, 999, status.Open)
	}},
	{"an id that holds a slot is held, with the session it has, and takes none", func(n *node) {
		n.configure(ample())
		first, _ := n.admit(newcomer(1))
		n.pass(10 * time.Second)
		grants, status := n.admit(newcomer(1), waiter(1, cell(0)))
		want := first[0]
		want.Verdict = held
		assert.Equal(n, []queue.Grant{want, want}, grants)
		assert.Equal(n, 1, status.Active)
		assert.Equal(n, 1, status.Admitted)
	}},
	{"a claimant who has moved is taken out of the cell that they come from, unless they are held", func(n *node) {
		n.configure(limited(1))
		moves := func(i int) queue.Claim {
			c := waiter(i, cell(1))
			c.Moved, c.LastCheckIn = cell(0), n.now
			return c
		}
		n.count(people(9, cell(0)), people(9, cell(1)))
		assert.Equal(n, []queue.Verdict{refused, refused}, n.verdicts(moves(1), moves(2)))
		assert.Equal(n, []queue.BucketCount{{Bucket: cell(0).Bucket, Waiting: 7}, {Bucket: cell(1).Bucket, Waiting: 9}}, n.look().Buckets)
		n.configure(limited(20))
		assert.Equal(n, []queue.Verdict{granted, held}, n.verdicts(moves(1), moves(1)))
		assert.Equal(n, []queue.BucketCount{{Bucket: cell(0).Bucket, Waiting: 6}, {Bucket: cell(1).Bucket, Waiting: 7}}, n.look().Buckets)
	}},
	{"a claimant who is held stays in a cell that is to be kept", func(n *node) {
		n.configure(ample())
		n.count(people(9, cell(0)))
		keeps := waiter(1, cell(0))
		keeps.KeepCell = true
		assert.Equal(n, []queue.Verdict{granted, held}, n.verdicts(keeps, keeps))
		assert.Equal(n, 8, n.look().Present)
	}},
	{"an id that holds a slot is held when none is left", func(n *node) {
		n.configure(limited(1))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(1)))
		assert.Equal(n, []queue.Verdict{refused, held}, n.verdicts(newcomer(2), newcomer(1)))
	}},
	{"an id twice in one call takes one slot", func(n *node) {
		n.configure(ample())
		grants, status := n.admit(newcomer(1), newcomer(1), newcomer(1))
		assert.Equal(n, granted, grants[0].Verdict)
		assert.Equal(n, held, grants[1].Verdict)
		assert.Equal(n, held, grants[2].Verdict)
		assert.Equal(n, 1, status.Active)
	}},
	{"an id that two nodes claim takes one slot", func(n *node) {
		n.configure(ample())
		other := n.another()
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(1)))
		assert.Equal(n, []queue.Verdict{held}, other.verdicts(newcomer(1)))
		assert.Equal(n, 1, n.look().Active)
	}},
	{"a newcomer whose session has ended is granted another", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		n.pass(time.Minute + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(1)))
		assert.Equal(n, 1, n.look().Active)
	}},
	{"a place in line is used by its admission, for as long as it could be come back to", func(n *node) {
		s := ample()
		s.QueueTicketTTL = 10 * time.Minute
		n.configure(s)
		n.count(people(1, cell(0)))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(waiter(1, cell(0))))
		for _, later := range []time.Duration{time.Minute + n.h.Slack, 5 * time.Minute, 10*time.Minute - time.Millisecond} {
			n.at(later)
			assert.Equal(n, []queue.Verdict{used}, n.verdicts(waiter(1, cellUntil(0, later+time.Minute))), "after %v", later)
		}
		assert.Zero(n, n.look().Active)
	}},
	{"the place of a session that was only reported is used", func(n *node) {
		n.configure(ample())
		n.sync(queue.Report{Sessions: []queue.Session{{ID: id(1), Expires: n.now.Add(10 * time.Second)}}})
		n.pass(10*time.Second + n.h.Slack)
		assert.Equal(n, []queue.Verdict{used}, n.verdicts(waiter(1, cell(0))))
	}},
	{"a used place holds nobody up", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(1))
		n.pass(time.Minute + n.h.Slack)
		here := cellUntil(0, 2*time.Minute)
		n.count(people(1, here))
		assert.Equal(n, []queue.Verdict{used, granted}, n.verdicts(waiter(1, here), waiter(2, here)))
	}},
	{"in random claims go as they are given, whatever their buckets", func(n *node) {
		s := limited(1)
		s.Method, s.Pacing = queue.Random, queue.PacingMinute
		n.configure(s)
		n.count(people(1, cell(-2)), people(1, cell(-1)))
		assert.Equal(n, []queue.Verdict{granted, refused}, n.verdicts(waiter(1, cell(-1)), waiter(2, cell(-2))))
	}},
	{"claims of one bucket go as they are given, whatever their windows", func(n *node) {
		n.configure(limited(2))
		late, soon := cellUntil(0, 50*time.Second), cellUntil(0, 20*time.Second)
		n.count(people(2, late), people(2, soon))
		got := n.verdicts(waiter(1, late), waiter(2, soon), waiter(3, soon), waiter(4, late))
		assert.Equal(n, []queue.Verdict{granted, granted, refused, refused}, got)
	}},
	{"a slot is kept for each who is present in an earlier bucket", func(n *node) {
		n.configure(limited(3))
		n.count(people(2, cell(-1)), people(5, cell(0)))
		assert.Equal(n, []queue.Verdict{granted, refused}, n.verdicts(waiter(1, cell(0)), waiter(2, cell(0))))
		assert.Equal(n, []queue.Verdict{granted, granted}, n.verdicts(waiter(3, cell(-1)), waiter(4, cell(-1))))
	}},
	{"those ahead count whichever node counted them", func(n *node) {
		n.configure(limited(3))
		other := n.another()
		other.count(people(2, cell(-1)))
		n.count(people(3, cell(0)))
		assert.Equal(n, []queue.Verdict{granted, refused}, n.verdicts(waiter(1, cell(0)), waiter(2, cell(0))))
	}},
	{"a report that comes with claims is counted before them", func(n *node) {
		n.configure(limited(1))
		p := n.report(queue.Report{Cells: []queue.CellChange{people(1, cell(0))}})
		grants, status := n.admitWith(p, newcomer(1))
		assert.Equal(n, refused, grants[0].Verdict)
		assert.Equal(n, 1, status.Present)
	}},
	{"a grant takes its visitor out of their cell, and no one else", func(n *node) {
		n.configure(ample())
		n.count(people(3, cell(0)), people(2, cellUntil(0, 20*time.Second)))
		_, status := n.admit(waiter(1, cell(0)))
		assert.Equal(n, 4, status.Present)
		n.at(20 * time.Second)
		assert.Equal(n, 2, n.look().Present)
	}},
	{"a visitor who holds a slot is taken out of their cell", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		n.count(people(2, cell(0)))
		_, status := n.admit(waiter(1, cell(0)))
		assert.Equal(n, 1, status.Present)
	}},
	{"a visitor who is refused stays in their cell", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(1))
		n.count(people(1, cell(0)))
		_, status := n.admit(waiter(2, cell(0)))
		assert.Equal(n, 1, status.Present)
	}},
	{"no more are let in than total_active_users", func(n *node) {
		n.configure(limited(5))
		claims := make([]queue.Claim, 20)
		for i := range claims {
			claims[i] = newcomer(i)
		}
		_, status := n.admit(claims...)
		assert.Equal(n, 5, status.Active)
		assert.Zero(n, status.Open)
	}},
	{"no more are let in than new_users_per_minute, until the next calendar minute", func(n *node) {
		s := ample()
		s.NewUsersPerMinute = 2
		n.configure(s)
		n.at(40 * time.Second)
		assert.Equal(n, []queue.Verdict{granted, granted, refused}, n.verdicts(newcomer(1), newcomer(2), newcomer(3)))
		n.at(time.Minute - time.Millisecond)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(3)))
		n.at(time.Minute)
		assert.Equal(n, []queue.Verdict{granted, granted, refused}, n.verdicts(newcomer(3), newcomer(4), newcomer(5)))
	}},
	{"a room that was never configured lets nobody in", func(n *node) {
		n.configure(ample())
		elsewhere := n.of("elsewhere")
		assert.Equal(n, []queue.Verdict{refused}, elsewhere.verdicts(newcomer(1)))
		assert.Zero(n, elsewhere.look().Open)
		assert.Zero(n, elsewhere.look().Configuration.Version)
	}},
	{"no claims are a report", func(n *node) {
		n.configure(ample())
		_, status := n.admitWith(n.report(queue.Report{Cells: []queue.CellChange{people(4, cell(0))}}))
		assert.Equal(n, 4, status.Present)
	}},
}
