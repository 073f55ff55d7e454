package queue_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestStreamsAreForThoseWhoAreLetInSoonAndForTheFirst(t *testing.T) {
	for _, c := range []struct {
		method queue.Method
		ahead  int
		told   time.Duration // 0: not known
		want   bool
	}{
		{queue.FIFO, 999, 0, true},
		{queue.FIFO, 1000, 0, false},
		{queue.FIFO, 999, 5 * time.Minute, true},
		{queue.FIFO, 999, 6 * time.Minute, false},
		{queue.FIFO, 1000, 5 * time.Minute, false},
		{queue.FIFO, 99, time.Hour, true},
		{queue.FIFO, 100, time.Hour, false},
		{queue.Random, 1000, 0, false},
		{queue.Line, 999, time.Hour, true},
		{queue.Line, 1000, 0, false},
	} {
		s := queue.Settings{Method: c.method, TotalActiveUsers: 1, NewUsersPerMinute: 200}.WithDefaults()
		assert.Equal(t, c.want, s.Streams(c.ahead, c.told), "%v, %d ahead, told %v", c.method, c.ahead, c.told)
	}
}

func TestWhereSessionsAreShorterThanIntervalsAllWhoDrawHaveStreams(t *testing.T) {
	for session, want := range map[time.Duration]bool{25 * time.Second: true, time.Minute: false} { // 23 s is the longest interval
		s := queue.Settings{Method: queue.Random, TotalActiveUsers: 1, NewUsersPerMinute: 200, SessionDuration: session}.WithDefaults()
		assert.Equal(t, want, s.Streams(100_000, time.Hour), session)
	}
}
