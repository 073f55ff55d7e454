package memstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
)

func TestARestartDoesNotBringBackSessionsWhoseSlotsOthersHave(t *testing.T) {
	s := settings()
	s.TotalActiveUsers = 2
	g := run(t, t.TempDir(), s, 0)
	require.Equal(t, queue.Granted, g.claim(newcomer(1)))
	require.Equal(t, queue.Granted, g.claim(newcomer(2)))
	g.at(s.SessionDuration / 2)
	g.sync(queue.Report{Sessions: []queue.Session{{ID: id(2), Expires: start.Add(s.SessionDuration * 3 / 2)}}})
	g.at(s.SessionDuration + time.Second)
	require.Equal(t, queue.Granted, g.claim(newcomer(3)), "in the slot of the first")

	g = g.restart(s, s.SessionDuration+2*time.Second)
	assert.Equal(t, 2, g.look().Active)
	assert.Equal(t, queue.Refused, g.claim(newcomer(1)))
	assert.Equal(t, queue.Held, g.claim(newcomer(2)), "who had come back")
	assert.Equal(t, queue.Held, g.claim(newcomer(3)))
}
