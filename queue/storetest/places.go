package storetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// goodbye says that visitor i left so long after start.
func (n *node) goodbye(i int, at time.Duration) {
	n.Helper()
	n.sync(queue.Report{Left: []queue.Departure{{ID: id(i), At: start.Add(at)}}})
}

// ticket is the claim of visitor i with a ticket of that number, who arrived so
// long before start and last checked in so long before it.
func ticket(i int, number uint64, arrived, checkedIn time.Duration) queue.Claim {
	c := waiter(i, cell(0))
	c.Number, c.ArrivedAt, c.LastCheckIn = number, start.Add(-arrived), start.Add(-checkedIn)
	return c
}

func (n *node) roster(visitors ...int) *queue.Roster {
	n.Helper()
	roster, err := n.h.Store.Roster(context.Background(), n.room, ids(visitors...))
	require.NoError(n, err)
	return roster
}

// placeCases show how places in an exact line are kept, lost and found again.
var placeCases = []contractCase{
	{"a place is lost after the dropout without a check-in, and not before", func(n *node) {
		n.full()
		n.join(1, 2)
		n.at(time.Minute - time.Millisecond)
		assert.Equal(n, 2, n.look().Present)
		assert.Equal(n, queue.Place{Number: 3, Ahead: 1, Length: 2}, n.place(waiter(2, cell(0))))
		n.at(time.Minute)
		assert.Equal(n, 1, n.look().Present)
		assert.Equal(n, ids(2), n.order())
		late := waiter(1, cell(0))
		late.Number, late.ArrivedAt, late.LastCheckIn = 2, start, start
		assert.Equal(n, queue.Place{Number: 4, Ahead: 1, Length: 2, Joined: true}, n.place(late))
		n.at(2*time.Minute - time.Millisecond)
		assert.Equal(n, ids(1), n.order())
	}},
	{"whoever has lost the place holds nobody up", func(n *node) {
		n.full()
		n.join(1, 2)
		n.at(30 * time.Second)
		n.place(waiter(2, cell(0)))
		n.at(time.Minute)
		n.configure(lined(2))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(waiter(2, cell(0))))
	}},
	{"another dropout holds from the next check-in", func(n *node) {
		n.full()
		n.join(1, 2)
		s := lined(1)
		s.LineDropout = 30 * time.Second
		n.configure(s)
		n.at(10 * time.Second)
		n.place(waiter(2, cell(0)))
		n.at(40*time.Second - time.Millisecond)
		assert.Equal(n, ids(1, 2), n.order())
		n.at(40 * time.Second)
		assert.Equal(n, ids(1), n.order())
	}},
	{"many who have left are taken out in steps, and nobody is passed over meanwhile", func(n *node) {
		n.full()
		const leavers = 3000
		claims := make([]queue.Claim, leavers)
		for i := range claims {
			claims[i] = newcomer(1000 + i)
		}
		n.places(claims...)
		n.places(claims...)
		n.join(1)
		n.at(30 * time.Second)
		assert.Equal(n, leavers, n.place(waiter(1, cell(0))).Ahead)
		n.at(time.Minute)
		ahead := leavers
		for range leavers {
			p := n.place(waiter(1, cell(0)))
			assert.LessOrEqual(n, p.Ahead, ahead)
			if ahead = p.Ahead; ahead == 0 {
				break
			}
		}
		assert.Zero(n, ahead)
		assert.Equal(n, 1, n.look().Present)
	}},
	{"after a goodbye a place is kept for a moment", func(n *node) {
		n.full()
		n.join(1, 2)
		n.at(10 * time.Second)
		n.goodbye(1, 10*time.Second)
		n.at(13*time.Second - time.Millisecond)
		assert.Equal(n, ids(1, 2), n.order())
		n.at(13 * time.Second)
		assert.Equal(n, 1, n.look().Present)
		assert.Equal(n, ids(2), n.order())
	}},
	{"whoever checks in after a goodbye keeps the place", func(n *node) {
		n.full()
		n.join(1, 2)
		n.at(10 * time.Second)
		p := n.report(queue.Report{Left: []queue.Departure{{ID: id(1), At: n.now}}})
		n.send(p)
		n.pass(2 * time.Second)
		assert.Equal(n, queue.Place{Number: 2, Length: 2}, n.place(waiter(1, cell(0))))
		n.send(p)
		n.goodbye(1, 10*time.Second)
		n.pass(time.Minute - time.Millisecond)
		assert.Equal(n, ids(1), n.order())
	}},
	{"a goodbye makes no place last longer, and is for those in line", func(n *node) {
		n.full()
		n.join(1)
		n.at(58 * time.Second)
		n.goodbye(1, 58*time.Second)
		n.goodbye(9, 58*time.Second)
		n.at(time.Minute)
		assert.Zero(n, n.look().Present)
	}},
	{"a place with a priority is given up once, however often its visitor had left and come back", func(n *node) {
		n.full()
		n.place(queue.Claim{ID: id(1), Priority: -1})
		n.sync(queue.Report{Unanswered: []queue.ID{id(1)}})
		n.place(queue.Claim{ID: id(1), Priority: -1})
		assert.Equal(n, 1, n.look().Present)
		n.at(2 * time.Minute)
		assert.Zero(n, n.look().Present)
		assert.Equal(n, 1, n.place(queue.Claim{ID: id(2)}).Length)
	}},
	{"a goodbye that is reported late counts from when it was said", func(n *node) {
		n.full()
		n.join(1)
		n.at(20 * time.Second)
		assert.Zero(n, n.sync(queue.Report{Left: []queue.Departure{{ID: id(1), At: start.Add(10 * time.Second)}}}).Present)
		assert.Empty(n, n.order())
	}},
	{"a place that a store with a lost memory does not find is taken up as the ticket has it", func(n *node) {
		n.full()
		preferred := ticket(3, 57, time.Minute, time.Millisecond)
		preferred.Priority = 2
		assert.Equal(n, queue.Place{Number: 41, Length: 1}, n.place(ticket(2, 41, time.Hour, 20*time.Second)))
		assert.Equal(n, queue.Place{Number: 57, Priority: 2, Length: 2}, n.place(preferred))
		assert.Equal(n, queue.Place{Number: 40, Ahead: 1, Length: 3}, n.place(ticket(1, 40, time.Hour, 20*time.Second)))
		assert.Equal(n, queue.Place{Number: 42 + queue.LostNumbers, Ahead: 3, Length: 4, Joined: true}, n.place(newcomer(5)), "others may have been given out besides")
		assert.Equal(n, queue.Place{Number: 41, Ahead: 3, Length: 5}, n.place(ticket(4, 41, time.Hour, 20*time.Second)), "of one number by id")
		assert.Equal(n, ids(3, 1, 2, 4, 5), n.order())
	}},
	{"numbers are exact beyond those of a century at thirty thousand a second", func(n *node) {
		n.full()
		const last = 1 << 47
		assert.Equal(n, queue.Place{Number: last, Length: 1}, n.place(ticket(1, last, time.Hour, time.Second)))
		assert.Equal(n, queue.Place{Number: last - 1, Length: 2}, n.place(ticket(2, last-1, time.Hour, time.Second)))
		assert.Equal(n, queue.Place{Number: last + 1 + queue.LostNumbers, Ahead: 2, Length: 3, Joined: true}, n.place(newcomer(3)))
		assert.Equal(n, ids(2, 1, 3), n.order())
		assert.Equal(n, uint64(last+1+queue.LostNumbers), n.look().LastNumber)
	}},
	{"what is taken up is let in if its turn has come", func(n *node) {
		n.configure(lined(1))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(ticket(1, 40, time.Hour, time.Second)))
		assert.Equal(n, uint64(40+queue.LostNumbers), n.look().LastNumber)
	}},
	{"a place is taken up within the dropout after its last check-in", func(n *node) {
		n.full()
		assert.False(n, n.place(ticket(1, 40, time.Hour, time.Minute-time.Millisecond)).Joined)
		assert.True(n, n.place(ticket(2, 39, time.Hour, time.Minute)).Joined)
	}},
	{"so is one whose last check-ins the store has not heard of", func(n *node) {
		n.full()
		n.join(1, 2)
		n.at(70 * time.Second)
		assert.Empty(n, n.order())
		assert.Equal(n, queue.Place{Number: 3, Length: 1}, n.place(ticket(2, 3, 0, -44*time.Second)))
		assert.Equal(n, queue.Place{Number: 4, Ahead: 1, Length: 2, Joined: true}, n.place(ticket(1, 2, 0, -10*time.Second)), "they were away for too long")
	}},
	{"whoever comes back after a goodbye, within the dropout, is where they were, and others have moved up meanwhile", func(n *node) {
		n.full()
		n.join(1, 2, 3)
		n.at(40 * time.Second)
		n.places(waiter(1, cell(0)), waiter(2, cell(0)), waiter(3, cell(0)))
		n.sync(queue.Report{Priorities: []queue.Priority{{ID: id(2), Priority: 1}}})
		n.at(50 * time.Second)
		n.sync(queue.Report{Left: []queue.Departure{{ID: id(1), At: n.now}, {ID: id(2), At: n.now}}})
		n.at(53 * time.Second)
		assert.Zero(n, n.place(waiter(3, cell(0))).Ahead)
		n.at(90 * time.Second)
		n.place(waiter(3, cell(0)))
		n.at(110*time.Second - time.Millisecond)
		assert.Equal(n, queue.Place{Number: 3, Priority: 1, Length: 2}, n.place(ticket(2, 3, 0, -time.Second)), "their ticket may be old: their page had a stream")
		assert.Equal(n, ids(2, 3), n.order())
		n.at(110 * time.Second)
		assert.True(n, n.place(ticket(1, 2, 0, -time.Second)).Joined)
	}},
	{"a place that a goodbye was said for is used by an admission, and nothing is remembered of one who was revoked", func(n *node) {
		n.full()
		n.join(1, 2)
		n.at(10 * time.Second)
		n.goodbye(1, 10*time.Second)
		n.sync(queue.Report{
			Sessions: []queue.Session{{ID: id(1), Expires: n.now.Add(time.Second)}}, Revoked: []queue.Session{{ID: id(2), Expires: n.now.Add(time.Second)}},
			Left: []queue.Departure{{ID: id(2), At: n.now}},
		})
		assert.Equal(n, ids(1), n.order())
		n.at(20 * time.Second)
		for i := range 2 {
			assert.True(n, n.place(ticket(i+1, uint64(i+2), 0, time.Hour)).Joined)
		}
	}},
	{"a priority that is given after a goodbye holds", func(n *node) {
		n.full()
		n.join(1, 2)
		n.at(time.Second)
		n.goodbye(2, time.Second)
		n.at(5 * time.Second)
		n.sync(queue.Report{Priorities: []queue.Priority{{ID: id(2), Priority: 3}}})
		n.at(10 * time.Second)
		assert.Equal(n, queue.Place{Number: 3, Priority: 3, Length: 2}, n.place(ticket(2, 3, 0, 0)))
	}},
	{"a place that was used by an admission is not taken up", func(n *node) {
		n.full()
		n.sync(queue.Report{Sessions: []queue.Session{{ID: id(1), Expires: n.now.Add(time.Second)}}})
		n.pass(time.Second + n.h.Slack)
		assert.True(n, n.place(ticket(1, 40, time.Hour, time.Second)).Joined)
	}},
	{"numbers are higher than any that a node has heard of", func(n *node) {
		n.full()
		n.sync(queue.Report{LastNumber: 70})
		n.sync(queue.Report{LastNumber: 60})
		assert.Equal(n, uint64(71+queue.LostNumbers), n.place(newcomer(1)).Number, "and than any that others may have been given")
	}},
	{"those who waited before a room got its line come first, in order of arrival, however long ago", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(0))
		n.count(people(5, cell(-60)))
		n.pass(time.Second)
		n.configure(lined(1))
		n.join(9)
		last := ticket(4, 0, time.Millisecond, time.Millisecond)
		for _, c := range []queue.Claim{
			ticket(3, 0, 10*time.Second, time.Second), ticket(2, 0, time.Hour-2*time.Second, time.Second), last, ticket(1, 0, time.Hour-time.Second, time.Second),
		} {
			assert.False(n, n.place(c).Joined)
		}
		n.join(10)
		assert.Equal(n, ids(1, 2, 3, 4, 9, 10), n.order())
	}},
	{"a line that begins with people waiting lets nobody in before all have had the time to check in", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(0))
		n.count(people(2, cell(-1)))
		n.configure(lined(2))
		settled := n.now.Add(lined(2).WithDefaults().ReturnsWithin())
		v := n.look()
		assert.Zero(n, v.Open)
		assert.Equal(n, settled, v.NextOpen)
		later := ticket(2, 0, 10*time.Second, time.Second)
		assert.Equal(n, queue.Refused, n.verdicts(later)[0], "the first to check in need not be the first in line")
		assert.Equal(n, queue.Refused, n.verdicts(ticket(1, 0, 20*time.Second, time.Second))[0])
		assert.Equal(n, ids(1, 2), n.order())
		n.at(settled.Sub(start))
		assert.Equal(n, 1, n.look().Open)
		assert.Equal(n, []queue.Verdict{refused, granted}, n.verdicts(later, ticket(1, 0, 20*time.Second, time.Second)))
	}},
	{"whoever checked in at a node that did not know of the line yet is taken up by arrival", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(0))
		n.count(people(5, cell(0)))
		n.configure(lined(1))
		n.join(9)
		n.pass(20 * time.Second)
		assert.Equal(n, 0, n.place(ticket(1, 0, time.Minute, -time.Second)).Ahead)
		assert.True(n, n.place(ticket(2, 0, -time.Second, -time.Second)).Joined, "one who came after joins")
		assert.Equal(n, ids(1, 9, 2), n.order())
	}},
	{"so is who asked rarely before, and so comes after the dropout", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(0))
		n.count(people(5, cell(0)))
		s := lined(1).WithDefaults()
		s.QueueAll = true
		n.configure(s)
		n.pass(s.UnnumberedFor() - time.Second)
		require.Greater(n, s.UnnumberedFor(), s.LineDropout+time.Second)
		assert.False(n, n.place(ticket(1, 0, time.Minute, 500*time.Millisecond)).Joined)
		assert.True(n, n.place(ticket(2, 0, time.Minute, 2*time.Second)).Joined, "they were away for too long")
	}},
	{"with nobody present when a room gets its line, numbers go on", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(0))
		n.configure(lined(1))
		assert.Equal(n, queue.Place{Number: 1, Length: 1, Joined: true}, n.place(ticket(1, 0, time.Minute, time.Second)))
	}},
	{"places are found again in a room that gets its line back", func(n *node) {
		n.full()
		n.join(1, 2, 3)
		n.configure(limited(1))
		assert.Zero(n, n.look().Present)
		assert.Zero(n, n.look().LastNumber)
		n.at(30 * time.Second)
		n.goodbye(2, 30*time.Second)
		n.sync(queue.Report{Priorities: []queue.Priority{{ID: id(3), Priority: 1}}})
		n.at(40 * time.Second)
		n.configure(lined(1))
		assert.Equal(n, ids(3, 1), n.order())
		assert.Equal(n, queue.Place{Number: 2, Ahead: 1, Length: 2}, n.place(waiter(1, cell(0))))
		n.at(time.Minute)
		assert.Equal(n, ids(1), n.order())
	}},
	{"a view tells the numbers of the line and whose turn it is", func(n *node) {
		n.full()
		v := n.look()
		assert.Equal(n, uint64(1), v.LastNumber)
		assert.Zero(n, v.FirstNumber)
		assert.Empty(n, v.Turns)
		n.join(1, 2)
		n.place(queue.Claim{ID: id(3), Priority: 1})
		n.place(queue.Claim{ID: id(4), Priority: -1})
		n.places(newcomer(3), newcomer(4))
		v = n.look()
		assert.Equal(n, uint64(2), v.FirstNumber)
		assert.Equal(n, uint64(5), v.LastNumber)
		assert.Equal(n, 1, v.Preferred)
		assert.Empty(n, v.Turns, "no slot is open")
		n.configure(lined(3))
		assert.Equal(n, ids(3, 1), n.look().Turns)
		n.configure(lined(300))
		assert.Equal(n, ids(3, 1, 2, 4), n.look().Turns)
		n.configure(with(limited(300), queue.FIFO))
		v = n.look()
		assert.Zero(n, v.FirstNumber+v.LastNumber)
		assert.Zero(n, v.Preferred)
		assert.Empty(n, v.Turns)
	}},
	{"a view tells so many turns at most", func(n *node) {
		n.full()
		claims := make([]queue.Claim, 2*queue.MaxTurns)
		for i := range claims {
			claims[i] = newcomer(1 + i)
		}
		n.places(claims...)
		n.places(claims...)
		n.configure(lined(500))
		turns := n.look().Turns
		assert.Len(n, turns, queue.MaxTurns)
		assert.Equal(n, id(1), turns[0])
	}},
	{"a roster lists who is in and who is in line, and is no check-in", func(n *node) {
		n.configure(lined(2))
		n.admit(newcomer(8))
		n.pass(time.Second)
		n.admit(newcomer(7))
		n.join(1, 2)
		n.pass(30 * time.Second)
		n.look()
		roster := n.roster()
		assert.Equal(n, n.now, roster.Now)
		assert.Equal(n, ids(8, 7), seated(roster))
		assert.Equal(n, start, roster.Seated[0].AcceptedAt)
		assert.Equal(n, start.Add(5*time.Minute), roster.Seated[0].Expires)
		want := queue.Waiter{ID: id(2), Place: queue.Place{Number: 4, Ahead: 1, Length: 2}, Until: start.Add(61 * time.Second)}
		assert.Equal(n, want, roster.Line[1])
		n.at(61 * time.Second)
		n.look()
		assert.Empty(n, n.roster().Line)
	}},
	{"a roster of some lists those of them who are there", func(n *node) {
		n.configure(lined(2))
		n.admit(newcomer(8), newcomer(7))
		n.join(1, 2, 3)
		roster := n.roster(3, 7, 99, 2)
		assert.Equal(n, ids(7), seated(roster))
		assert.Len(n, roster.Line, 2)
		assert.Equal(n, queue.Waiter{ID: id(2), Place: queue.Place{Number: 4, Ahead: 1, Length: 3}, Until: n.now.Add(time.Minute)}, roster.Line[0])
		assert.Equal(n, id(3), roster.Line[1].ID)
	}},
	{"a roster tells of so many in line at most, the first, and names the others", func(n *node) {
		n.full()
		claims := newcomers(queue.MaxRoster + 2)
		n.places(claims...)
		roster := n.roster()
		assert.Len(n, roster.Line, queue.MaxRoster)
		assert.Equal(n, id(1), roster.Line[0].ID)
		assert.Equal(n, ids(queue.MaxRoster+1, queue.MaxRoster+2), roster.More)
		assert.False(n, roster.Truncated)
		last, err := n.h.Store.Roster(context.Background(), n.room, roster.More)
		require.NoError(n, err)
		assert.Equal(n, queue.MaxRoster+1, last.Line[1].Ahead)
		assert.Empty(n, last.More)
	}},
	{"a roster tells of so many who are in at most, and names the others", func(n *node) {
		s := ample()
		s.TotalActiveUsers, s.NewUsersPerMinute = queue.MaxRoster+2, queue.MaxRoster+2
		n.configure(s)
		n.admit(newcomers(queue.MaxRoster + 2)...)
		roster := n.roster()
		assert.Len(n, roster.Seated, queue.MaxRoster)
		assert.Len(n, roster.More, 2)
		rest, err := n.h.Store.Roster(context.Background(), n.room, roster.More)
		require.NoError(n, err)
		assert.ElementsMatch(n, roster.More, seated(rest))
		assert.NotContains(n, seated(roster), roster.More[0])
	}},
	{"a roster tells since when people are in for as long as they are", func(n *node) {
		const people = queue.MaxRoster + 1
		s := ample()
		s.TotalActiveUsers, s.NewUsersPerMinute, s.QueueTicketTTL = people, people, 2*time.Minute
		n.configure(s)
		n.admit(newcomers(people)...)
		for range 40 {
			n.pass(30 * time.Second)
			var renewed []queue.Session
			for i := range people {
				renewed = append(renewed, queue.Session{ID: id(1 + i), Expires: n.now.Add(time.Minute)})
			}
			n.sync(queue.Report{Sessions: renewed})
		}
		roster := n.roster()
		require.Len(n, roster.Seated, queue.MaxRoster)
		for _, in := range roster.Seated {
			require.Equal(n, start, in.AcceptedAt)
		}
	}},
}

// newcomers are the claims of visitors 1 to n.
func newcomers(n int) []queue.Claim {
	claims := make([]queue.Claim, n)
	for i := range claims {
		claims[i] = newcomer(1 + i)
	}
	return claims
}

func seated(r *queue.Roster) []queue.ID {
	list := make([]queue.ID, len(r.Seated))
	for i, s := range r.Seated {
		list[i] = s.ID
	}
	return list
}
