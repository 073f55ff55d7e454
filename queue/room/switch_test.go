package room_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// checksIn has those who wait check in, the last to arrive first.
func (d *door) checksIn(line []queue.Ticket) {
	d.Helper()
	for i := range slices.Backward(line) {
		line[i] = d.waits(line[i])
	}
}

func TestSwitchToTheExactLineAndBackKeepsTheOrderOfArrival(t *testing.T) {
	s := settings(1, 1000)
	s.SessionDuration = time.Hour
	d := full(t, s)
	var line []queue.Ticket
	for range 50 {
		line = append(line, d.join())
		d.pass(1500 * time.Millisecond)
		for i, ticket := range line { // everybody checks in as told
			if ticket.Due() <= d.now {
				line[i] = d.waits(ticket)
			}
		}
	}
	s.Method = queue.Line
	d.configure(s)
	late := d.join()
	d.pass(interval)
	d.checksIn(line)
	line = append(line, d.waits(late), d.join())
	d.pass(interval)
	for i, ticket := range line {
		got := d.visit(ticket)
		require.Equal(t, room.Queued, got.Outcome)
		assert.Equal(t, i, got.Place.Ahead, "visitor %d", i)
		line[i] = got.Ticket
	}

	s.Method = queue.FIFO
	d.configure(s)
	d.pass(interval)
	d.checksIn(line)
	line = append(line, d.join())
	s.TotalActiveUsers = 1000
	var in []queue.Instant
	for total := 2; len(in) < len(line); total++ {
		s.TotalActiveUsers = total
		d.configure(s)
		d.pass(interval)
		entered := queue.Instant(0)
		for i, ticket := range slices.Backward(line) {
			if ticket.State != queue.Waiting {
				continue
			}
			if line[i] = d.visit(ticket).Ticket; line[i].State == queue.Accepted {
				require.Zero(t, entered, "one slot, one visitor")
				entered = ticket.ArrivedAt
			}
		}
		require.NotZero(t, entered)
		in = append(in, entered.Floor(s.Bucket))
	}
	assert.True(t, slices.IsSorted(in), "by bucket, as in fifo")
}

func TestPageThatIsLoadedAgainKeepsItsPlaceInTheExactLine(t *testing.T) {
	s := settings(1, 10)
	s.Method, s.SessionDuration = queue.Line, time.Hour
	d := full(t, s)
	line := d.joins(3)
	d.pass(5 * time.Second)
	d.room.Leave(d.now.Time(), line[0])
	d.room.Leave(d.now.Time(), line[1])
	d.pass(2 * time.Second)
	got := d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: line[1]})
	assert.Equal(t, queue.Place{Number: 3, Ahead: 1, Length: 3}, got.Place)
	d.pass(2 * time.Second)
	assert.Equal(t, queue.Place{Number: 4, Ahead: 1, Length: 2}, d.visit(line[2]).Place, "who does not come back has lost it")
}

func TestPriorityThatAnOperatorGaveLastsThroughCheckIns(t *testing.T) {
	s := settings(1, 10)
	s.Method, s.SessionDuration = queue.Line, time.Hour
	d := full(t, s)
	line := d.joins(3)
	require.NoError(t, d.room.Prefer(context.Background(), d.now.Time(), line[0].ID, -1))
	require.NoError(t, d.room.Prefer(context.Background(), d.now.Time(), line[2].ID, 1))
	for range 3 {
		for i, want := range []int{2, 1, 0} {
			got := d.visit(line[i])
			assert.Equal(t, want, got.Place.Ahead)
			line[i] = got.Ticket
		}
		d.pass(interval)
	}
	signed := d.room.Visit(context.Background(), d.now.Time(), room.Request{Ticket: line[1], Priority: 5})
	assert.Equal(t, queue.Place{Number: 3, Priority: 5, Length: 3}, signed.Place)
}
