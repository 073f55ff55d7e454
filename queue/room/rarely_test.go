package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// longLine has so many people wait, who come one after another within a minute, and check in as they
// are told.
type longLine struct {
	*door
	line []queue.Ticket
}

func openLongLine(t *testing.T, s queue.Settings, people int) *longLine {
	l := &longLine{door: full(t, s)}
	for range people {
		l.line = append(l.line, l.join())
		l.goesOn(time.Minute / time.Duration(people))
	}
	return l
}

// goesOn passes so much time. Visitors check in as they are told, and leave the line once they are in.
func (l *longLine) goesOn(lasts time.Duration) {
	for end := l.now.Add(lasts); l.now < end; {
		l.now = min(end, l.now.Add(200*time.Millisecond))
		l.sync()
		left := l.line[:0]
		for _, ticket := range l.line {
			if ticket.Due() <= l.now {
				got := l.visit(ticket)
				if got.Outcome == room.Admitted {
					continue
				}
				ticket = got.Ticket
			}
			left = append(left, ticket)
		}
		l.line = left
	}
}

func TestWhoIsFarFromTheHeadAsksAfterATenthOfTheirWaitAtLeast(t *testing.T) {
	for method, last := range map[queue.Method]time.Duration{queue.FIFO: 90 * time.Second, queue.Line: interval} {
		s := settings(1, 20)
		s.Method, s.SessionDuration = method, time.Hour
		l := openLongLine(t, s, 300)
		l.goesOn(5 * time.Minute)
		require.Len(t, l.line, 300)
		assert.Equal(t, 300, l.stand().Waiting, "who asks rarely counts until then")
		assert.Equal(t, interval, l.line[0].RefreshInterval)
		assert.InDelta(t, last.Seconds(), l.line[299].RefreshInterval.Seconds(), 5)
		for i := range l.line[1:] {
			assert.LessOrEqual(t, l.line[i].RefreshInterval, l.line[i+1].RefreshInterval, "%v: %d", method, i)
		}
	}
}

func TestALineThatBecomesTenTimesAsFastWaitsForNobodyWhoAsksRarely(t *testing.T) {
	s := settings(1, 30)
	s.SessionDuration, s.RefreshIntervalMax = time.Hour, 10*time.Minute
	l := openLongLine(t, s, 300)
	l.goesOn(3 * time.Minute)
	s.TotalActiveUsers, s.NewUsersPerMinute = 1000, 300
	l.configure(s)
	l.goesOn(2*time.Minute + 5*time.Second)
	assert.Empty(t, l.line, "300 get in in a minute, of which the rest is over at most")
}

func TestWhoAsksRarelyAndLeavesCountsForOneOfTheirIntervals(t *testing.T) {
	s := settings(1, 20)
	s.SessionDuration = time.Hour
	l := openLongLine(t, s, 300)
	l.goesOn(3 * time.Minute)
	last := l.line[299]
	l.line = l.line[:299]
	l.goesOn(last.Due().Sub(l.now))
	assert.Equal(t, 300, l.stand().Waiting)
	l.goesOn(15 * time.Second)
	assert.Equal(t, 299, l.stand().Waiting)
}
