package room_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// prequeue is two gates with a shuffled prequeue from start on, of an event in six minutes. Whoever
// asks later has drawn an earlier place, by a minute: so long is a bucket in which all are equal.
type prequeue struct {
	gates
	s       queue.Settings // without the event
	opens   time.Duration  // when the event starts, after start
	drawn   map[queue.ID]queue.Instant
	waiting []queue.Ticket
	in      queue.Ticket
}

func openPrequeue(t *testing.T) *prequeue {
	t.Helper()
	p := &prequeue{s: settings(1, 100), opens: 6 * time.Minute, drawn: map[queue.ID]queue.Instant{}}
	p.s.ConfirmWithin = 0
	store := memstore.New()
	for range 2 {
		p.gates = append(p.gates, openWith(t, room.Config{Settings: p.s, Store: store, Draw: p.draw}))
	}
	p.in = p.gates[0].enter()
	p.sync()
	p.begins()
	return p
}

func (p *prequeue) draw(e queue.ActiveEvent, id queue.ID) queue.Instant {
	if _, ok := p.drawn[id]; !ok {
		p.drawn[id] = e.Prequeue.Add(190*time.Second - time.Duration(len(p.drawn))*time.Minute)
	}
	return p.drawn[id]
}

// goesBy has the room go by settings at a gate.
func (p *prequeue) goesBy(gate int, s queue.Settings) {
	p.gates[gate].configure(s)
	p.sync()
}

func (p *prequeue) cancelled() { p.goesBy(1, p.s) }

func (p *prequeue) begins() {
	s := p.s
	s.QueueAll = true
	s.Event = queue.ActiveEvent{Name: "sale", Prequeue: start, Start: start.Add(p.opens), End: start.Add(time.Hour), Prequeueing: true, HoldsNew: true, Shuffle: true}
	p.goesBy(0, s)
}

func (p *prequeue) starts() {
	s := p.s
	s.Event = queue.ActiveEvent{Name: "sale", Prequeue: start, Start: start.Add(p.opens), End: start.Add(time.Hour), Shuffle: true}
	p.goesBy(0, s)
}

// until lets time go by, in which everybody stays who waits or is in.
func (p *prequeue) until(after time.Duration) {
	for end := start.Add(after); p.gates[0].now < end; {
		p.at(min(end, p.gates[0].now.Add(10*time.Second)))
		p.in = p.gates[0].isIn(p.in)
		for i, t := range p.waiting {
			p.waiting[i] = p.gates[i%2].waits(t)
		}
	}
}

func (p *prequeue) joinsAt(after time.Duration) {
	p.until(after)
	p.waiting = append(p.waiting, p.gates[len(p.waiting)%2].join())
}

// order is the order in which those who wait are let in, one at a time. Those who are expected last
// come first in each round.
func (p *prequeue) order(expected ...int) (order []int) {
	p.until(p.gates[0].now.Sub(start) + time.Minute)
	p.gates[0].room.Revoke(p.gates[0].now.Time(), p.in)
	for round := 0; len(order) < len(expected) && round < 100; round++ {
		p.at(p.gates[0].now.Add(10 * time.Second))
		p.sync()
		for _, i := range slices.Backward(expected) {
			if slices.Contains(order, i) {
				continue
			}
			d := p.gates[i%2]
			got := d.visit(p.waiting[i])
			if p.waiting[i] = got.Ticket; got.Outcome == room.Admitted {
				order = append(order, i)
				d.room.Revoke(d.now.Time(), got.Ticket)
			}
		}
	}
	return order
}

func TestThePlacesOfAShuffledPrequeueStandOrFallWithIt(t *testing.T) {
	for name, c := range map[string]struct {
		then  func(p *prequeue)
		order []int
	}{
		"cancelled in its first minutes, they go by the arrival": {func(p *prequeue) {
			p.until(150 * time.Second)
			p.cancelled()
			p.joinsAt(185 * time.Second)
		}, []int{0, 1, 2, 3}},
		"cancelled when all drawn moments are past, they go by the arrival": {func(p *prequeue) {
			p.until(5 * time.Minute)
			p.cancelled()
			p.joinsAt(5*time.Minute + 5*time.Second)
		}, []int{0, 1, 2, 3}},
		"cancelled and planned again, they are those that were drawn": {func(p *prequeue) {
			p.until(150 * time.Second)
			p.cancelled()
			p.joinsAt(185 * time.Second)
			p.until(4 * time.Minute)
			p.begins()
			p.until(6 * time.Minute)
			p.starts()
		}, []int{3, 2, 1, 0}},
		"once the event has started, they are those that were drawn": {func(p *prequeue) {
			p.until(6 * time.Minute)
			p.starts()
			p.joinsAt(6*time.Minute + 5*time.Second)
			p.cancelled()
		}, []int{2, 1, 0, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			p := openPrequeue(t)
			for _, after := range []time.Duration{10, 70, 130} {
				p.joinsAt(after * time.Second)
			}
			require.NotZero(t, p.waiting[2].CameAt)
			c.then(p)
			assert.Equal(t, c.order, p.order(c.order...))
		})
	}
}

func TestANetworkHasNoMoreEntriesInADrawThanItMayHaveWaiting(t *testing.T) {
	p := openPrequeue(t)
	p.s.MaxWaitingPerNetwork = 1
	p.begins()
	d := p.gates[0]
	human := d.from(home, queue.Ticket{}).Ticket // has drawn the last place
	staysUntil := func(after time.Duration) {
		for d.now < start.Add(after) {
			p.at(min(start.Add(after), d.now.Add(10*time.Second)))
			p.in, human = d.isIn(p.in), d.from(home, human).Ticket
		}
	}
	var bots []queue.Ticket
	for i := range 14 { // entry after entry of one network, each of which is left for the next
		staysUntil(10*time.Second + time.Duration(i)*26*time.Second)
		bots = append(bots, d.from(school, queue.Ticket{}).Ticket)
		require.NotZero(t, bots[i].CameAt, "it has an entry")
	}
	staysUntil(6 * time.Minute)
	p.starts()
	last, chosen := d.from(school, bots[13]).Ticket, bots[12]
	assert.Less(t, last.ArrivedAt, human.ArrivedAt, "who was there at the start has what they drew")
	staysUntil(7 * time.Minute)
	tried := d.from(school, chosen)
	chosen = tried.Ticket
	assert.Greater(t, chosen.ArrivedAt, human.ArrivedAt)
	assert.True(t, tried.Rejoined, "and it is told")
	staysUntil(7*time.Minute + 20*time.Second)
	d.room.Revoke(d.now.Time(), p.in)
	p.sync()
	p.at(d.now.Add(interval))
	assert.Equal(t, room.Queued, d.from(school, chosen).Outcome)
	assert.Equal(t, room.Admitted, d.from(home, human).Outcome)
}

func TestAnEntryWhoseCheckInsLapseIsOutOfTheDraw(t *testing.T) {
	for name, back := range map[string]time.Duration{"as the event goes on": 7 * time.Minute, "when it is over": 9 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			p := openPrequeue(t)
			d, opens := p.gates[0], start.Add(6*time.Minute)
			one, other := d.join(), d.join()
			p.joinsAt(time.Minute)
			drawn := p.waiting[0].ArrivedAt
			p.until(6 * time.Minute)
			p.starts()
			p.until(min(back, 8*time.Minute))
			if back > 8*time.Minute {
				p.cancelled()
			}
			p.until(back)
			for range 2 {
				assert.Greater(t, d.waits(one).ArrivedAt, opens, "however often the ticket is shown")
			}
			assert.Greater(t, p.gates[1].waits(other).ArrivedAt, opens, "at any gate")
			assert.Equal(t, drawn, p.waiting[0].ArrivedAt, "who has stayed has what they drew")
		})
	}
}

// An entry that lapses just before the start is out everywhere, however young its ticket is and
// whichever gate is asked first.
func TestALapsedEntryIsOutOfTheDrawAtEveryGateAndHearsOfIt(t *testing.T) {
	for _, first := range []int{0, 1} {
		p := openPrequeue(t)
		p.joinsAt(5 * time.Minute)
		lapsed := p.waiting[0]
		p.until(5*time.Minute + 20*time.Second)
		p.waiting = nil
		p.until(6*time.Minute + time.Second)
		p.starts()
		for _, gate := range []int{first, 1 - first} {
			d := p.gates[gate].visit(lapsed)
			assert.Greater(t, d.Ticket.ArrivedAt, start.Add(6*time.Minute))
			assert.True(t, d.Rejoined)
			assert.False(t, p.gates[gate].visit(d.Ticket).Rejoined, "once")
		}
	}
}

// The bucket in which somebody is counted who joins after the start may have begun before it.
func TestWhoHasRejoinedAfterTheStartHasNotWhatTheyDrewByAnOldTicket(t *testing.T) {
	p := openPrequeue(t)
	p.opens = 5*time.Minute + 30*time.Second
	p.begins()
	d, opens := p.gates[0], start.Add(p.opens)
	late := d.join()
	p.until(p.opens)
	p.starts()
	p.until(p.opens + 5*time.Second)
	rejoined := d.visit(late)
	require.True(t, rejoined.Rejoined)
	for range 2 {
		p.until(d.now.Sub(start) + interval)
		rejoined.Ticket = d.waits(rejoined.Ticket)
		assert.Greater(t, d.waits(late).ArrivedAt, opens)
	}
}

// Of a start that is moved to now, streams cannot tell by new tickets who was present.
func TestWhoseTicketIsAsOldAsAStreamIsInTheDrawIfTheStartIsMovedToNow(t *testing.T) {
	p := openPrequeue(t)
	p.joinsAt(3 * time.Minute)
	asked := p.waiting[0]
	p.waiting = nil
	p.until(5 * time.Minute)
	s := p.s
	s.Event = queue.ActiveEvent{Name: "sale", Prequeue: start, Start: start.Add(5*time.Minute + time.Second), End: start.Add(time.Hour), Prequeueing: true, HoldsNew: true, Shuffle: true}
	s.QueueAll = true
	p.goesBy(0, s)
	p.until(5*time.Minute + 2*time.Second)
	s.QueueAll, s.Event.Prequeueing, s.Event.HoldsNew = false, false, false
	p.goesBy(0, s)
	p.until(5*time.Minute + 40*time.Second)
	d := p.gates[1].visit(asked)
	assert.Equal(t, asked.ArrivedAt, d.Ticket.ArrivedAt)
	assert.False(t, d.Rejoined)
}

// The stream of a page checks in at one gate, and the page's request just before the start brings
// its ticket, which is not due.
func TestWhoAsksShortlyBeforeTheStartIsInTheDrawAtEveryGate(t *testing.T) {
	for _, before := range []time.Duration{20, 10, 3} {
		p := openPrequeue(t)
		p.joinsAt(5*time.Minute + 35*time.Second)
		asked := p.waiting[0]
		p.waiting = nil
		p.until(6*time.Minute - before*time.Second)
		asked = p.gates[0].waits(asked)
		assert.Equal(t, p.gates[0].now, asked.LastCheckIn)
		p.until(6 * time.Minute)
		p.starts()
		p.until(7 * time.Minute)
		d := p.gates[1].visit(asked)
		assert.Equal(t, asked.ArrivedAt, d.Ticket.ArrivedAt)
		assert.False(t, d.Rejoined)
	}
}

func TestWhoWasPresentAtTheStartHasWhatTheyDrewByAnOldTicketToo(t *testing.T) {
	p := openPrequeue(t)
	d := p.gates[0]
	first := d.join()
	for latest := first; d.now < start.Add(6*time.Minute); latest = d.waits(latest) { // as by a desk that calls them back
		p.at(d.now.Add(interval / 2))
	}
	p.starts()
	assert.Equal(t, first.ArrivedAt, d.waits(first).ArrivedAt)
}
