package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// lined are settings of a room with an exact line and so many slots. A place
// lasts for a minute without a check-in, and sessions for five.
func lined(total int) queue.Settings {
	s := with(limited(total), queue.Line)
	s.SessionDuration, s.LineDropout = 5*time.Minute, time.Minute
	return s
}

// full gives the room an exact line and a single slot, which visitor 0 holds.
func (n *node) full() {
	n.Helper()
	n.configure(lined(1))
	assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(0)))
}

// places sends claims, all of which have to be refused, and returns the places.
func (n *node) places(claims ...queue.Claim) []queue.Place {
	n.Helper()
	grants, _ := n.admit(claims...)
	places := make([]queue.Place, len(grants))
	for i, g := range grants {
		assert.Equal(n, refused, g.Verdict, "claim %d", i)
		places[i] = g.Place
	}
	return places
}

// place sends a claim that has to be refused.
func (n *node) place(c queue.Claim) queue.Place {
	n.Helper()
	return n.places(c)[0]
}

// knock has visitors join in order, whose tickets have not come back yet.
func (n *node) knock(visitors ...int) {
	n.Helper()
	for _, i := range visitors {
		assert.True(n, n.place(newcomer(i)).Joined, "visitor %d", i)
	}
}

// join has visitors join in order, and come back with their tickets.
func (n *node) join(visitors ...int) {
	n.Helper()
	n.knock(visitors...)
	for _, i := range visitors {
		n.place(waiter(i, cell(0)))
	}
}

// ids are the ids of the visitors.
func ids(visitors ...int) []queue.ID {
	list := make([]queue.ID, len(visitors))
	for i, v := range visitors {
		list[i] = id(v)
	}
	return list
}

// order is who is in line, from the first.
func (n *node) order() []queue.ID {
	n.Helper()
	n.look()
	roster := n.roster()
	list := make([]queue.ID, len(roster.Line))
	for i, w := range roster.Line {
		list[i] = w.ID
	}
	return list
}

var lineCases = []contractCase{
	{"whoever joins gets the next number and a place at the end", func(n *node) {
		n.full()
		want := []queue.Place{
			{Number: 2, Ahead: 0, Length: 1, Joined: true},
			{Number: 3, Ahead: 1, Length: 2, Joined: true},
		}
		assert.Equal(n, want, n.places(newcomer(1), newcomer(2)))
		n.pass(time.Second)
		assert.Equal(n, queue.Place{Number: 4, Ahead: 2, Length: 3, Joined: true}, n.place(newcomer(3)))
	}},
	{"a check-in finds the place it was, with those ahead counted exactly", func(n *node) {
		n.full()
		n.join(1, 2, 3)
		n.pass(20 * time.Second)
		want := []queue.Place{{Number: 2, Length: 3}, {Number: 3, Ahead: 1, Length: 3}, {Number: 4, Ahead: 2, Length: 3}}
		assert.Equal(n, want, n.places(waiter(1, cell(0)), waiter(2, cell(0)), newcomer(3)))
	}},
	{"an id twice in one call has one place", func(n *node) {
		n.full()
		got := n.places(newcomer(1), newcomer(1))
		assert.Equal(n, queue.Place{Number: 2, Length: 1}, got[1])
	}},
	{"all nodes share one line", func(n *node) {
		n.full()
		n.join(1)
		other := n.another()
		assert.Equal(n, queue.Place{Number: 3, Ahead: 1, Length: 2, Joined: true}, other.place(newcomer(2)))
		assert.Equal(n, queue.Place{Number: 2, Length: 2}, other.place(waiter(1, cell(0))))
	}},
	{"as many of the first are let in as slots are open, whoever asks first", func(n *node) {
		n.full()
		n.join(1, 2, 3)
		n.configure(lined(3))
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(waiter(3, cell(0))))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(waiter(2, cell(0))))
		assert.Equal(n, []queue.Verdict{refused, granted, refused}, n.verdicts(waiter(3, cell(0)), waiter(1, cell(0)), newcomer(4)))
		assert.Equal(n, ids(3, 4), n.order())
	}},
	{"those who are behind move up when somebody is let in", func(n *node) {
		n.full()
		n.join(1, 2, 3)
		n.configure(lined(2))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(waiter(1, cell(0))))
		assert.Equal(n, queue.Place{Number: 4, Ahead: 1, Length: 2}, n.place(waiter(3, cell(0))))
	}},
	{"a newcomer is let in if fewer wait than slots are open, and is given a number all the same", func(n *node) {
		n.full()
		n.join(1)
		n.configure(lined(3))
		grants, status := n.admit(newcomer(2), newcomer(3))
		assert.Equal(n, queue.Grant{Verdict: granted, AcceptedAt: n.now, Expires: n.now.Add(5 * time.Minute)}, grants[0])
		assert.Equal(n, queue.Place{Number: 4, Ahead: 1, Length: 2, Joined: true}, grants[1].Place)
		assert.Equal(n, 2, status.Present)
		assert.Equal(n, uint64(4), n.look().LastNumber)
	}},
	{"whoever is let in is taken out of the line and of their cell", func(n *node) {
		n.full()
		n.count(people(3, cell(0)))
		n.join(1, 2)
		n.configure(lined(2))
		_, status := n.admit(waiter(1, cell(0)))
		assert.Equal(n, 1, status.Present)
		assert.Equal(n, 2, n.look().Buckets[0].Waiting)
	}},
	{"with an exact line those present are those in it, and the cells are counted beside it", func(n *node) {
		n.full()
		n.count(people(3, cell(0)))
		n.join(1)
		v := n.look()
		assert.Equal(n, 1, v.Present)
		assert.Equal(n, []queue.BucketCount{{Bucket: start, Waiting: 3}}, v.Buckets)
		n.configure(limited(1))
		assert.Equal(n, 3, n.look().Present)
	}},
	{"a higher priority is ahead of all of a lower one, and numbers go on", func(n *node) {
		n.full()
		n.join(1)
		assert.Equal(n, queue.Place{Number: 3, Priority: 5, Length: 2, Joined: true}, n.place(queue.Claim{ID: id(2), Priority: 5}))
		assert.Equal(n, queue.Place{Number: 4, Priority: 5, Ahead: 1, Length: 3, Joined: true}, n.place(queue.Claim{ID: id(3), Priority: 5}))
		assert.Equal(n, queue.Place{Number: 5, Priority: -1, Ahead: 3, Length: 4, Joined: true}, n.place(queue.Claim{ID: id(4), Priority: -1}))
		n.join(5)
		assert.Equal(n, ids(2, 3, 1, 5, 4), n.order())
	}},
	{"a claim raises the priority of one who is found if it says so, and never lowers it", func(n *node) {
		n.full()
		n.join(1, 2)
		assert.Zero(n, n.place(queue.Claim{ID: id(2), Priority: 3}).Priority)
		assert.Equal(n, queue.Place{Number: 3, Priority: 3, Length: 2}, n.place(queue.Claim{ID: id(2), Priority: 3, Raise: true}))
		assert.Equal(n, int16(3), n.place(queue.Claim{ID: id(2), Priority: 2, Raise: true}).Priority)
	}},
	{"an operator's priority moves the place, up or down, and the number stays", func(n *node) {
		n.full()
		n.join(1, 2, 3)
		p := n.report(queue.Report{Priorities: []queue.Priority{{ID: id(3), Priority: 2}, {ID: id(1), Priority: -2}, {ID: id(99), Priority: 9}}})
		n.send(p)
		n.send(p)
		assert.Equal(n, ids(3, 2, 1), n.order())
		assert.Equal(n, queue.Place{Number: 4, Priority: 2, Length: 3}, n.place(waiter(3, cell(0))))
		n.sync(queue.Report{Priorities: []queue.Priority{{ID: id(3)}}})
		assert.Equal(n, ids(2, 3, 1), n.order())
		assert.Zero(n, n.place(newcomer(99)).Priority, "of others nothing is kept")
	}},
	{"a claim that takes no slot keeps or takes a place", func(n *node) {
		n.configure(lined(5))
		assert.Equal(n, queue.Place{Number: 1, Length: 1, Joined: true}, n.place(queue.Claim{ID: id(1), NoSlot: true}))
		assert.Equal(n, queue.Place{Number: 1, Length: 1}, n.place(queue.Claim{ID: id(1), NoSlot: true}))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(1)))
	}},
	{"a claim that takes no place takes a slot that nobody waits for, or nothing", func(n *node) {
		n.full()
		n.join(1)
		form := func(i int) queue.Claim { return queue.Claim{ID: id(i), NoPlace: true} }
		assert.Equal(n, queue.Place{}, n.place(form(2)))
		n.configure(lined(2))
		assert.Equal(n, queue.Place{}, n.place(form(2)))
		n.configure(lined(3))
		assert.Equal(n, queue.Place{}, n.place(queue.Claim{ID: id(2), NoPlace: true, NoSlot: true}))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(form(2)))
		assert.Equal(n, ids(1), n.order())
		assert.Equal(n, uint64(2), n.look().LastNumber)
		assert.Equal(n, queue.Place{Number: 2, Length: 1}, n.place(queue.Claim{ID: id(1), NoPlace: true, NoSlot: true}), "who is in line is found there")
	}},
	{"a claim for what is held takes no place", func(n *node) {
		n.full()
		assert.Equal(n, queue.Place{}, n.place(queue.Claim{ID: id(1), HeldOnly: true}))
		assert.Zero(n, n.look().Present)
		n.join(1)
		assert.Equal(n, queue.Place{}, n.place(queue.Claim{ID: id(1), HeldOnly: true}))
		assert.Equal(n, 1, n.look().Present)
	}},
	{"an id that holds a slot has no place", func(n *node) {
		n.full()
		n.join(1, 2)
		n.stays(1, time.Minute)
		assert.Equal(n, []queue.Verdict{held}, n.verdicts(waiter(1, cell(0))))
		assert.Equal(n, ids(2), n.order())
	}},
	{"an id that was revoked has no place", func(n *node) {
		n.full()
		n.join(1, 2)
		n.revoke(1, time.Minute)
		assert.Equal(n, []queue.Verdict{banned}, n.verdicts(waiter(1, cell(0))))
		assert.Equal(n, ids(2), n.order())
	}},
	{"whoever was let in before joins again, and nobody's place is used", func(n *node) {
		s := lined(1)
		s.SessionDuration = time.Minute
		n.configure(s)
		n.admit(newcomer(1))
		n.pass(time.Minute + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
		old := waiter(1, cell(0))
		old.ArrivedAt, old.LastCheckIn, old.Number = start.Add(-time.Second), start.Add(-time.Second), 1
		assert.Equal(n, queue.Place{Number: 3, Length: 1, Joined: true}, n.place(old))
	}},
	{"with queue_all places are taken and kept, and nobody is let in", func(n *node) {
		s := lined(5)
		s.QueueAll = true
		n.configure(s)
		n.join(1, 2)
		assert.Equal(n, queue.Place{Number: 2, Ahead: 1, Length: 2}, n.place(waiter(2, cell(0))))
		v := n.look()
		assert.Zero(n, v.Open)
		assert.Empty(n, v.Turns)
		n.configure(lined(1))
		assert.Equal(n, []queue.Verdict{refused, granted}, n.verdicts(waiter(2, cell(0)), waiter(1, cell(0))))
	}},
	{"sessions by connection last for the grace", func(n *node) {
		s := lined(1)
		s.Occupancy, s.LineGrace = queue.ByConnection, 9*time.Second
		n.configure(s)
		grants, _ := n.admit(newcomer(1))
		assert.Equal(n, n.now.Add(9*time.Second), grants[0].Expires)
		n.pass(9*time.Second + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
	}},
	{"the allowance is paced while people are in line", func(n *node) {
		s := with(paced(60, queue.PacingEven), queue.Line)
		s.Pacing, s.TotalActiveUsers = queue.PacingEven, 100
		n.configure(s)
		assert.Equal(n, 60, n.look().Open)
		n.place(queue.Claim{ID: id(1), NoSlot: true})
		n.place(queue.Claim{ID: id(1), NoSlot: true})
		assert.Equal(n, 1, n.look().Open)
		n.at(30 * time.Second)
		assert.Equal(n, 31, n.look().Open)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(1)))
		assert.Equal(n, 59, n.look().Open)
	}},
	{"the rate is that of minutes in which people were in line throughout", func(n *node) {
		s := lined(1)
		s.SessionDuration = 10 * time.Second
		n.configure(s)
		n.admit(newcomer(0))
		n.join(1, 2, 3, 4, 5, 6)
		next := 1
		for seconds := 20; seconds <= 120; seconds += 20 {
			n.at(time.Duration(seconds) * time.Second)
			for i := next; i <= 6; i++ {
				n.admit(waiter(i, cell(0)))
			}
			next++
		}
		v := n.look()
		assert.True(n, v.RateKnown)
		assert.InDelta(n, 3, v.Rate, 1e-9)
	}},
}
