package storetest

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

var statusCases = []contractCase{
	{"admissions count by the calendar minute", func(n *node) {
		n.configure(ample())
		n.at(59 * time.Second)
		n.admit(newcomer(1), newcomer(2))
		assert.Equal(n, 2, n.look().Admitted)
		n.at(time.Minute)
		assert.Zero(n, n.look().Admitted)
		n.admit(newcomer(3))
		n.at(10 * time.Minute)
		assert.Zero(n, n.look().Admitted)
	}},
	{"sync and admit return the same status", func(n *node) {
		n.configure(ample())
		n.count(people(5, cell(0)))
		_, status := n.admit(newcomer(1), waiter(2, cell(0)))
		assert.Equal(n, status, n.look().Status)
	}},
	{"open is what both limits leave", func(n *node) {
		s := limited(10)
		s.NewUsersPerMinute = 4
		n.configure(s)
		assert.Equal(n, 4, n.look().Open)
		n.admit(newcomer(1), newcomer(2), newcomer(3))
		assert.Equal(n, 1, n.look().Open)
		n.at(time.Minute - time.Second)
		for i := range 8 {
			n.stays(10+i, 5*time.Minute)
		}
		n.at(time.Minute + n.h.Slack)
		assert.Equal(n, 2, n.look().Open)
	}},
	{"with all slots taken, the next opens when a session ends", func(n *node) {
		n.configure(limited(1))
		n.at(5 * time.Second)
		grants, status := n.admit(newcomer(1))
		assert.GreaterOrEqual(n, status.NextOpen, grants[0].Expires)
		assert.LessOrEqual(n, status.NextOpen, grants[0].Expires.Add(n.h.Slack))
	}},
	{"with the minute's allowance used, the next opens with the next minute", func(n *node) {
		s := ample()
		s.NewUsersPerMinute = 1
		s.SessionDuration = time.Hour
		n.configure(s)
		_, status := n.admit(newcomer(1))
		assert.Equal(n, start.Add(time.Minute), status.NextOpen)
	}},
	{"with no session to end and no more allowed at a time, none opens", func(n *node) {
		s := limited(1)
		s.NewUsersPerMinute = 2
		n.configure(s)
		assert.Zero(n, n.look().NextOpen)
	}},
	{"NextOpen is never later than the truth", nextOpenIsNeverLate},
	{"the rate is that of whole minutes in which people waited throughout", func(n *node) {
		s := ample()
		s.NewUsersPerMinute = 3
		s.SessionDuration = time.Hour
		n.configure(s)
		crowd := cellUntil(0, time.Hour)
		n.count(people(100, crowd))
		assert.False(n, n.look().RateKnown, "the minute is not over")
		visitor := 0
		for m := range 4 {
			n.at(time.Duration(m) * time.Minute)
			for range 5 {
				visitor++
				n.admit(waiter(visitor, crowd))
			}
		}
		v := n.look()
		assert.True(n, v.RateKnown)
		assert.InDelta(n, 3, v.Rate, 1e-9)
		for m := 4; m < 10; m++ {
			n.at(time.Duration(m) * time.Minute)
			n.look()
		}
		v = n.look()
		assert.True(n, v.RateKnown)
		assert.Zero(n, v.Rate, "people wait and nobody is let in")
	}},
	{"minutes in which nobody waited say nothing of the rate", func(n *node) {
		n.configure(ample())
		for m := range 5 {
			n.at(time.Duration(m) * time.Minute)
			n.admit(newcomer(m))
		}
		assert.False(n, n.look().RateKnown)
	}},
}

// nextOpenIsNeverLate checks, in rooms in random states, that no slot opens before NextOpen
// only because time passes.
func nextOpenIsNeverLate(n *node) {
	rnd := rand.New(rand.NewPCG(7, 2021))
	for round := range 100 {
		room := n.of("room-" + strconv.Itoa(round))
		s := queue.Settings{
			TotalActiveUsers: 1 + rnd.IntN(6), NewUsersPerMinute: 1 + rnd.IntN(6),
			SessionDuration: time.Duration(1+rnd.IntN(100)) * time.Second,
			Method:          queue.Method(rnd.IntN(4)), Pacing: queue.Pacing(rnd.IntN(int(queue.PacingEarly) + 1)),
		}
		room.configure(s)
		from := n.now.Sub(start)
		visitor := 0
		for range rnd.IntN(12) {
			room.pass(time.Duration(rnd.IntN(20000)) * time.Millisecond)
			here := cellUntil(0, room.now.Sub(start)+time.Duration(rnd.IntN(40000))*time.Millisecond)
			switch visitor++; rnd.IntN(3) {
			case 0:
				room.count(people(1+rnd.IntN(3), here))
			case 1:
				room.admit(newcomer(visitor))
			default:
				room.admit(waiter(visitor, here))
			}
		}
		was := room.look().Status
		for range 40 {
			room.pass(time.Duration(1+rnd.IntN(6000)) * time.Millisecond)
			if was.NextOpen != 0 && room.now >= was.NextOpen {
				break
			}
			v := room.look()
			require.LessOrEqual(n, v.Open, was.Open, "round %d, %+v: %v after %+v", round, s, room.now.Sub(was.Now), was)
		}
		n.at(max(from, room.now.Sub(start)))
	}
}
