package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// lost is a report with claims whose answer was lost.
type lost struct {
	report *queue.Report
	claims []queue.Claim
}

// loses sends claims, of which nobody is told what became of them.
func (n *node) loses(claims ...queue.Claim) lost {
	n.Helper()
	p := n.report(queue.Report{})
	n.admitWith(p, claims...)
	return lost{p, claims}
}

// asksAgain sends the report again, and asks about its claims, and returns the verdicts.
func (n *node) asksAgain(l lost) []queue.Verdict {
	n.Helper()
	l.report.Now = n.now
	asked := make([]queue.Claim, len(l.claims))
	for i, c := range l.claims {
		asked[i] = queue.Claim{ID: c.ID, Cell: c.Cell, HeldOnly: true, ArrivedAt: c.ArrivedAt, LastCheckIn: c.LastCheckIn}
	}
	grants, _ := n.admitWith(l.report, asked...)
	verdicts := make([]queue.Verdict, len(grants))
	for i, g := range grants {
		verdicts[i] = g.Verdict
	}
	return verdicts
}

// waited is the claim of somebody who came before start.
func waited() queue.Claim { return ticket(1, 0, time.Minute, time.Second) }

// over has the session end of somebody who was let in just now.
func (n *node) over() { n.pass(time.Minute + n.h.Slack + time.Millisecond) }

// lostAnswerCases show what becomes of the places of those who were let in and not told so.
var lostAnswerCases = []contractCase{
	{"an admission that nobody was told of has not used the place, until the next", func(n *node) {
		n.configure(limited(1))
		l := n.loses(waited())
		n.pass(time.Second)
		assert.False(n, n.another().look().Untold)
		assert.Equal(n, []queue.Verdict{held}, n.asksAgain(l))
		n.over()
		assert.True(n, n.look().Untold)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(waited()))
		n.over()
		assert.Equal(n, []queue.Verdict{used}, n.verdicts(waited()))
	}},
	{"whoever claims with it again while the session lasts has one slot", func(n *node) {
		n.configure(limited(2))
		n.asksAgain(n.loses(waited()))
		assert.Equal(n, []queue.Verdict{held}, n.verdicts(waited()))
		assert.Equal(n, 1, n.look().Active)
	}},
	{"so it is if the session is over, and each time that the report comes again", func(n *node) {
		n.configure(limited(1))
		l := n.loses(waited())
		n.over()
		for range 3 {
			assert.Equal(n, []queue.Verdict{used}, n.asksAgain(l))
			n.pass(time.Second)
		}
		other := n.another()
		assert.Equal(n, []queue.Verdict{granted}, other.verdicts(waited()))
		n.over()
		assert.Equal(n, []queue.Verdict{used}, n.asksAgain(l))
		assert.Equal(n, []queue.Verdict{used}, other.verdicts(waited()), "not the later admission")
	}},
	{"a visitor who was told all the same has used the place", func(n *node) {
		n.configure(limited(1))
		n.asksAgain(n.loses(waited()))
		n.pass(time.Second)
		n.another().sync(queue.Report{Told: ids(1)})
		n.over()
		assert.Equal(n, []queue.Verdict{used}, n.verdicts(waited()))
	}},
	{"so has one of whom the store hears that they were told before it hears of the lost answer", func(n *node) {
		n.configure(limited(1))
		l := n.loses(waited())
		n.pass(time.Second)
		n.another().sync(queue.Report{Told: ids(1, 7)})
		n.asksAgain(l)
		n.over()
		assert.Equal(n, []queue.Verdict{used}, n.verdicts(waited()))
	}},
	{"so has one whom another node has let in, whose answer came", func(n *node) {
		n.configure(limited(1))
		n.admit(newcomer(9))
		l := n.loses(waited())
		n.over()
		assert.Equal(n, []queue.Verdict{granted}, n.another().verdicts(waited()))
		n.pass(time.Second)
		n.asksAgain(l)
		n.over()
		assert.Equal(n, []queue.Verdict{used}, n.verdicts(waited()))
	}},
	{"a newcomer had no place", func(n *node) {
		n.configure(limited(1))
		c := waited()
		c.Cell = queue.Cell{}
		n.asksAgain(n.loses(c))
		n.over()
		assert.Equal(n, []queue.Verdict{used}, n.verdicts(waited()))
	}},
	{"in an exact line they have the number again", func(n *node) {
		s := lined(1)
		s.SessionDuration = 10 * time.Second
		n.configure(s)
		n.admit(newcomer(9))
		n.join(1)
		n.pass(10*time.Second + n.h.Slack)
		c := ticket(1, 2, 0, -n.now.Sub(start))
		n.asksAgain(n.loses(c))
		n.pass(10*time.Second + n.h.Slack)
		n.admit(newcomer(8))
		n.knock(3)
		assert.Equal(n, queue.Place{Number: 2, Length: 2}, n.place(c))
		assert.Equal(n, ids(1, 3), n.order())
	}},
	{"that some were not told is known for as long as their places last", func(n *node) {
		s := limited(1)
		n.configure(s)
		n.asksAgain(n.loses(waited()))
		remembers := (&queue.Configuration{Settings: s.WithDefaults()}).Remembers()
		n.pass(remembers - time.Millisecond)
		assert.True(n, n.look().Untold)
		n.pass(time.Millisecond)
		assert.False(n, n.look().Untold)
	}},
}
