package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/waits"
)

// The visitor is told the wait for a slot that two others have before them.
func TestTheScoreSaysWhoWasInByTheTimeThatTheyWereTold(t *testing.T) {
	for _, c := range []struct {
		name   string
		paused time.Duration // nobody is let in until so long after the start
		inTime int
	}{
		{"when nothing comes between", 0, 1},
		{"when admissions are paused for long", 40 * time.Minute, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := settings(1, 60)
			s.Bucket, s.DisableSessionRenewal = time.Second, true
			d := open(t, s)
			d.enter()
			line := []queue.Ticket{d.join()}
			step := func() {
				d.pass(time.Second)
				d.room.Pause(d.now > start.Add(10*time.Second) && d.now < start.Add(c.paused))
				for i, ticket := range line {
					if ticket.State == queue.Waiting && d.now >= ticket.Due() {
						line[i] = d.visit(ticket).Ticket
					}
				}
			}
			for d.now < start.Add(5*time.Second) {
				step()
			}
			require.True(t, d.room.Numbers().LongestWait().Known)
			line = append(line, d.join())
			for line[1].State == queue.Waiting {
				step()
			}
			quarters, total := d.room.Scores()
			assert.Equal(t, 1, total.Visitors, "the first to wait was told nothing")
			assert.Equal(t, c.inTime, total.InTime)
			assert.Equal(t, total.Near == 1, 5*max(total.ToldMinutes-total.WaitedMinutes, total.WaitedMinutes-total.ToldMinutes) <= total.WaitedMinutes)
			waited, told := d.room.Waits()
			all, shown := waited.Since(&waits.Counter{}), told.Since(&waits.Counter{})
			assert.Equal(t, 2, all.Visitors())
			assert.Equal(t, 1, shown.Visitors())
			assert.InEpsilon(t, total.ToldMinutes, shown.Longest().Minutes(), .03)
			assert.InDelta(t, all.Longest().Minutes(), total.WaitedMinutes, 1)
			from := d.now.Floor(15 * time.Minute)
			total.From = from
			assert.Equal(t, []estimate.Score{total}, quarters)
		})
	}
}

// What newcomers are told is noted for the seconds in which numbers are told, and not for the days
// in which nobody synced.
func TestTheFirstSyncAfterALongTimeTakesNoLongerThanOthers(t *testing.T) {
	least := time.Hour
	for range 5 {
		d := full(t, settings(1, 1))
		d.join()
		d.pass(2 * time.Second)
		d.now = d.now.Add(24 * time.Hour)
		began := time.Now()
		d.sync()
		least = min(least, time.Since(began))
	}
	assert.Less(t, least, 50*time.Millisecond, "hundreds of times what it takes")
}
