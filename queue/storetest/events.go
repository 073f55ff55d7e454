package storetest

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// ChangesOfMethod has an event give a room of two gates another method for some minutes, while
// people wait: each method in place of each that can be the room's own. It checks that nobody is
// thrown out, that places stay those of the arrival, that the limits hold, and that everybody gets
// in.
func ChangesOfMethod(t *testing.T, open func(t *testing.T) Harness) {
	t.Helper()
	for _, own := range []queue.Method{queue.FIFO, queue.Random, queue.Line} {
		for _, other := range []queue.Method{queue.FIFO, queue.Random, queue.Line, queue.Passthrough, queue.Reject} {
			if own != other {
				t.Run(own.String()+" to "+other.String()+" and back", func(t *testing.T) {
					h := open(t)
					openHouse(t, h, own).plays(other)
					require.NoError(t, h.Store.Close())
				})
			}
		}
	}
}

// house is a room with its gates, and all who come.
type house struct {
	*testing.T
	h        Harness
	s        queue.Settings // in force
	gates    []*room.Room
	now      queue.Instant
	random   *rand.Rand
	guests   []*guest
	admitted map[queue.Instant]int // by the minute
}

// guest is a visitor, who stays for a session once they are in.
type guest struct {
	came   queue.Instant
	ticket queue.Ticket
	in     queue.Instant // since when; 0 before
	last   queue.Instant // request that was let through
	waited bool          // with the place that they have
	gone   bool
}

const (
	houseSlots   = 1
	houseStep    = 5 * time.Second
	houseSession = time.Minute
)

func openHouse(t *testing.T, h Harness, own queue.Method) *house {
	t.Helper()
	w := &house{T: t, h: h, now: start, random: rand.New(rand.NewPCG(1, 2)), admitted: map[queue.Instant]int{}, s: queue.Settings{
		TotalActiveUsers: houseSlots, NewUsersPerMinute: houseSlots, SessionDuration: houseSession, Method: own, LineDropout: 10 * time.Minute,
	}.WithDefaults()}
	w.setClock()
	for range 2 {
		gate, err := room.New(t.Context(), w.now.Time(), room.Config{Name: "shop", Settings: w.s, Store: h.Store, Clock: func() time.Time { return w.now.Time() }})
		require.NoError(t, err)
		w.gates = append(w.gates, gate)
	}
	return w
}

func (w *house) setClock() {
	if w.h.SetClock != nil {
		w.h.SetClock(w.now)
	}
}

// plays lets people come, with more than a minute between two of them, so that no two share a
// bucket. From the fourth minute to the eighth the method is another. Where that is reject, every
// other guest stays away meanwhile, and keeps the place.
func (w *house) plays(other queue.Method) {
	w.Helper()
	const each, comes, begins, ends, over = 70 * time.Second, 7, 4 * time.Minute, 8 * time.Minute, 30 * time.Minute
	own := w.s
	for after := time.Duration(0); after < over && !w.over(comes); after += houseStep {
		switch after {
		case begins:
			s := own
			s.Method, s.Event = other, queue.ActiveEvent{Name: "sale", Start: start.Add(begins), End: start.Add(ends)}
			w.configure(s)
		case ends:
			w.configure(own)
		default:
		}
		if after%each == 0 && len(w.guests) < comes {
			w.guests = append(w.guests, &guest{came: w.now})
		}
		w.passes()
	}
	for i, g := range w.guests {
		assert.True(w, g.gone, "guest %d got in", i)
	}
}

// over reports whether so many people have come and gone.
func (w *house) over(people int) bool {
	return len(w.guests) == people && !slices.ContainsFunc(w.guests, func(g *guest) bool { return !g.gone })
}

func (w *house) configure(s queue.Settings) {
	w.Helper()
	w.s = s
	require.NoError(w, w.gates[0].Configure(w.Context(), w.now.Time(), queue.Configuration{Settings: s}))
	w.sync()
}

func (w *house) sync() {
	w.Helper()
	for _, gate := range w.gates {
		require.NoError(w, gate.Sync(context.Background(), w.now.Time()))
	}
}

// passes lets a step of time pass, in which everybody comes who is due, in any order.
func (w *house) passes() {
	w.Helper()
	w.now = w.now.Add(houseStep)
	w.setClock()
	w.sync()
	for _, i := range w.random.Perm(len(w.guests)) {
		g := w.guests[i]
		if stays := w.s.Method == queue.Reject && i%2 == 0 && g.in == 0; !g.gone && !stays && (g.ticket.State != queue.Waiting || g.ticket.Due() <= w.now) {
			w.visit(g)
		}
	}
}

func (w *house) visit(g *guest) {
	w.Helper()
	d := w.gates[w.random.IntN(len(w.gates))].Visit(context.Background(), w.now.Time(), room.Request{Ticket: g.ticket})
	before := g.ticket
	if d.Issue {
		g.ticket = d.Ticket
	}
	switch {
	case g.in != 0:
		require.Equal(w, room.Admitted, d.Outcome, "nobody is thrown out")
		require.Equal(w, before.ID, d.Ticket.ID)
		g.last, g.gone = w.now, w.now >= g.in.Add(houseSession)
	case d.Outcome == room.Admitted:
		w.enters(g)
	case w.s.Method == queue.Reject:
		require.Equal(w, room.Rejected, d.Outcome)
		*g = guest{came: w.now}
	default:
		require.Equal(w, room.Queued, d.Outcome)
		require.Equal(w, cmp.Or(before.ID, d.Ticket.ID), d.Ticket.ID, "the place stays")
		require.Equal(w, cmp.Or(before.ArrivedAt, d.Ticket.ArrivedAt), d.Ticket.ArrivedAt, "and goes by the arrival")
		g.came, g.waited = d.Ticket.ArrivedAt, true
	}
}

// enters judges an admission.
func (w *house) enters(g *guest) {
	w.Helper()
	g.in, g.last = w.now, w.now
	minute := w.now.Floor(time.Minute)
	w.admitted[minute]++
	if w.s.Method == queue.Passthrough {
		return
	}
	active := 0
	for _, o := range w.guests {
		if o.last != 0 && o.last.Add(houseSession) > w.now {
			active++
		}
		waits := o.in == 0 && o.ticket.State == queue.Waiting && o.ticket.Due() >= w.now && o.came.Floor(time.Minute) < g.came.Floor(time.Minute)
		require.False(w, waits && (!g.waited || w.s.Method != queue.Random), "nobody is overtaken who is present")
	}
	require.LessOrEqual(w, active, houseSlots)
	require.LessOrEqual(w, w.admitted[minute], houseSlots)
}
