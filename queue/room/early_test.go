package room_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
)

// Whoever asks before they are due, at whichever node, and then keeps to what is left of their
// interval in whole seconds, is counted all the time.
func TestWhoeverAsksEarlyAndThenKeepsToWhatTheyAreToldIsCountedAllTheTime(t *testing.T) {
	const way = 300 * time.Millisecond // of a request, and of a browser's timer
	for _, refresh := range []time.Duration{time.Second, 1500 * time.Millisecond, 2 * time.Second, 5 * time.Second, interval} {
		for early := time.Duration(0); early < refresh; early += max(refresh/9, 110*time.Millisecond) {
			for asked, name := range []string{"the same node", "another node"} {
				t.Run(fmt.Sprintf("%v after %v at %s", refresh, early, name), func(t *testing.T) {
					s := settings(1, 100)
					s.RefreshInterval = refresh
					store := memstore.New()
					nodes := []*door{openOn(t, s, store), openOn(t, s, store)}
					at := func(now queue.Instant) {
						for _, d := range nodes {
							d.now = now
							d.sync()
						}
					}
					nodes[0].enter()
					ticket := nodes[0].join()
					at(start.Add(early))
					d := nodes[asked].visit(ticket)
					require.Equal(t, ticket.LastCheckIn, d.Ticket.LastCheckIn, "too early")
					ticket = d.Ticket
					again := nodes[asked].now.Add(queue.WholeSeconds(nodes[asked].room.DueIn(nodes[asked].now.Time(), ticket)) + way)
					for now := nodes[0].now; now < again; now = now.Add(50 * time.Millisecond) {
						at(now)
						n, err := nodes[0].room.CurrentNumbers(context.Background(), now.Time())
						require.NoError(t, err)
						require.Positive(t, n.Waiting, "%v after they came", now.Sub(start))
					}
					at(again)
					require.Equal(t, again, nodes[asked].visit(ticket).Ticket.LastCheckIn, "their check-in counts")
					at(again.Add(refresh * 3))
					require.Zero(t, nodes[0].stand().Waiting, "who stays away is not counted for long")
				})
			}
		}
	}
}
