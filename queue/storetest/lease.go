package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// leased is the claim of visitor i, who is new, for a lease of ten seconds.
func leased(i int) queue.Claim { return queue.Claim{ID: id(i), Lease: 10 * time.Second} }

// goesBack is the claim of visitor 1, who was let in at start for a lease, and goes back to
// their place.
func goesBack() queue.Claim {
	c := waiter(1, cellUntil(0, 10*time.Minute))
	c.ArrivedAt, c.LastCheckIn, c.AcceptedAt = start, start, start
	return c
}

// leaseCases are about sessions that were given for a lease.
var leaseCases = []contractCase{
	{"a session lasts as long as its lease, and no longer than any", func(n *node) {
		n.configure(limited(2))
		long := leased(2)
		long.Lease = time.Hour
		grants, _ := n.admit(leased(1), long)
		assert.Equal(n, start.Add(10*time.Second), grants[0].Expires)
		assert.Equal(n, start.Add(time.Minute), grants[1].Expires)
		n.at(10*time.Second - time.Millisecond)
		assert.Equal(n, 2, n.look().Active)
		n.at(10*time.Second + n.h.Slack)
		assert.Equal(n, 1, n.look().Active)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(3)))
	}},
	{"it is an admission like any", func(n *node) {
		s := limited(9)
		s.NewUsersPerMinute = 1
		n.configure(s)
		assert.Equal(n, []queue.Verdict{granted, refused}, n.verdicts(leased(1), leased(2)))
	}},
	{"a report makes it a whole session", func(n *node) {
		n.configure(limited(1))
		n.admit(leased(1))
		n.at(9 * time.Second)
		n.stays(1, 69*time.Second)
		n.at(69*time.Second - time.Millisecond)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(2)))
	}},
	{"so does a claim without a lease, and one with a lease does not", func(n *node) {
		n.configure(limited(2))
		n.admit(leased(1), leased(2))
		n.at(9 * time.Second)
		grants, _ := n.admit(newcomer(1), leased(2))
		assert.Equal(n, held, grants[0].Verdict)
		assert.Equal(n, start.Add(time.Minute), grants[0].Expires)
		assert.Equal(n, held, grants[1].Verdict)
		assert.Equal(n, start.Add(10*time.Second), grants[1].Expires)
	}},
	{"a claim that asks only whether the slot is held leaves it as it is", func(n *node) {
		n.configure(limited(1))
		n.admit(leased(1))
		n.at(9 * time.Second)
		grants, _ := n.admit(queue.Claim{ID: id(1), HeldOnly: true})
		assert.Equal(n, start.Add(10*time.Second), grants[0].Expires)
	}},
	{"it says when the session began that is over, of one who waited, and by which the place was used since then", func(n *node) {
		n.configure(limited(1))
		n.pass(time.Second)
		n.admit(waiter(1, cell(0)))
		admitted := n.now
		n.pass(time.Minute + n.h.Slack)
		asked := waiter(1, cell(0))
		asked.HeldOnly, asked.ArrivedAt = true, admitted
		later, newcomer := asked, asked
		later.ArrivedAt, newcomer.Cell = admitted.Add(time.Millisecond), queue.Cell{}
		grants, _ := n.admit(asked, later, newcomer)
		assert.Equal(n, queue.Grant{Verdict: used, AcceptedAt: admitted}, grants[0])
		assert.Equal(n, refused, grants[1].Verdict)
		assert.Equal(n, refused, grants[2].Verdict)
	}},
	{"where connections keep visitors in, a lease changes nothing", func(n *node) {
		s := limited(1)
		s.Occupancy, s.LineGrace = queue.ByConnection, 30*time.Second
		n.configure(s)
		n.admit(leased(1))
		n.at(15 * time.Second)
		assert.Equal(n, 1, n.look().Active)
	}},
	{"a visitor who did not come in time goes back to their place, once", func(n *node) {
		n.configure(limited(1))
		n.admit(leased(1))
		n.at(10*time.Second + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(goesBack()))
		n.at(70*time.Second + 2*n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(goesBack()))
		n.at(130*time.Second + 3*n.h.Slack)
		assert.Equal(n, []queue.Verdict{used}, n.verdicts(goesBack()))
	}},
	{"whoever goes back while the session lasts has it", func(n *node) {
		n.configure(limited(1))
		n.admit(leased(1))
		n.at(9 * time.Second)
		assert.Equal(n, []queue.Verdict{held}, n.verdicts(goesBack()))
	}},
	{"in an exact line they have the number again that they were let in with", func(n *node) {
		n.configure(lined(1))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(leased(1)))
		n.at(90 * time.Second)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
		n.knock(3)
		back := goesBack()
		back.Number = 1
		assert.Equal(n, queue.Place{Number: 1, Length: 2}, n.place(back))
		assert.Equal(n, ids(1, 3), n.order())
	}},
}
