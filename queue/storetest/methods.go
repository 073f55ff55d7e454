package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// with returns s with another method.
func with(s queue.Settings, m queue.Method) queue.Settings {
	s.Method = m
	s.Pacing = queue.PacingMinute
	return s
}

var methodCases = []contractCase{
	{"in random nobody is ahead of who has come back", func(n *node) {
		n.configure(with(limited(1), queue.Random))
		n.count(people(5, cell(-3)), people(1, cell(0)))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(waiter(1, cell(0))))
	}},
	{"in random who has raced in vain does not race again before they are due, at whichever node", func(n *node) {
		n.configure(with(limited(1), queue.Random))
		n.admit(newcomer(1))
		here := cellUntil(0, 3*time.Minute)
		n.count(people(2, here))
		claim := func(i int) queue.Claim {
			c := waiter(i, here)
			c.Due = n.now.Add(time.Minute + n.h.Slack)
			return c
		}
		n.at(30 * time.Second)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(claim(2)))
		n.at(time.Minute + n.h.Slack)
		assert.Equal(n, 1, n.look().Open)
		assert.Equal(n, []queue.Verdict{refused}, n.another().verdicts(claim(2)))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(claim(3)))
		n.at(3 * time.Minute)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(claim(2)), "a draw lasts until the claimant is due")
	}},
	{"a claim that wants no slot gets none, whatever the method", func(n *node) {
		for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line, queue.Passthrough} {
			n.configure(with(limited(1), method))
			assert.Equal(n, []queue.Verdict{refused}, n.verdicts(queue.Claim{ID: id(1), NoSlot: true, NoPlace: true, Renew: true}), method)
			assert.Zero(n, n.look().Active)
			assert.Zero(n, n.look().Present)
		}
	}},
	{"a newcomer has everyone present ahead in random too", func(n *node) {
		n.configure(with(limited(3), queue.Random))
		n.count(people(2, cell(0)))
		assert.Equal(n, []queue.Verdict{granted, refused}, n.verdicts(newcomer(1), newcomer(2)))
	}},
	{"in passthrough everyone enters whatever the limits, counted up to a multiple and then beyond", func(n *node) {
		n.configure(with(queue.Settings{TotalActiveUsers: 5, NewUsersPerMinute: 1}, queue.Passthrough))
		n.count(people(3, cell(0)))
		counted := 0
		for i := range 100 {
			grants, status := n.admit(newcomer(i))
			switch grants[0].Verdict {
			case granted:
				counted++
				assert.Equal(n, counted, status.Active)
			case uncount:
				assert.Equal(n, counted, status.Active)
			default:
				n.Fatalf("visitor %d: verdict %d", i, grants[0].Verdict)
			}
		}
		assert.GreaterOrEqual(n, counted, 5)
		assert.Less(n, counted, 100)
		assert.Zero(n, counted%5, "a multiple of the limit")
	}},
	{"who enters beyond the count is taken out of their cell", func(n *node) {
		n.configure(with(limited(1), queue.Passthrough))
		for i := range 50 {
			n.admit(newcomer(i))
		}
		n.count(people(2, cell(0)))
		grants, status := n.admit(waiter(99, cell(0)))
		assert.Equal(n, uncount, grants[0].Verdict)
		assert.Equal(n, 1, status.Present)
	}},
	{"in reject nobody enters, and who is in stays in", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		n.configure(with(ample(), queue.Reject))
		n.count(people(1, cell(0)))
		assert.Equal(n, []queue.Verdict{held, refused, refused}, n.verdicts(newcomer(1), newcomer(2), waiter(3, cell(0))))
		assert.Zero(n, n.look().Open)
	}},
	{"with queue_all nobody new enters in any method, and who is in stays in", func(n *node) {
		for i, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line, queue.Passthrough, queue.Reject} {
			room := n.of(method.String())
			room.configure(ample())
			room.admit(newcomer(1))
			s := with(ample(), method)
			s.QueueAll = true
			room.configure(s)
			room.count(people(1, cell(0)))
			got := room.verdicts(newcomer(1), newcomer(2), waiter(3, cell(0)))
			assert.Equal(n, []queue.Verdict{held, refused, refused}, got, "method %d", i)
			assert.Zero(n, room.look().Open, "method %d", i)
			assert.Zero(n, room.look().NextOpen, "method %d", i)
		}
	}},
	{"from fifo to random and back, the order is kept", func(n *node) {
		n.configure(limited(1))
		n.count(people(2, cellUntil(-2, 10*time.Minute)), people(2, cellUntil(-1, 10*time.Minute)))
		n.configure(with(limited(1), queue.Random))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(waiter(1, cellUntil(-1, 10*time.Minute))))
		n.configure(limited(2))
		assert.Equal(n, []queue.Verdict{refused, granted},
			n.verdicts(waiter(2, cellUntil(-1, 10*time.Minute)), waiter(3, cellUntil(-2, 10*time.Minute))))
	}},
}
