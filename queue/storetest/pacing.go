package storetest

import (
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// paced returns limits of so many a minute, released as p says.
func paced(perMinute int, p queue.Pacing) queue.Settings {
	s := ample()
	s.NewUsersPerMinute, s.Pacing, s.SessionDuration = perMinute, p, time.Hour
	return s
}

var pacingCases = []contractCase{
	{"with nobody waiting, all of the allowance is there, however it is paced", func(n *node) {
		for _, p := range []queue.Pacing{queue.PacingMinute, queue.PacingEven, queue.PacingRandom, queue.PacingEarly} {
			room := n.of(p.String())
			room.configure(paced(60, p))
			assert.Equal(n, 60, room.look().Open, p.String())
		}
	}},
	{"while people wait, it is released at the start of the minute, in minute", func(n *node) {
		n.configure(paced(60, queue.PacingMinute))
		assert.Equal(n, 60, n.count(people(1, cellUntil(0, time.Hour))).Open)
	}},
	{"while people wait, it is released evenly, in even", func(n *node) {
		n.configure(paced(60, queue.PacingEven))
		assert.Equal(n, 1, n.count(people(100, cellUntil(0, time.Hour))).Open)
		for _, seconds := range []int{1, 2, 17, 59} {
			n.at(time.Duration(seconds)*time.Second - time.Millisecond)
			v := n.look()
			assert.Equal(n, seconds, v.Open)
			assert.Equal(n, start.Add(time.Duration(seconds)*time.Second), v.NextOpen)
			n.at(time.Duration(seconds) * time.Second)
			assert.Equal(n, seconds+1, n.look().Open)
		}
		n.at(time.Minute)
		assert.Equal(n, 1, n.look().Open, "what was not used in its minute is gone")
	}},
	{"while people wait, it is released in the first seconds of the minute, in early", func(n *node) {
		n.configure(paced(60, queue.PacingEarly))
		assert.Equal(n, 1, n.count(people(100, cellUntil(0, time.Hour))).Open)
		for _, slots := range []int{1, 2, 17, 59} {
			at := time.Duration(slots) * queue.EarlyTime / 60
			n.at(at - time.Millisecond)
			v := n.look()
			assert.Equal(n, slots, v.Open)
			assert.Equal(n, start.Add(at), v.NextOpen)
			n.at(at)
			assert.Equal(n, slots+1, n.look().Open)
		}
		v := n.look()
		assert.Equal(n, start.Add(time.Minute), v.NextOpen, "all of it is there")
	}},
	{"while people wait, it is released bit by bit at moments drawn anew each minute, in random", func(n *node) {
		n.configure(paced(60, queue.PacingRandom))
		n.count(people(100, cellUntil(0, time.Hour)))
		var minutes [3][60]int
		for m := range minutes {
			for second := range minutes[m] {
				n.at(time.Duration(m)*time.Minute + time.Duration(second)*time.Second)
				minutes[m][second] = n.look().Open
			}
			assert.IsNonDecreasing(n, minutes[m][:])
			assert.InDelta(n, 30, minutes[m][30], 20, "about half is there after half a minute")
			n.at(time.Duration(m+1)*time.Minute - time.Millisecond)
			assert.InDelta(n, 60, n.look().Open, 1, "all of it is there in the end, but for what comes in the last millisecond")
		}
		assert.NotEqual(n, minutes[0], minutes[1])
		assert.NotEqual(n, minutes[1], minutes[2])
	}},
	{"all nodes see the same random moments", func(n *node) {
		n.configure(paced(60, queue.PacingRandom))
		n.count(people(1, cellUntil(0, time.Hour)))
		other := n.another()
		n.at(30 * time.Second)
		other.at(30 * time.Second)
		assert.Equal(n, n.look().Status, other.look().Status)
	}},
	{"what is not released yet is granted to nobody", func(n *node) {
		n.configure(paced(6, queue.PacingEven))
		crowd := cellUntil(0, time.Hour)
		n.count(people(9, crowd))
		assert.Equal(n, []queue.Verdict{granted}, n.verdicts(waiter(0, crowd)))
		n.at(10*time.Second - time.Millisecond)
		assert.Equal(n, []queue.Verdict{refused}, n.verdicts(waiter(1, crowd)))
		n.at(10 * time.Second)
		assert.Equal(n, []queue.Verdict{granted, refused}, n.verdicts(waiter(1, crowd), waiter(2, crowd)))
	}},
	{"once nobody waits any more, the rest of the allowance is there", func(n *node) {
		n.configure(paced(60, queue.PacingEven))
		v := n.count(people(1, cellUntil(0, 10500*time.Millisecond)))
		assert.LessOrEqual(n, v.NextOpen, start.Add(time.Second))
		n.at(10500 * time.Millisecond)
		assert.Equal(n, 60, n.look().Open)
	}},
}
