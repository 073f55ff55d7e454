//go:build !race

package room_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// A school of eight waits among 150 others, at gates that a balancer sends everybody to at random,
// where two of it count. So the school gets in no less often than two others do, and no more often
// than as many for each gate.
func TestANetworkWithMorePeopleThanPlacesGetsInAtManyGates(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line} {
		for _, n := range []int{2, 3} {
			t.Run(fmt.Sprint(method, " at ", n), func(t *testing.T) {
				t.Parallel()
				const pupils, others, places, lasts = 8, 150, 2, 45 * time.Minute
				s := settings(2, 60)
				s.MaxWaitingPerNetwork, s.Method, s.Pacing, s.SessionDuration = places, method, queue.PacingEven, time.Second
				g, random := openGates(t, n, s), rand.New(rand.NewPCG(15, uint64(n)))
				line := make([]passer, pupils+others)
				for i := range line {
					line[i] = passer{network: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i), 0}), 24), next: start.Add(time.Duration(i) * time.Second)}
					if i < pupils {
						line[i].network = school
					}
				}
				in := map[bool]int{} // of the school, and of the others
				for now := start; now < start.Add(lasts); now += 200 {
					if now.Sub(start)%time.Second == 0 {
						g.at(now)
					}
					for _, i := range random.Perm(len(line)) {
						if p := &line[i]; p.next <= now && p.asks(g[random.IntN(n)], now) && now > start.Add(5*time.Minute) {
							in[p.network == school]++
						}
					}
				}
				fair := float64(in[false]) * places / others
				t.Logf("%s at %d: %d of the school and %d others were let in", method, n, in[true], in[false])
				assert.Greater(t, in[false], 2000)
				assert.Greater(t, float64(in[true]), fair/3)
				assert.Less(t, float64(in[true]), fair*(1+1.2*float64(n)))
			})
		}
	}
}

// passer is somebody who comes again without a ticket when they have been let in.
type passer struct {
	network netip.Prefix
	ticket  queue.Ticket
	next    queue.Instant
}

// asks says whether they are let in at a gate.
func (p *passer) asks(d *door, now queue.Instant) bool {
	d.now = now
	got := d.from(p.network, p.ticket)
	if got.Outcome == room.Admitted {
		p.ticket, p.next = queue.Ticket{}, now+1
		return true
	}
	p.ticket, p.next = got.Ticket, now.Add(queue.WholeSeconds(got.Ticket.Due().Sub(now)))
	return false
}
