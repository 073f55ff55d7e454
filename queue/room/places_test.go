package room_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

func TestConfigurationTellsHowLongPlacesFromBeforeLast(t *testing.T) {
	s := settings(1, 10)
	s.QueueTicketTTL = 5 * time.Minute
	d := open(t, s)
	for _, step := range []struct {
		what    string
		at, ttl time.Duration
		longest time.Duration
		since   time.Duration // after start; negative for longer ago than any ticket
	}{
		{"shorter: tickets of five minutes are about", time.Minute, 2 * time.Minute, 5 * time.Minute, -1},
		{"longer again, but no longer than is remembered", 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, -1},
		{"longer than what is remembered", 4 * time.Minute, 30 * time.Minute, 5 * time.Minute, -time.Minute},
		{"shorter", 40 * time.Minute, 5 * time.Minute, 30 * time.Minute, -time.Minute},
		{"longer, when tickets of half an hour are about", 60 * time.Minute, 20 * time.Minute, 30 * time.Minute, -time.Minute},
		{"longer, when none of those is", 2 * time.Hour, 25 * time.Minute, 20 * time.Minute, -time.Minute},
		{"longer than all that", 3 * time.Hour, 10 * time.Hour, 25 * time.Minute, 3*time.Hour - 25*time.Minute},
	} {
		d.at(step.at)
		s.QueueTicketTTL = step.ttl
		d.configure(s)
		want := queue.Places{Longest: step.longest}
		if step.since != -1 {
			want.Since = start.Add(step.since)
		}
		require.Equal(t, want, d.room.Configuration().Places, step.what)
	}
}

// In both methods the settings from later on would honour the ticket, and the store
// has forgotten who used it.
func TestUsedPlaceIsWorthNothingWhenPlacesAreMadeToLastLonger(t *testing.T) {
	for name, method := range map[string]queue.Method{"in fifo": queue.FIFO, "in an exact line": queue.Line} {
		t.Run(name, func(t *testing.T) {
			store, err := memstore.Open(t.TempDir())
			require.NoError(t, err)
			s := settings(1, 10)
			s.Method, s.SessionDuration, s.QueueTicketTTL = method, 20*time.Second, 40*time.Second
			d := openOn(t, s, store)
			d.enter()
			use, keep := d.join(), d.join()
			d.now = use.Due()
			d.pass(0)
			d.isIn(use)
			for after := 40; after <= 180; after += 20 { // others come and go, and the journal is written anew
				d.at(time.Duration(after) * time.Second)
				keep = d.visit(keep).Ticket
				if keep.State == queue.Accepted {
					keep = d.join()
				}
			}
			before := keep
			s.QueueTicketTTL, s.LineDropout = time.Hour, time.Hour
			other := openOn(t, s, store) // by whose clock it is start now, and which remembers nobody
			other.configure(s)
			d.sync()
			for _, gate := range []*door{other, d} {
				assert.NotEqual(t, use.ID, gate.visit(use).Ticket.ID)
			}
			other.at(50 * time.Minute)
			assert.Equal(t, before.ID, other.visit(before).Ticket.ID, "who was there just now is not sent away")
		})
	}
}
