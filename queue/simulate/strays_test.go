package simulate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// TestClientsWithoutCookiesLeaveTheSlotsToPeople has ten clients without cookies ask every
// second: at a room that is just full of people, and at one with a long line.
func TestClientsWithoutCookiesLeaveTheSlotsToPeople(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method queue.Method
		people int
	}{
		"fifo":                   {queue.FIFO, 1800},
		"random":                 {queue.Random, 1800},
		"line":                   {queue.Line, 1800},
		"fifo, with a long line": {queue.FIFO, 3000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, c.method, func(config *simulate.Config) { config.Visitors, config.Strays, config.Seed = c.people, 10, 11 })
			assert.Greater(t, r.People.Strays, 15_000)
			assert.GreaterOrEqual(t, r.Slots.PeopleShare, .95)
		})
	}
}

func TestConfirmingTakesSlotsFromClientsWithoutCookies(t *testing.T) {
	t.Parallel()
	with := func(within time.Duration) *simulate.Result {
		return run(t, queue.FIFO, func(c *simulate.Config) {
			c.Visitors, c.Strays, c.Room.SessionDuration, c.Room.ConfirmWithin = 900, 10, 5*time.Minute, within
		})
	}
	off, on := with(0), with(time.Minute)
	assert.Less(t, off.Slots.PeopleShare, .92)
	assert.Greater(t, on.Slots.PeopleShare, .95)
	assert.Less(t, on.Wait.Max, off.Wait.Max/2)
}
