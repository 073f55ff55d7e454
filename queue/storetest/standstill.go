package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// holding are limits of so many slots, with those who are in held at once.
func holding(total int) queue.Settings {
	s := limited(total)
	s.HoldActive = queue.HoldNow
	return s
}

// renewing is the claim of visitor 1, which renews a session that it finds.
var renewing = queue.Claim{ID: id(1), Renew: true}

// reconfigure configures the room, and reports as a node does then: stores may take up a hold, or
// its end, at a report.
func (n *node) reconfigure(s queue.Settings) {
	n.Helper()
	n.configure(s)
	n.look()
}

var standstillCases = []contractCase{
	{"while those who are in are held nobody enters, and no session ends", func(n *node) {
		n.reconfigure(limited(2))
		n.admit(newcomer(1))
		n.at(20 * time.Second)
		n.reconfigure(holding(2))
		n.at(time.Hour)
		v := n.look()
		assert.Equal(n, 1, v.Active)
		assert.Zero(n, v.Open)
		assert.Zero(n, v.NextOpen)
		assert.Equal(n, []queue.Verdict{held, refused}, n.verdicts(newcomer(1), newcomer(2)))
	}},
	{"after a hold each session lasts as long as it would have lasted, and began later by the hold", func(n *node) {
		n.reconfigure(limited(2))
		n.admit(newcomer(1))
		n.at(10 * time.Second)
		n.admit(newcomer(2))
		n.at(20 * time.Second)
		n.reconfigure(holding(2))
		n.at(time.Hour + 20*time.Second)
		n.reconfigure(limited(2))
		n.at(time.Hour + 30*time.Second)
		grants, _ := n.admit(newcomer(1), newcomer(2), newcomer(3))
		assert.Equal(n, queue.Grant{Verdict: held, AcceptedAt: start.Add(time.Hour), Expires: start.Add(time.Hour + time.Minute)}, grants[0])
		assert.Equal(n, queue.Grant{Verdict: held, AcceptedAt: start.Add(time.Hour + 10*time.Second), Expires: start.Add(time.Hour + 70*time.Second)}, grants[1])
		assert.Equal(n, refused, grants[2].Verdict)
		n.at(time.Hour + time.Minute - time.Millisecond)
		assert.Equal(n, 2, n.look().Active)
		n.at(time.Hour + time.Minute + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted, refused}, n.verdicts(newcomer(3), newcomer(4)))
		n.at(time.Hour + 70*time.Second + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(4)))
	}},
	{"a session that had ended when the hold began does not come back", func(n *node) {
		n.reconfigure(limited(1))
		n.admit(newcomer(1))
		n.at(time.Minute + n.h.Slack)
		n.reconfigure(holding(1))
		n.pass(time.Hour)
		assert.Zero(n, n.look().Active)
		n.reconfigure(limited(1))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
	}},
	{"what is told of a session in a hold is as if the hold ended now", func(n *node) {
		n.reconfigure(ample())
		n.admit(newcomer(1))
		n.at(20 * time.Second)
		n.reconfigure(holding(1000))
		n.at(time.Hour)
		n.sync(queue.Report{Sessions: []queue.Session{{ID: id(2), Expires: start.Add(time.Hour + 30*time.Second)}}})
		grants, _ := n.admit(newcomer(1), queue.Claim{ID: id(2), HeldOnly: true})
		assert.Equal(n, start.Add(time.Hour+40*time.Second), grants[0].Expires)
		assert.Equal(n, start.Add(time.Hour+30*time.Second), grants[1].Expires)
		assert.Equal(n, start.Add(time.Hour+40*time.Second), n.roster(1).Seated[0].Expires)
		n.reconfigure(ample())
		n.at(time.Hour + 30*time.Second + n.h.Slack)
		assert.Equal(n, 1, n.look().Active, "the session that was reported in the hold has ended")
		n.at(time.Hour + 40*time.Second + n.h.Slack)
		assert.Zero(n, n.look().Active)
	}},
	{"two holds stand still twice", func(n *node) {
		n.reconfigure(limited(1))
		n.admit(newcomer(1))
		for i := range 2 {
			n.at(time.Duration(i)*time.Hour + 10*time.Second)
			n.reconfigure(holding(1))
			n.at(time.Duration(i+1)*time.Hour + 10*time.Second)
			n.reconfigure(limited(1))
		}
		n.at(2*time.Hour + time.Minute - time.Millisecond)
		assert.Equal(n, 1, n.look().Active)
		n.at(2*time.Hour + time.Minute + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
	}},
	{"a session lasts through any number of holds, and max_session counts the time of none of the last", func(n *node) {
		s, hold := limited(3), holding(3)
		s.MaxSession, hold.MaxSession = 90*time.Second, 90*time.Second
		n.reconfigure(s)
		n.admit(newcomer(1))
		for i := range queue.MaxStandstills + 5 {
			n.pass(time.Second)
			if i == 5 {
				n.admit(newcomer(2))
			}
			n.reconfigure(hold)
			n.pass(time.Minute)
			n.reconfigure(s)
		}
		held := (queue.MaxStandstills + 5) * time.Minute
		grants, _ := n.admit(newcomer(1), queue.Claim{ID: id(2), Renew: true})
		assert.Equal(n, start.Add(held+time.Minute), grants[0].Expires)
		assert.Equal(n, start.Add(held+6*time.Second+90*time.Second), grants[1].Expires)
		assert.Equal(n, start.Add(held+6*time.Second), grants[1].AcceptedAt)
	}},
	{"a hold moves no admission whose session was over", func(n *node) {
		n.reconfigure(limited(1))
		n.admit(newcomer(1))
		n.at(time.Minute + n.h.Slack)
		n.reconfigure(holding(1))
		n.pass(time.Hour)
		n.reconfigure(limited(1))
		place := waiter(1, cellUntil(0, 2*time.Hour))
		place.ArrivedAt = start.Add(30 * time.Second)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(place))
	}},
	{"a hold that lets sessions run to their end lets nobody in", func(n *node) {
		s := limited(2)
		s.HoldActive = queue.HoldEnding
		n.reconfigure(limited(2))
		n.admit(newcomer(1))
		n.reconfigure(s)
		assert.Equal(n, []queue.Verdict{held, refused}, n.verdicts(newcomer(1), newcomer(2)))
		n.at(time.Minute + n.h.Slack)
		v := n.look()
		assert.Zero(n, v.Active)
		assert.Zero(n, v.Open)
	}},
	{"no claim renews a session beyond max_session from its admission", func(n *node) {
		s := limited(1)
		s.MaxSession = 90 * time.Second
		n.configure(s)
		n.admit(newcomer(1))
		n.at(50 * time.Second)
		grants, _ := n.admit(renewing)
		assert.Equal(n, queue.Grant{Verdict: held, AcceptedAt: start, Expires: start.Add(90 * time.Second)}, grants[0])
		n.at(90*time.Second - time.Millisecond)
		assert.Equal(n, []queue.Verdict{held, refused}, n.verdicts(renewing, newcomer(2)))
		n.at(90*time.Second + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted, refused}, n.verdicts(newcomer(2), renewing))
	}},
	{"a session lasts for max_session if that is shorter than session_duration", func(n *node) {
		s := limited(1)
		s.MaxSession = 20 * time.Second
		n.configure(s)
		grants, _ := n.admit(newcomer(1))
		assert.Equal(n, start.Add(20*time.Second), grants[0].Expires)
		n.at(20*time.Second + n.h.Slack)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
	}},
	{"max_session does not count the time of a hold", func(n *node) {
		s, hold := limited(1), holding(1)
		s.MaxSession, hold.MaxSession = 90*time.Second, 90*time.Second
		n.reconfigure(s)
		n.admit(newcomer(1))
		n.at(10 * time.Second)
		n.reconfigure(hold)
		n.at(time.Hour + 10*time.Second)
		n.reconfigure(s)
		n.at(time.Hour + 50*time.Second)
		grants, _ := n.admit(renewing)
		assert.Equal(n, start.Add(time.Hour+90*time.Second), grants[0].Expires)
	}},
}

// heard reports that so much was left, by what the origin said then.
func (n *node) heard(left int, at time.Duration) *queue.View {
	n.Helper()
	return n.sync(queue.Report{Stock: queue.Stock{At: start.Add(at), Left: left}})
}

var stockCases = []contractCase{
	{"what the origin has said last is told, whichever node has heard it", func(n *node) {
		n.configure(ample())
		other := n.another()
		assert.False(n, n.look().Stock.Known())
		n.at(time.Minute)
		assert.Equal(n, queue.Stock{At: start.Add(3 * time.Second), Left: 37}, n.heard(37, 3*time.Second).Stock)
		assert.Equal(n, 37, other.heard(40, 2*time.Second).Stock.Left, "it was heard earlier")
		assert.Equal(n, 36, other.heard(36, 4*time.Second).Stock.Left)
		assert.Equal(n, 36, n.look().Stock.Left)
	}},
	{"so is what it has said of single items, until it says something else of them", func(n *node) {
		n.configure(ample())
		other := n.another()
		items := queue.Items(`[{"name":"Standing","price":"49 €","left":37,"soldOut":false}]`)
		said := queue.Stock{At: start.Add(time.Second), Left: 37, Items: items}
		assert.Equal(n, said, n.sync(queue.Report{Stock: said}).Stock)
		assert.Equal(n, said, other.look().Stock)
		said.At, said.Left = start.Add(2*time.Second), 36
		assert.Equal(n, said, n.heard(36, 2*time.Second).Stock, "it has said nothing of items")
		late := queue.Stock{At: start.Add(time.Second), Left: 99, Items: "[]"}
		assert.Equal(n, said, other.sync(queue.Report{Stock: late}).Stock, "it was heard earlier")
	}},
	{"nobody enters while nothing is left, where the room closes then", func(n *node) {
		for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line, queue.Passthrough} {
			n := n.of("room " + method.String())
			s := ample()
			s.Method, s.OnSoldOut = method, queue.CloseToAll
			n.configure(s)
			n.heard(1, time.Second)
			assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(1)), method)
			v := n.heard(0, 2*time.Second)
			assert.Zero(n, v.Open, method)
			assert.Zero(n, v.NextOpen, method)
			assert.Equal(n, []queue.Verdict{refused, held}, n.verdicts(queue.Claim{ID: id(2), NoPlace: true}, newcomer(1)), method)
			n.heard(5, 3*time.Second)
			assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(3)), method)
		}
	}},
	{"what was left before the event in force does not close the room", func(n *node) {
		s := ample()
		s.OnSoldOut = queue.CloseToAll
		n.configure(s)
		n.heard(0, time.Second)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(1)))
		s.Event = queue.ActiveEvent{Name: "sale", Start: start.Add(2 * time.Second), End: start.Add(time.Hour)}
		n.configure(s)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(1)))
		n.heard(0, 2*time.Second)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(2)))
		s.ClosesFrom = start.Add(3 * time.Second)
		n.configure(s)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)), "nor what was left before it was set to close")
		n.heard(0, 3*time.Second)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(3)))
	}},
	{"a room that is kept open goes on when nothing is left, and one that is closed opens by its setting", func(n *node) {
		n.configure(ample())
		n.heard(0, time.Second)
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(1)))
		s := ample()
		s.OnSoldOut = queue.CloseToAll
		n.configure(s)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(newcomer(2)))
		n.configure(ample())
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(newcomer(2)))
	}},
}
