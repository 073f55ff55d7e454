package room_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// gates are nodes that share a store, at one time.
type gates []*door

func openGates(t testing.TB, n int, s queue.Settings) (list gates) {
	t.Helper()
	store := memstore.New()
	for range n {
		list = append(list, openOn(t, s, store))
	}
	list.sync() // by which all know each other
	return list
}

func (g gates) sync() {
	for _, d := range g {
		d.sync()
	}
}

// at has it be that time, with a sync of each gate.
func (g gates) at(now queue.Instant) {
	for _, d := range g {
		d.now = now
	}
	g.sync()
}

// A copied ticket is shown at several gates, to each of which a goodbye is said in the end, and a
// slot may open for it. The others who wait are counted all the time, also where their buckets are
// fine.
func TestOneTicketAtManyGatesTakesNobodyElseOutOfTheCount(t *testing.T) {
	for _, bucket := range []time.Duration{0, time.Minute} {
		for name, opens := range map[string]int{"before they are shown": 0, "after": 1, "never": 2} {
			t.Run(fmt.Sprintf("bucket %v, a slot opens %s", bucket, name), func(t *testing.T) {
				s := settings(1, 1000)
				s.Bucket, s.ConfirmWithin = bucket, 0
				copies(t, openGates(t, 6, s), s, opens)
			})
		}
	}
}

// copies has a ticket be shown at all gates but the first, in two rounds; a slot opens before one
// of them.
func copies(t *testing.T, g gates, s queue.Settings, opens int) {
	const others = 40
	g[0].enter()
	join := func(after time.Duration) queue.Ticket { // in the background, to be counted for long
		return g[0].room.Visit(context.Background(), g[0].now.Add(after).Time(), room.Request{Ask: room.Ask{By: room.HiddenPage}}).Ticket
	}
	shown := slices.Repeat([]queue.Ticket{join(0)}, len(g))
	for i := range others {
		join(time.Duration(i+1) * 10 * time.Millisecond)
	}
	g.at(start.Add(2 * time.Second))
	g.at(start.Add(3 * time.Second)) // by which buckets are cut
	stay := func(when string) (active int) {
		t.Helper()
		g.sync()
		n, err := g[0].room.CurrentNumbers(context.Background(), g[0].now.Time())
		require.NoError(t, err)
		require.GreaterOrEqual(t, n.Waiting, others, "%s, all others are counted", when)
		return n.Active
	}
	for round := range 2 { // in which the others do not check in
		g.at(start.Add(time.Duration(round+1) * 25 * time.Second))
		if round == opens {
			s.TotalActiveUsers = 2
			g[1].configure(s)
			g.sync()
		}
		for i, d := range g[1:] {
			shown[i] = d.visit(shown[i]).Ticket
		}
		active := stay(fmt.Sprint("in round ", round))
		if round == opens && s.Bucket != 0 { // with fine buckets, the others are ahead until they check in
			assert.Equal(t, 2, active, "the ticket holds one slot")
		}
	}
	for i, d := range g[1:] {
		d.room.Leave(d.now.Time(), shown[i])
		stay("after a goodbye")
	}
}

// Visitors whom a balancer sends to another gate each time are told, at each gate, how many wait,
// and how many of them came earlier.
func TestGatesTellTheSameNumbersOfVisitorsWhoGoRoundRobin(t *testing.T) {
	const people, gap = 300, 100 * time.Millisecond
	for _, n := range []int{2, 3} {
		t.Run(fmt.Sprint(n, " gates"), func(t *testing.T) {
			g := openGates(t, n, settings(1, 1000))
			g[0].enter()
			type visitor struct {
				queue.Ticket
				next  queue.Instant
				asked int
			}
			line := make([]visitor, people)
			wrong, answers := 0, 0
			for now := start; now < start.Add(150*time.Second); now += 50 {
				for i, d := range g {
					d.now = now
					if now.Sub(start)%time.Second == (time.Duration(i) * time.Second / time.Duration(n)).Truncate(50*time.Millisecond) {
						d.sync()
					}
				}
				came := min(people, int(now.Sub(start)/gap)+1)
				for i := range line[:came] {
					v := &line[i]
					if now < v.next {
						continue
					}
					d := g[(i+v.asked)%n]
					v.Ticket = d.visit(v.Ticket).Ticket
					v.asked++
					v.next = now.Add(queue.WholeSeconds(d.room.DueIn(now.Time(), v.Ticket)))
					if now < start.Add(40*time.Second) {
						continue
					}
					numbers := d.room.Numbers()
					ahead, known := numbers.Ahead(v.ArrivedAt)
					require.True(t, known)
					answers++
					if numbers.Waiting < people*9/10 || numbers.Waiting > people*11/10 || max(ahead-i, i-ahead) > people/10 {
						wrong++
						t.Logf("%v: %d of %d, and told %d of %d", now.Sub(start), i, people, ahead, numbers.Waiting)
					}
				}
			}
			assert.Greater(t, answers, 5*people, "they came again and again")
			assert.Zero(t, wrong, "answers, of %d, that are not within 10 %% of the truth", answers)
		})
	}
}
