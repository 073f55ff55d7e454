package simulate_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// comeAt are people who come so many a minute, from one minute to another, and stay for half a
// minute.
func comeAt(perMinute, from, to int) (stays []simulate.Stay) {
	for i := range perMinute * (to - from) {
		at := time.Duration(from)*time.Minute + time.Duration(i)*time.Minute/time.Duration(perMinute)
		stays = append(stays, simulate.Stay{At: at, For: 30 * time.Second})
	}
	return stays
}

// The room is new, and counts for five minutes. Then it is open: forty a minute, twice what it has
// slots for, pass. In two minutes of a crowd it begins to queue, and does until nobody waits, and
// for five minutes more though few come. Then it is open again.
func TestRoomQueuesFromItsMarkOnAndIsOpenAgainWhenItIsCalm(t *testing.T) {
	t.Parallel()
	var stays []simulate.Stay
	for _, crowd := range [][3]int{{10, 0, 6}, {40, 6, 16}, {120, 16, 18}, {4, 18, 45}, {40, 45, 50}} {
		stays = append(stays, comeAt(crowd[0], crowd[1], crowd[2])...)
	}
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprintf("at %d gates", nodes), func(t *testing.T) {
			c := simulate.Article().Replay(stays)
			c.Nodes, c.Room = nodes, queue.Settings{
				TotalActiveUsers: 20, NewUsersPerMinute: 40, SessionDuration: 30 * time.Second, QueueWhen: 60, QueueUntil: 30,
			}.WithDefaults()
			r, err := simulate.Run(t.Context(), c)
			require.NoError(t, err)
			waited := func(from, to int) (waited, of int) {
				for v := range r.Admissions() {
					if v.Arrived >= time.Duration(from)*time.Minute && v.Arrived < time.Duration(to)*time.Minute {
						of++
						if v.Waited > 0 {
							waited++
						}
					}
				}
				return waited, of
			}
			for _, open := range [][2]int{{0, 16}, {45, 50}} {
				n, _ := waited(open[0], open[1])
				assert.Zero(t, n, "nobody waits in minutes %d to %d", open[0], open[1])
			}
			n, of := waited(17, 25)
			assert.Equal(t, of, n, "everybody waits who comes while people wait")
			assert.Greater(t, r.People.Uncounted, 600, "while the room was open")
			assert.Less(t, r.People.Uncounted, 720)
			assert.Equal(t, r.People.People, r.People.Admitted)
			assert.Zero(t, r.People.Interrupted, "nobody is thrown out when the room begins to count")
			assert.Greater(t, r.Limits.MostActive, 20, "those who came while it was open are counted besides")
			assert.Zero(t, r.Limits.OverActive, "nobody new enters until fewer are in than there are slots")
			assert.Zero(t, r.Limits.OverPerMinute)
			assert.Zero(t, r.Limits.OutOfTurn)
		})
	}
}
