package room_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// with are the settings with a hold.
func with(s queue.Settings, h queue.ActiveHold) queue.Settings {
	s.HoldActive = h
	return s
}

func TestAHoldKeepsEverySlotAndLetsNobodyPass(t *testing.T) {
	for name, change := range map[string]func(*queue.Settings){
		"renewed":      func(*queue.Settings) {},
		"not renewed":  func(s *queue.Settings) { s.DisableSessionRenewal = true },
		"at most":      func(s *queue.Settings) { s.MaxSession = 6 * time.Minute },
		"exact line":   func(s *queue.Settings) { s.Method = queue.Line },
		"for a lease":  func(s *queue.Settings) { s.ConfirmWithin = 10 * time.Minute },
		"by the store": func(s *queue.Settings) { s.SessionDuration = 4 * time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			s := settings(2, 10)
			s.ConfirmWithin = 0
			change(&s)
			g := openGates(t, 2, s)
			g.at(start.Add(3 * time.Second))
			first, second := g[0].enter(), g[1].enter()
			g.at(start.Add(time.Minute))
			g[0].join()
			g[0].configure(with(s, queue.HoldNow))
			g.at(start.Add(time.Minute + time.Second))
			for _, d := range g {
				for _, ticket := range []queue.Ticket{first, second} {
					assert.Equal(t, room.OnHold, d.visit(ticket).Outcome)
				}
				assert.Equal(t, room.Queued, d.arrive().Outcome)
			}
			for range 12 {
				g.at(g[0].now.Add(10 * time.Minute))
				got := g[1].visit(first)
				require.Equal(t, room.OnHold, got.Outcome)
				first = got.Ticket
			}
			assert.Equal(t, 2, g[0].stand().Active, "also that of the visitor who is away")
			g[1].configure(s)
			g.at(g[0].now.Add(time.Second))
			assert.Equal(t, room.Admitted, g[0].visit(first).Outcome)
			assert.Equal(t, room.Queued, g[0].arrive().Outcome)
			got := g[1].visit(second)
			assert.Equal(t, room.Admitted, got.Outcome, "though they were away for two hours")
			assert.Equal(t, second.ID, got.Ticket.ID)
			assert.Equal(t, 2, g[0].stand().Active)
			g.at(g[0].now.Add(6 * time.Minute))
			assert.Zero(t, g[0].stand().Active, "their time goes on where it stood")
		})
	}
}

func TestATicketTellsAStoreOfASessionThatItHasLostInAHold(t *testing.T) {
	s, store := settings(1, 10), memstore.New()
	d := open(t, s)
	in := d.enter()
	d.at(time.Minute)
	d.configure(with(s, queue.HoldNow))
	_, err := store.Sync(context.Background(), "shop", &queue.Report{Node: 1, Now: start}) // the store that takes the other's place
	require.NoError(t, err)
	c := d.room.Configuration()
	c.Version = 1
	require.NoError(t, store.Configure(context.Background(), "shop", c))
	d = openOn(t, s, store)
	d.at(time.Hour)
	for range 3 {
		d.pass(time.Minute)
		assert.Equal(t, room.OnHold, d.visit(in).Outcome)
	}
	d.sync()
	assert.Equal(t, 1, d.stand().Active)
	d.configure(s)
	d.join()
	d.isIn(in)
}

func TestAVisitorWhoIsInIsInThroughASecondHold(t *testing.T) {
	s := settings(1, 10)
	s.SessionDuration, s.DisableSessionRenewal, s.ConfirmWithin = 5*time.Minute, true, 0
	d := open(t, s)
	in := d.enter()
	for _, hold := range []struct{ from, to time.Duration }{{1, 11}, {12, 20}} {
		d.at(hold.from * time.Minute)
		d.configure(with(s, queue.HoldNow))
		d.at((hold.to - 1) * time.Minute)
		if hold.from > 1 {
			peeked, _ := d.room.Peek(context.Background(), d.now.Time(), room.Request{Ticket: in})
			assert.Equal(t, queue.Accepted, peeked.State)
			assert.Equal(t, room.OnHold, d.visit(in).Outcome)
		}
		d.at(hold.to * time.Minute)
		d.configure(s)
	}
	d.isIn(in)
}

func TestAVisitorIsInThroughAHoldThatIsLongerThanMaxSession(t *testing.T) {
	s := settings(1, 10)
	s.SessionDuration, s.MaxSession, s.ConfirmWithin = 5*time.Minute, 10*time.Minute, 0
	d := open(t, s)
	in := d.enter()
	in.AcceptedAt = 0 // the new ticket of somebody who came with the one of their place
	d.at(time.Minute)
	d.configure(with(s, queue.HoldNow))
	d.at(time.Hour)
	assert.Equal(t, room.OnHold, d.visit(in).Outcome)
	d.at(2 * time.Hour)
	d.configure(s)
	d.isIn(in)
}

func TestAVisitorGoesBackToTheirPlaceAfterAHold(t *testing.T) {
	s := claiming(1)
	d := open(t, s)
	out, waiting := d.enter(), d.join()
	d.room.Revoke(d.now.Time(), out)
	d.pass(interval)
	in := d.polls(waiting).Ticket
	require.True(t, in.Leased)
	d.pass(30 * time.Second)
	d.configure(with(s, queue.HoldNow))
	d.pass(time.Minute)
	d.configure(s)
	d.pass(40 * time.Second)
	d.enter()
	later := d.join()
	d.pass(10 * time.Second)
	got := d.waits(in)
	assert.Equal(t, waiting.ID, got.ID)
	assert.Equal(t, waiting.ArrivedAt, got.ArrivedAt)
	assert.Less(t, got.ArrivedAt, later.ArrivedAt)
}

func TestMaxSessionDoesNotCountAShortHold(t *testing.T) {
	s := settings(1, 10)
	s.SessionDuration, s.MaxSession, s.ConfirmWithin = 5*time.Minute, 10*time.Minute, 0
	d := open(t, s)
	in := d.enter()
	d.at(4 * time.Minute)
	in = d.isIn(in)
	d.at(4*time.Minute + 30*time.Second)
	d.configure(with(s, queue.HoldNow))
	d.at(7*time.Minute + 30*time.Second)
	d.configure(s)
	for at := 8 * time.Minute; at < 13*time.Minute; at += 30 * time.Second {
		d.at(at)
		in = d.isIn(in)
	}
	d.at(13 * time.Minute)
	assert.NotEqual(t, in.ID, d.visit(in).Ticket.ID)
}

func TestAHoldThatEndsSessionsRenewsNone(t *testing.T) {
	s := settings(1, 10)
	d := open(t, s)
	in := d.enter()
	d.at(time.Minute)
	in = d.isIn(in)
	d.at(2 * time.Minute)
	d.configure(with(s, queue.HoldEnding))
	for _, at := range []time.Duration{3, 4, 5} {
		d.at(at * time.Minute)
		d.isIn(in)
	}
	d.at(6*time.Minute + time.Second)
	assert.Equal(t, room.Queued, d.visit(in).Outcome)
	assert.Zero(t, d.stand().Active)
	d.configure(s)
	assert.Equal(t, room.Queued, d.arrive().Outcome, "somebody waits")
}

func TestASoldOutRoomTakesNobodyAndKeepsThoseWhoAreIn(t *testing.T) {
	for _, method := range []queue.Method{queue.FIFO, queue.Random, queue.Line, queue.Passthrough} {
		t.Run(method.String(), func(t *testing.T) {
			s := settings(1, 10)
			s.Method, s.OnSoldOut, s.ConfirmWithin = method, queue.CloseToAll, 0
			g := openGates(t, 2, s)
			in := g[0].enter()
			var waiting queue.Ticket
			if method != queue.Passthrough {
				waiting = g[0].join()
			}
			assert.True(t, g[0].room.HearLeft(g[0].now.Time(), 0, ""))
			g.sync()
			for _, d := range g {
				got := d.visit(waiting)
				assert.Equal(t, room.Rejected, got.Outcome)
				assert.True(t, got.SoldOut)
				assert.False(t, got.Drop, "the place may be worth something again")
				assert.Equal(t, room.Rejected, d.arrive().Outcome)
			}
			in = g[1].isIn(in)
			assert.True(t, g[1].room.HearLeft(g[1].now.Add(time.Second).Time(), 3, ""))
			g.at(g[0].now.Add(2 * time.Second))
			g.sync()
			assert.NotEqual(t, room.Rejected, g[0].arrive().Outcome)
			assert.Equal(t, 3, g[0].stand().Stock.Left)
			if method == queue.FIFO {
				got := g[1].visit(waiting)
				assert.Equal(t, waiting.ArrivedAt, got.Ticket.ArrivedAt, "they have their place again")
			}
			g[0].isIn(in)
		})
	}
}

func TestASoldOutRoomThatHoldsEverybodyHasThemWait(t *testing.T) {
	s := settings(1, 10)
	s.OnSoldOut = queue.CloseToAll
	d := open(t, s)
	d.room.HearLeft(d.now.Time(), 0, "")
	d.sync()
	require.Equal(t, room.Rejected, d.arrive().Outcome)
	s.QueueAll = true
	s.Event = queue.ActiveEvent{Prequeue: d.now, Start: d.now.Add(time.Minute), End: d.now.Add(time.Hour), Prequeueing: true, HoldsNew: true}
	d.configure(s)
	waiting := d.join()
	d.now = d.now.Add(time.Minute)
	s.QueueAll, s.Event.Prequeueing, s.Event.HoldsNew = false, false, false
	d.configure(s)
	d.isIn(waiting)
	d.room.HearLeft(d.now.Time(), 0, "")
	d.sync()
	assert.Equal(t, room.Rejected, d.arrive().Outcome)
}

// Somebody who shows any ticket that they ever had, at any of the gates, whatever is switched
// meanwhile, is never in for longer than max_session without a time out of the room. Nor are more
// in than there are slots.
func TestNobodyIsInForLongerThanMaxSession(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seconds := func(low, high int, name string) time.Duration {
			return time.Duration(rapid.IntRange(low, high).Draw(rt, name)) * time.Second
		}
		s := settings(2, 60)
		s.MaxSession, s.SessionDuration, s.ConfirmWithin = seconds(5, 20, "longest"), seconds(2, 20, "session"), seconds(0, 10, "confirm")
		s.ClaimWithin = 0
		store := memstore.New()
		var g gates
		for range 2 {
			g = append(g, openOn(t, s, store))
		}
		g.sync()
		var tickets []queue.Ticket
		admitted, held := map[queue.ID]queue.Instant{}, map[queue.ID]time.Duration{}
		stands := false
		pass := func(by time.Duration) {
			g.at(g[0].now.Add(by))
			for id := range admitted {
				if stands {
					held[id] += by
				}
			}
		}
		comes := func(rt *rapid.T, q room.Request) {
			d := rapid.SampledFrom(g).Draw(rt, "gate")
			got := d.room.Visit(context.Background(), d.now.Time(), q)
			if got.Ticket.State != queue.None {
				tickets = append(tickets, got.Ticket)
			}
			if got.Outcome != room.Admitted {
				return
			}
			if stands {
				rt.Fatalf("somebody passes in a hold: %+v", got)
			}
			id := got.Ticket.ID
			if got.Fresh || admitted[id] == 0 {
				admitted[id], held[id] = d.now, 0
			}
			if in := d.now.Sub(admitted[id]) - held[id]; in >= s.MaxSession {
				rt.Fatalf("in for %v, at most %v: %+v", in, s.MaxSession, got)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"time passes": func(*rapid.T) { pass(seconds(1, 12, "by")) },
			"somebody comes": func(rt *rapid.T) {
				q := room.Request{Ask: asks(rapid.Bool().Draw(rt, "hidden"), false)}
				if len(tickets) > 0 && rapid.IntRange(0, 4).Draw(rt, "old") > 0 {
					q.Ticket = rapid.SampledFrom(tickets).Draw(rt, "ticket")
				}
				comes(rt, q)
			},
			"somebody comes again and again": func(rt *rapid.T) {
				var q room.Request
				if len(tickets) > 0 {
					q.Ticket = rapid.SampledFrom(tickets).Draw(rt, "ticket")
				}
				newest := rapid.Bool().Draw(rt, "newest")
				for range rapid.IntRange(1, 40).Draw(rt, "times") {
					comes(rt, q)
					if newest && len(tickets) > 0 {
						q.Ticket = tickets[len(tickets)-1]
					}
					pass(time.Second)
				}
			},
			"an answer goes on": func(rt *rapid.T) {
				if len(tickets) > 0 {
					d := rapid.SampledFrom(g).Draw(rt, "gate")
					d.room.Touch(d.now.Time(), rapid.SampledFrom(tickets).Draw(rt, "ticket"))
				}
			},
			"a hold begins or ends": func(rt *rapid.T) {
				stands = !stands
				h := queue.HoldOff
				if stands {
					h = queue.HoldNow
				}
				g[0].configure(with(s, h))
				g.sync()
			},
			"": func(rt *rapid.T) {
				if n := g[0].stand(); n.Active > 2 {
					rt.Fatalf("%d are in", n.Active)
				}
			},
		})
	})
}
