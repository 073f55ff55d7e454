package room_test

import (
	"bytes"
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// exactLine is a room with an exact line beside a model of it: who stands where,
// and until when.
type exactLine struct {
	*rapid.T
	settings queue.Settings
	dir      string
	store    *memstore.Store
	room     *room.Room
	random   *rand.Rand
	now      queue.Instant

	visitors []*person
	line     []standing
	last     uint64
	absent   map[queue.ID]standing      // those who said goodbye, with until when their place is remembered
	away     [][2]queue.Instant         // from when until when there was no process
	since    queue.Instant              // the store's memory begins
	settles  queue.Instant              // until when nobody is let in
	seated   map[queue.ID]queue.Instant // until when the origin's log has them active
	entered  map[queue.ID]queue.Instant // when they were let in last
	ahead    map[queue.ID]int           // what they were told last, where nothing but time has passed since
}

type standing struct {
	id       queue.ID
	number   uint64
	priority int16
	checked  queue.Instant
	until    queue.Instant

	confirmed bool // they have come back since they joined
}

func newExactLine(t *rapid.T, dir string) *exactLine {
	x := &exactLine{
		T: t, dir: dir, now: start, since: start, random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)),
		absent: map[queue.ID]standing{}, seated: map[queue.ID]queue.Instant{}, entered: map[queue.ID]queue.Instant{}, ahead: map[queue.ID]int{},
		settings: queue.Settings{
			TotalActiveUsers: rapid.IntRange(1, 5).Draw(t, "total"), NewUsersPerMinute: rapid.IntRange(1, 20).Draw(t, "perMinute"),
			SessionDuration: time.Duration(rapid.IntRange(5, 60).Draw(t, "session")) * time.Second, Method: queue.Line,
			LineDropout: time.Duration(rapid.IntRange(30, 90).Draw(t, "dropout")) * time.Second, LineGrace: 10 * time.Second, Pacing: queue.PacingMinute,
			Occupancy: queue.Occupancy(rapid.IntRange(0, 1).Draw(t, "occupancy")), RefreshJitter: .15, QueueTicketTTL: 40 * time.Second,
		},
	}
	x.open()
	return x
}

func (x *exactLine) open() {
	var err error
	x.store, err = memstore.Open(x.dir)
	require.NoError(x, err)
	x.room, err = room.New(context.Background(), x.now.Time(), room.Config{Name: "shop", Settings: x.settings, Store: x.store, Uint64: x.random.Uint64})
	require.NoError(x, err)
}

// restart ends the process. Nobody is in line any more until they check in.
func (x *exactLine) restart() {
	require.NoError(x, x.store.Close())
	died := x.now
	x.now = x.now.Add(time.Duration(rapid.SampledFrom([]int{1, 2000, 2001, 10_000, 100_000, 10_000_000}).Draw(x.T, "away")) * time.Millisecond)
	if x.now.Sub(died) > queue.Silence {
		x.away = append(x.away, [2]queue.Instant{died, x.now})
	}
	if slices.ContainsFunc(x.line, func(s standing) bool { return s.checked == died }) {
		x.settles = x.now.Add(x.settings.WithDefaults().ReturnsWithin())
	}
	x.since, x.line = x.now, nil
	clear(x.ahead)
	clear(x.absent)
	x.open()
}

func (x *exactLine) pass() {
	for range rapid.IntRange(1, 20).Draw(x.T, "steps") {
		x.now = x.now.Add(time.Duration(rapid.IntRange(1, 1000).Draw(x.T, "ms")) * time.Millisecond)
		require.NoError(x, x.room.Sync(context.Background(), x.now.Time()))
	}
}

func (x *exactLine) arrives() {
	if len(x.visitors) == 20 {
		return
	}
	p := &person{}
	x.visitors = append(x.visitors, p)
	x.visit(p, queue.Ticket{}, int16(rapid.SampledFrom([]int{0, 0, 0, 0, 2}).Draw(x.T, "priority")))
}

func (x *exactLine) someone() *person {
	if len(x.visitors) == 0 {
		return nil
	}
	return rapid.SampledFrom(x.visitors).Draw(x.T, "who")
}

func (x *exactLine) comesBack() {
	if p := x.someone(); p != nil {
		x.visit(p, p.newest(), 0)
	}
}

func (x *exactLine) allComeBack() {
	for _, p := range x.visitors {
		x.visit(p, p.newest(), 0)
	}
}

func (x *exactLine) replays() {
	if p := x.someone(); p != nil {
		x.visit(p, rapid.SampledFrom(p.tickets).Draw(x.T, "old"), 0)
	}
}

func (x *exactLine) allReplay() {
	for _, p := range x.visitors {
		x.visit(p, rapid.SampledFrom(p.tickets).Draw(x.T, "old"), 0)
	}
}

// leaves says goodbye: others move up in a moment, unless they are back.
func (x *exactLine) leaves() {
	p := x.someone()
	if p == nil || p.newest().Number == 0 {
		return
	}
	x.room.Leave(x.now.Time(), p.newest())
	require.NoError(x, x.room.Sync(context.Background(), x.now.Time()))
	if at := x.find(p.newest().ID); at >= 0 && x.line[at].checked < x.now {
		absent := x.line[at]
		absent.until = x.now.Add(x.settings.LineDropout)
		if absent.confirmed {
			x.absent[absent.id] = absent
		}
		x.line[at].until = min(x.line[at].until, x.now.Add(queue.LineReturn))
	}
}

func (x *exactLine) isPreferred() {
	p := x.someone()
	if p == nil {
		return
	}
	priority := int16(rapid.IntRange(-1, 2).Draw(x.T, "priority"))
	require.NoError(x, x.room.Prefer(context.Background(), x.now.Time(), p.newest().ID, priority))
	x.dropOut()
	if at := x.find(p.newest().ID); at >= 0 {
		x.line[at].priority = priority
		x.sort()
	}
	if absent, ok := x.absent[p.newest().ID]; ok {
		absent.priority = priority
		x.absent[absent.id] = absent
	}
	clear(x.ahead)
}

// find returns where somebody stands, or -1.
func (x *exactLine) find(id queue.ID) int {
	return slices.IndexFunc(x.line, func(s standing) bool { return s.id == id })
}

func (x *exactLine) sort() {
	slices.SortFunc(x.line, func(a, b standing) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.number, b.number), bytes.Compare(a.id[:], b.id[:]))
	})
}

func (x *exactLine) dropOut() {
	x.line = slices.DeleteFunc(x.line, func(s standing) bool { return s.until <= x.now })
}

// visit brings a ticket, and judges the answer.
func (x *exactLine) visit(p *person, t queue.Ticket, priority int16) {
	n, err := x.room.CurrentNumbers(context.Background(), x.now.Time())
	require.NoError(x, err)
	x.dropOut()
	d := x.room.Visit(context.Background(), x.now.Time(), room.Request{Ticket: t, Priority: priority})
	if d.Issue {
		p.tickets = append(p.tickets, d.Ticket)
	}
	id := d.Ticket.ID
	if d.Outcome == room.Admitted && !d.Fresh {
		require.Contains(x, x.entered, id, "who is in was let in once")
		x.takesSeat(id, x.find(id))
		return
	}
	if t.State == queue.Accepted {
		require.LessOrEqual(x, t.Expires, x.now, "who is in stays in")
	}
	at, joined := x.place(t, id, priority)
	ahead := at
	if x.line[at].confirmed {
		ahead = x.confirmedBefore(at)
	}
	if d.Outcome == room.Admitted {
		require.GreaterOrEqual(x, x.now, x.settles, "while not all are known who wait, nobody is let in")
		require.Less(x, ahead, n.Open, "nobody gets in out of turn")
		x.entered[id] = x.now
		x.takesSeat(id, at)
		return
	}
	require.Equal(x, room.Queued, d.Outcome)
	require.GreaterOrEqual(x, ahead, n.Open, "a slot is for who is first of those who have come back")
	if x.now < x.since.Add(x.settings.WithDefaults().ReturnsWithin()) && d.Place == (queue.Place{}) {
		require.Zero(x, n.Open, "while not all are known who wait, nobody is let in")
		return
	}
	s := x.line[at]
	require.Equal(x, queue.Place{Number: s.number, Priority: s.priority, Ahead: at, Length: len(x.line), Joined: joined}, d.Place)
	if before, ok := x.ahead[id]; ok && !joined {
		require.LessOrEqual(x, at, before, "whoever stays never has more people ahead")
	}
	x.ahead[id] = at
}

// isKept reports whether the place in a ticket lasts: by running time.
func (x *exactLine) isKept(t queue.Ticket) bool {
	ran := x.now.Sub(t.LastCheckIn)
	for _, away := range x.away {
		ran -= max(0, away[1].Sub(max(away[0], t.LastCheckIn)))
	}
	return ran < x.settings.LineDropout
}

// place is where a visitor stands with a check-in now, by the rule.
func (x *exactLine) place(t queue.Ticket, id queue.ID, priority int16) (at int, joined bool) {
	if at = x.find(id); at < 0 {
		s := standing{id: id, number: t.Number, priority: t.Priority}
		entered, was := x.entered[id]
		absent, said := x.absent[id]
		kept := t.State == queue.Waiting
		switch {
		case kept && said && absent.until > x.now:
			s = absent
		case kept:
			kept = x.isKept(t)
		}
		if !kept || was && entered >= t.ArrivedAt {
			x.last++
			s.number, joined = x.last, true
			s.priority = t.Priority
			if t.State != queue.Waiting {
				s.priority = priority
			}
		}
		clear(x.ahead) // whoever is taken up, or preferred, may stand ahead of others
		x.line = append(x.line, s)
		x.sort()
		at = x.find(id)
	}
	delete(x.absent, id)
	x.line[at].checked = x.now
	x.line[at].confirmed = !joined || t.State == queue.Waiting
	lasts := x.settings.WithDefaults().ReturnsWithin()
	if x.line[at].confirmed {
		lasts = x.settings.LineDropout
	}
	x.line[at].until = x.now.Add(lasts)
	return at, joined
}

// confirmedBefore counts those in front of a place who have come back.
func (x *exactLine) confirmedBefore(at int) (n int) {
	for _, s := range x.line[:at] {
		if s.confirmed {
			n++
		}
	}
	return n
}

// takesSeat takes down that somebody was let through.
func (x *exactLine) takesSeat(id queue.ID, at int) {
	if at >= 0 {
		x.line = slices.Delete(x.line, at, at+1)
	}
	delete(x.ahead, id)
	if x.settings.Occupancy == queue.BySession || x.entered[id] == x.now {
		x.seated[id] = max(x.seated[id], x.now.Add(x.room.Settings().SessionLasts(0)))
	}
	active := 0
	for _, until := range x.seated {
		if until > x.now {
			active++
		}
	}
	require.LessOrEqual(x, active, x.settings.TotalActiveUsers, "seats")
}

// stands compares the whole line.
func (x *exactLine) stands() {
	require.NoError(x, x.room.Sync(context.Background(), x.now.Time()))
	x.dropOut()
	roster, err := x.room.Roster(context.Background())
	require.NoError(x, err)
	require.Len(x, roster.Line, len(x.line))
	for i, w := range roster.Line {
		s := x.line[i]
		if want := (queue.Waiter{ID: s.id, Until: s.until, Place: queue.Place{Number: s.number, Priority: s.priority, Ahead: i, Length: len(x.line)}}); w != want {
			x.Fatalf("in line there is %+v, not %+v", w, want)
		}
		if slices.ContainsFunc(roster.Seated, func(seat queue.Seat) bool { return seat.ID == s.id }) {
			x.Fatalf("%v has a seat and a place", s.id)
		}
	}
}

// TestExactLineIsWhatItsModelSays has random things happen to a room with an
// exact line.
func TestExactLineIsWhatItsModelSays(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		require.NoError(t, err)
		x := newExactLine(t, dir)
		things := []func(){x.arrives, x.arrives, x.arrives, x.comesBack, x.comesBack, x.allComeBack, x.replays, x.allReplay, x.leaves, x.isPreferred, x.pass, x.pass, x.pass, x.restart}
		for range rapid.IntRange(1, 60).Draw(t, "things") {
			things[rapid.IntRange(0, len(things)-1).Draw(t, "thing")]()
			x.stands()
		}
		require.NoError(t, x.store.Close())
	})
}
