package storetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// stays reports that visitor i may stay until d after start.
func (n *node) stays(i int, d time.Duration) *queue.View {
	n.Helper()
	return n.sync(queue.Report{Sessions: []queue.Session{{ID: id(i), Expires: start.Add(d)}}})
}

// revoke reports that visitor i's session was ended, and that their tickets are
// void until d after start.
func (n *node) revoke(i int, d time.Duration) *queue.View {
	n.Helper()
	return n.sync(queue.Report{Revoked: []queue.Session{{ID: id(i), Expires: start.Add(d)}}})
}

var sessionCases = []contractCase{
	{"a session holds its slot until it ends, and frees it then", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(1))
		n.at(time.Minute - time.Millisecond)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(2)))
		n.at(time.Minute + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
	}},
	{"a reported session is renewed and holds its slot for longer", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(1))
		n.at(30 * time.Second)
		assert.Equal(n, 1, n.stays(1, 90*time.Second).Active)
		n.at(90*time.Second - time.Millisecond)
		assert.Equal(n, []queue.Verdict{refused, held}, n.verdicts(newcomer(2), newcomer(1)))
		n.at(90*time.Second + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
	}},
	{"a report that comes with claims renews before they are decided", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(1))
		n.at(time.Minute - 100*time.Millisecond)
		n.look()
		n.at(time.Minute - time.Millisecond)
		p := n.report(queue.Report{Sessions: []queue.Session{{ID: id(1), Expires: start.Add(2 * time.Minute)}}})
		grants, _ := n.admitWith(p, newcomer(2))
		assert.Equal(n, refused, grants[0].Verdict)
	}},
	{"a claim renews the slot that it finds, where it says so, and a later report is not waited for", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(1))
		n.at(time.Minute - time.Second)
		assert.Equal(n, []queue.Verdict{held}, n.verdicts(newcomer(1)))
		n.at(time.Minute - time.Millisecond)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(2)))
		renewing := newcomer(1)
		renewing.Renew = true
		grants, _ := n.admitWith(n.report(queue.Report{}), renewing)
		assert.Equal(n, held, grants[0].Verdict)
		assert.Equal(n, start.Add(2*time.Minute-time.Millisecond), grants[0].Expires)
		n.at(2*time.Minute - 2*time.Millisecond)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(2)))
		n.at(2*time.Minute + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
	}},
	{"a report never makes a session shorter", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(1))
		n.stays(1, 10*time.Second)
		n.at(time.Minute - time.Millisecond)
		assert.Equal(n, 1, n.look().Active)
	}},
	{"a session that the store did not know counts, and is no admission of this minute", func(n *node) {
		n.configure(limited(3))
		v := n.stays(1, time.Minute)
		assert.Equal(n, 1, v.Active)
		assert.Zero(n, v.Admitted)
		assert.Equal(n, 2, v.Open)
		assert.Equal(n, []queue.Verdict{held}, n.verdicts(newcomer(1)))
	}},
	{"more sessions may be reported than there are slots, and nobody enters until they are fewer", func(n *node) {
		n.configure(limited(2))
		for i := range 3 {
			n.stays(i, time.Duration(10+i)*time.Second)
		}
		v := n.look()
		assert.Equal(n, 3, v.Active)
		assert.Zero(n, v.Open)
		n.at(10*time.Second + n.h.Slack)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(9)))
		n.at(11*time.Second + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(9)))
	}},
	{"a session that two nodes report counts once", func(n *node) {
		n.configure(ample())
		other := n.another()
		n.stays(1, time.Minute)
		assert.Equal(n, 1, other.stays(1, 2*time.Minute).Active)
	}},
	{"a report of a session that has ended changes nothing", func(n *node) {
		n.configure(ample())
		n.at(time.Minute)
		assert.Zero(n, n.stays(1, 30*time.Second).Active)
	}},
	{"a revoked session frees its slot at once, and once", func(n *node) {
		n.configure(limited(2))
		n.admit(newcomer(1), newcomer(2))
		assert.Equal(n, 1, n.revoke(1, time.Minute).Active)
		assert.Equal(n, 1, n.another().revoke(1, time.Minute).Active)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(3)))
	}},
	{"with several nodes a revoked session holds its slot until all have a view with it", func(n *node) {
		n.configure(limited(1))
		other, third := n.another(), n.another().another()
		n.admit(newcomer(1))
		from := other.look().Now
		third.sync(queue.Report{Since: from})
		n.pass(time.Second)
		v := n.revoke(1, time.Minute)
		assert.Equal(n, []any{1, 0}, []any{v.Active, v.Open}, "it still holds its slot")
		roster, err := n.h.Store.Roster(context.Background(), n.room, nil)
		require.NoError(n, err)
		assert.Empty(n, roster.Seated, "but nobody has it")
		other.sync(queue.Report{Since: from})
		assert.Equal(n, []queue.Verdict{banned, refused}, n.verdicts(newcomer(1), newcomer(2)))
		n.pass(time.Second)
		other.sync(queue.Report{Since: v.Now})
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(2)))
		assert.Equal(n, 1, n.look().Active)
		assert.Zero(n, third.sync(queue.Report{Since: v.Now}).Active)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
	}},
	{"a revoked session does not wait for a node that is silent for more than ten seconds", func(n *node) {
		n.configure(limited(1))
		n.another().look()
		n.admit(newcomer(1))
		n.revoke(1, time.Minute)
		n.pass(10 * time.Second)
		assert.Equal(n, 1, n.look().Active)
		n.pass(time.Second)
		assert.Zero(n, n.look().Active)
	}},
	{"a revoked session holds its slot no longer than it would have, whoever has not heard", func(n *node) {
		n.configure(limited(1))
		other := n.another()
		other.look()
		n.admit(newcomer(1))
		n.at(55 * time.Second)
		other.look()
		n.revoke(1, 2*time.Minute)
		n.at(time.Minute + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted, banned}, n.verdicts(newcomer(2), newcomer(1)))
	}},
	{"every view has a revoked session until its tickets have expired", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		n.revoke(1, 40*time.Second)
		want := []queue.Session{{ID: id(1), Expires: start.Add(40 * time.Second)}}
		assert.Equal(n, want, n.another().look().Revoked)
		n.at(40*time.Second - time.Millisecond)
		assert.Equal(n, want, n.look().Revoked)
		n.at(40 * time.Second)
		assert.Empty(n, n.look().Revoked)
	}},
	{"a revoked id is banned, newcomer or not, until its tickets have expired", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		n.revoke(1, 20*time.Second)
		assert.Equal(n, []queue.Verdict{banned, banned}, n.verdicts(newcomer(1), waiter(1, cell(0))))
		n.at(20 * time.Second)
		assert.Equal(n, []queue.Verdict{used}, n.verdicts(waiter(1, cell(0))), "the place stays used")
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(1)))
	}},
	{"a session that is reported after it was revoked counts no more", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		n.revoke(1, time.Minute)
		assert.Zero(n, n.another().stays(1, 30*time.Second).Active)
	}},
	{"an id may be revoked that never was in", func(n *node) {
		n.configure(ample())
		assert.Zero(n, n.revoke(1, time.Minute).Active)
		assert.Equal(n, []queue.Verdict{banned}, n.verdicts(newcomer(1)))
	}},
	{"a second revocation never makes the first shorter", func(n *node) {
		n.configure(ample())
		n.revoke(1, 30*time.Second)
		n.revoke(1, 10*time.Second)
		n.at(20 * time.Second)
		assert.Equal(n, []queue.Verdict{banned}, n.verdicts(newcomer(1)))
	}},
}
