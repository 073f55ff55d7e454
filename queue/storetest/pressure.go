package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// slow syncs with nothing to report but a factor.
func (n *node) slow(factor float64) *queue.View {
	n.Helper()
	return n.sync(queue.Report{Factor: factor})
}

var pressureCases = []contractCase{
	{"slowed, a room releases its part of the allowance bit by bit, also if nobody waits", func(n *node) {
		n.configure(paced(60, queue.PacingMinute))
		v := n.slow(.5)
		assert.Equal(n, []any{.5, 0, start.Add(2 * time.Second)}, []any{v.Factor, v.Open, v.NextOpen})
		n.at(2*time.Second - time.Millisecond)
		assert.Zero(n, n.slow(.5).Open)
		n.at(2 * time.Second)
		assert.Equal(n, 1, n.slow(.5).Open)
		assert.Equal(n, []queue.Verdict{granted, refused}, n.verdictsAt(.5, newcomer(1), newcomer(2)))
		n.at(8 * time.Second)
		assert.Equal(n, 3, n.slow(.5).Open)
	}},
	{"a lower factor takes back nothing that was released, and stops nothing", func(n *node) {
		n.configure(paced(60, queue.PacingMinute))
		n.slow(.5)
		n.at(30 * time.Second)
		assert.Equal(n, 15, n.slow(.5).Open)
		n.slow(.25)
		n.at(38 * time.Second)
		assert.Equal(n, 15, n.slow(.25).Open, "of a minute's part nobody takes more")
	}},
	{"what nobody takes is kept for a minute", func(n *node) {
		n.configure(paced(60, queue.PacingMinute))
		n.slow(.1)
		n.at(5 * time.Second)
		n.slow(.1)
		for range 5 {
			n.pass(queue.Lately)
			n.slow(.1)
		}
		n.at(2 * time.Minute)
		n.slow(.1)
		assert.Equal(n, 6, n.slow(.1).Open)
	}},
	{"slowed no more, all of the allowance is there", func(n *node) {
		n.configure(paced(60, queue.PacingMinute))
		n.slow(.5)
		n.at(10 * time.Second)
		assert.Equal(n, []queue.Verdict{granted}, n.verdictsAt(.5, newcomer(1)))
		v := n.slow(0)
		assert.Equal(n, []any{1., 59}, []any{v.Factor, v.Open})
	}},
	{"slowed or not, the limits hold", func(n *node) {
		s := paced(4, queue.PacingEven)
		n.configure(s)
		n.count(people(50, cellUntil(0, time.Hour)))
		admitted, visitor := 0, 100
		for second := range 59 {
			n.at(time.Duration(second) * time.Second)
			factor := []float64{0, .9, .99, .3}[second%4]
			visitor++
			if n.verdictsAt(factor, waiter(visitor, cellUntil(0, time.Hour)))[0] == granted {
				admitted++
			}
		}
		assert.LessOrEqual(n, admitted, 4)
		assert.LessOrEqual(n, n.look().Admitted, 4)
	}},
	{"however slowed, one visitor a minute is admitted", func(n *node) {
		n.configure(paced(3, queue.PacingMinute))
		visitor, admitted := 0, 0
		for second := range 301 {
			n.at(time.Duration(second) * time.Second)
			visitor++
			if n.verdictsAt(1e-9, newcomer(visitor))[0] == granted {
				admitted++
			}
		}
		assert.Equal(n, 5, admitted)
	}},
	{"the room goes by the lowest factor of its nodes", func(n *node) {
		n.configure(ample())
		other := n.another()
		n.slow(.5)
		assert.InDelta(n, .25, other.slow(.25).Factor, 0)
		assert.InDelta(n, .25, n.slow(.75).Factor, 0)
		assert.InDelta(n, .75, other.slow(0).Factor, 0)
	}},
	{"a node that reports no factor has no part in it", func(n *node) {
		n.configure(ample())
		other := n.another()
		n.slow(.5)
		assert.InDelta(n, .5, other.look().Factor, 0)
	}},
	{"a node's part ends some time after its last report", func(n *node) {
		n.configure(ample())
		other := n.another()
		n.slow(.5)
		other.at(queue.Lately)
		assert.InDelta(n, .5, other.look().Factor, 0)
		other.at(queue.Lately + time.Millisecond)
		assert.InDelta(n, 1, other.look().Factor, 0)
	}},
	{"a factor ends no session", func(n *node) {
		n.configure(ample())
		n.admit(newcomer(1))
		assert.Equal(n, []queue.Verdict{held, refused}, n.verdictsAt(.001, newcomer(1), newcomer(2)))
	}},
	{"in shadow, a passthrough room counts everybody", func(n *node) {
		s := limited(1)
		s.Method = queue.Passthrough
		n.configure(s)
		var crowd []queue.Claim
		for i := range 5 {
			crowd = append(crowd, newcomer(i))
		}
		assert.Equal(n, []queue.Verdict{granted, granted, granted, granted, queue.Beyond}, n.verdicts(crowd...))
		s.Shadow = true
		n.configure(s)
		n.verdicts(newcomer(5), newcomer(6))
		assert.Equal(n, 6, n.look().Active)
	}},
}

// verdictsAt are the verdicts on claims that go with a factor.
func (n *node) verdictsAt(factor float64, claims ...queue.Claim) (verdicts []queue.Verdict) {
	n.Helper()
	grants, _ := n.admitWith(n.report(queue.Report{Factor: factor}), claims...)
	for _, g := range grants {
		verdicts = append(verdicts, g.Verdict)
	}
	return verdicts
}

// marked are ample limits for a room that counts from ten newcomers a minute on.
func marked() queue.Settings {
	s := ample()
	s.QueueWhen = 10
	return s
}

// come reports so many newcomers.
func (n *node) come(newcomers int) *queue.View {
	n.Helper()
	return n.sync(queue.Report{Newcomers: newcomers})
}

// calm lets the room be open again.
func (n *node) calm() {
	n.Helper()
	assert.False(n, n.look().OpenToAll)
	n.pass(time.Minute + queue.CalmTime)
	n.look()
	n.pass(queue.CalmTime)
	assert.True(n, n.look().OpenToAll)
}

var markCases = []contractCase{
	{"a room without queue_when is never open to all", func(n *node) {
		n.configure(ample())
		n.look()
		n.pass(time.Hour)
		assert.False(n, n.look().OpenToAll)
	}},
	{"a room with queue_when counts until it has been calm for long enough", func(n *node) {
		n.configure(marked())
		assert.False(n, n.look().OpenToAll)
		n.pass(queue.CalmTime - time.Millisecond)
		assert.False(n, n.look().OpenToAll)
		n.pass(time.Millisecond)
		assert.True(n, n.look().OpenToAll)
	}},
	{"it counts from the mark on, by the newcomers of all nodes in a minute", func(n *node) {
		n.configure(marked())
		other := n.another()
		n.calm()
		other.at(n.now.Sub(start))
		assert.True(n, n.come(5).OpenToAll)
		assert.True(n, other.come(4).OpenToAll)
		assert.False(n, n.come(1).OpenToAll)
		assert.False(n, other.look().OpenToAll)
	}},
	{"those of an earlier minute do not count", func(n *node) {
		n.configure(marked())
		n.calm()
		assert.True(n, n.come(9).OpenToAll)
		n.pass(time.Minute)
		assert.True(n, n.come(9).OpenToAll)
		n.pass(50 * time.Second)
		assert.False(n, n.come(1).OpenToAll)
	}},
	{"a report that is sent again is counted once", func(n *node) {
		n.configure(marked())
		n.calm()
		p := n.report(queue.Report{Newcomers: 9})
		assert.True(n, n.send(p).OpenToAll)
		assert.True(n, n.send(p).OpenToAll)
	}},
	{"traffic between the two marks keeps it as it is", func(n *node) {
		n.configure(marked())
		n.calm()
		for range 20 {
			n.pass(time.Minute)
			assert.True(n, n.come(8).OpenToAll)
		}
		n.come(2)
		for range 20 {
			n.pass(time.Minute)
			assert.False(n, n.come(8).OpenToAll)
		}
		n.pass(time.Minute)
		n.calm()
	}},
	{"it counts while people wait", func(n *node) {
		n.configure(marked())
		n.calm()
		crowd := cellUntil(0, n.now.Sub(start)+time.Hour)
		assert.False(n, n.count(people(1, crowd)).OpenToAll)
		n.pass(2 * queue.CalmTime)
		assert.False(n, n.look().OpenToAll)
		assert.False(n, n.count(people(-1, crowd)).OpenToAll)
		n.pass(queue.CalmTime)
		assert.True(n, n.look().OpenToAll)
	}},
	{"it begins and ends at most once in the time that it has to be calm", func(n *node) {
		n.configure(marked())
		n.calm()
		began, was := n.now, true
		for i := range 300 {
			n.pass(10 * time.Second)
			v := n.come(i * i % 5)
			if v.OpenToAll && !was {
				assert.GreaterOrEqual(n, n.now.Sub(began), queue.CalmTime)
			}
			if was && !v.OpenToAll {
				began = n.now
			}
			was = v.OpenToAll
		}
	}},
}
