package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// back is the claim of visitor i who has joined at start and brings that ticket back.
func back(i int, number uint64) queue.Claim { return ticket(i, number, 0, 0) }

// unconfirmedCases are about places in an exact line whose visitors have not come back yet,
// and may not exist.
var unconfirmedCases = []contractCase{
	{"whoever has not come back counts among those ahead, and holds nobody up who has", func(n *node) {
		n.full()
		n.knock(1, 2)
		assert.Equal(n, queue.Place{Number: 4, Ahead: 2, Length: 3, Joined: true}, n.place(newcomer(3)))
		n.configure(lined(2))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(back(3, 4)))
		assert.Equal(n, ids(1, 2), n.order())
	}},
	{"those who have come back go in order, whoever asks first", func(n *node) {
		n.full()
		n.knock(1)
		n.join(2)
		n.knock(3)
		n.join(4)
		n.configure(lined(2))
		assert.Equal(n, []queue.Verdict{refused, granted}, n.verdicts(back(4, 5), back(2, 3)))
		n.configure(lined(3))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(back(1, 2)), "a first check-in is in time")
		n.configure(lined(4))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(back(4, 5)))
		assert.Equal(n, ids(3), n.order())
	}},
	{"whoever is new has everybody ahead", func(n *node) {
		n.full()
		n.knock(1)
		n.configure(lined(2))
		assert.Equal(n, queue.Place{Number: 3, Ahead: 1, Length: 2, Joined: true}, n.place(newcomer(2)))
		n.configure(lined(4))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(3)))
	}},
	{"whoever joins with the ticket of a place that was lost has come back", func(n *node) {
		n.full()
		n.knock(1)
		lost := ticket(2, 1, 2*time.Hour, time.Hour)
		assert.True(n, n.place(lost).Joined)
		n.configure(lined(2))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(lost))
	}},
	{"a place ends as soon as the first check-in is overdue", func(n *node) {
		n.full()
		n.knock(1)
		n.join(2)
		overdue := lined(1).WithDefaults().ReturnsWithin()
		n.at(overdue - time.Millisecond)
		assert.Equal(n, ids(1, 2), n.order())
		n.at(overdue)
		assert.Equal(n, 1, n.look().Present)
		assert.Equal(n, ids(2), n.order())
		n.at(time.Minute - time.Millisecond)
		assert.Equal(n, ids(2), n.order())
	}},
	{"whoever comes back later than that, but within the dropout, has their number again", func(n *node) {
		n.full()
		n.knock(1, 2)
		n.join(3)
		n.at(time.Minute - time.Millisecond)
		assert.Equal(n, ids(3), n.order())
		assert.Equal(n, queue.Place{Number: 2, Length: 2}, n.place(back(1, 2)))
		n.at(time.Minute)
		assert.Equal(n, queue.Place{Number: 5, Ahead: 1, Length: 2, Joined: true}, n.place(back(2, 3)))
		assert.Equal(n, ids(1, 2), n.order())
	}},
	{"a place that was used is not taken up again", func(n *node) {
		s := lined(1)
		s.SessionDuration = time.Second
		n.configure(s)
		n.admit(newcomer(0))
		n.knock(1)
		n.pass(time.Second + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(back(1, 2)))
		n.pass(time.Second + n.h.Slack)
		n.admit(newcomer(2))
		assert.True(n, n.place(back(1, 2)).Joined)
	}},
	{"a place that was used is not taken up again for as long as the dropout", func(n *node) {
		s := lined(1)
		s.SessionDuration, s.QueueTicketTTL, s.LineDropout = time.Second, 40*time.Second, 10*time.Minute
		n.configure(s)
		n.admit(newcomer(0))
		n.knock(1)
		n.pass(time.Second + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(back(1, 2)))
		n.at(10*time.Minute - time.Millisecond)
		n.look()
		n.admit(newcomer(2))
		assert.True(n, n.place(back(1, 2)).Joined)
	}},
	{"any check-in confirms a place", func(n *node) {
		n.full()
		n.knock(1, 2, 3)
		n.place(newcomer(1))
		n.place(queue.Claim{ID: id(2), NoSlot: true, NoPlace: true})
		n.at(time.Minute - time.Millisecond)
		assert.Equal(n, ids(1, 2), n.order())
	}},
	{"it is the turn of nobody who has not come back", func(n *node) {
		n.full()
		n.knock(1)
		n.place(queue.Claim{ID: id(2), Priority: 1})
		n.join(3, 4)
		n.configure(lined(2))
		assert.Equal(n, ids(3), n.look().Turns)
		n.configure(lined(9))
		assert.Equal(n, ids(3, 4), n.look().Turns)
		assert.Equal(n, uint64(2), n.look().FirstNumber, "the numbers that are told go by all")
		assert.Equal(n, 1, n.look().Preferred)
	}},
	{"those who have not come back hide nobody's turn", func(n *node) {
		n.full()
		claims := make([]queue.Claim, 900)
		for i := range claims {
			claims[i] = newcomer(1000 + i)
		}
		n.places(claims...)
		n.join(1)
		n.configure(lined(2))
		assert.Equal(n, ids(1), n.look().Turns)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(back(1, 902)))
	}},
	{"another priority confirms no place", func(n *node) {
		n.full()
		n.knock(1, 2)
		n.join(3)
		prefer := func(i int, priority int16) {
			n.sync(queue.Report{Priorities: []queue.Priority{{ID: id(i), Priority: priority}}})
		}
		prefer(1, 2)
		prefer(2, 2)
		prefer(2, 0)
		assert.Equal(n, queue.Place{Number: 4, Ahead: 2, Length: 3}, n.place(back(3, 4)))
		n.configure(lined(2))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(back(3, 4)))
		n.at(time.Minute - time.Millisecond)
		assert.Empty(n, n.order())
	}},
	{"a newcomer whom no answer has told of their place has none, unless they have come back with it", func(n *node) {
		n.full()
		n.join(1)
		n.knock(2)
		n.at(time.Second)
		n.sync(queue.Report{Unanswered: ids(1, 2, 9)})
		assert.Equal(n, ids(1), n.order())
		assert.Empty(n, n.look().Left, "no goodbye was said")
		assert.Equal(n, queue.Place{Number: 4, Ahead: 1, Length: 2, Joined: true}, n.place(newcomer(3)))
		assert.Equal(n, queue.Place{Number: 3, Ahead: 1, Length: 3}, n.place(back(2, 3)), "an answer that came after all counts")
	}},
	{"after a goodbye a place that is not confirmed is kept for a moment, too", func(n *node) {
		n.full()
		n.knock(1)
		n.at(time.Second)
		n.goodbye(1, 0)
		assert.Equal(n, ids(1), n.order(), "said before they joined")
		n.goodbye(1, time.Second)
		n.at(4*time.Second - time.Millisecond)
		assert.Equal(n, ids(1), n.order())
		n.at(4 * time.Second)
		assert.Equal(n, 0, n.look().Present)
		n.knock(2)
		n.goodbye(2, 5*time.Second)
		n.at(time.Minute - time.Millisecond)
		assert.Equal(n, queue.Place{Number: 2, Length: 1}, n.place(back(1, 2)), "their ticket has their number, for the dropout after they joined")
		n.at(time.Minute)
		assert.True(n, n.place(back(2, 3)).Joined)
	}},
}
