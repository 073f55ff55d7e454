package room_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/memstore"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// world is a room with its visitors, to whom anything may happen.
type world struct {
	*rapid.T
	oracle   *oracle
	dir      string
	store    *memstore.Store
	room     *room.Room
	random   *rand.Rand
	settings queue.Settings
	now      queue.Instant
	visitors []*person
}

// person is a visitor who keeps all tickets they ever had.
type person struct{ tickets []queue.Ticket }

func (p *person) newest() queue.Ticket { return p.tickets[len(p.tickets)-1] }

// newWorld opens a room whose store keeps a journal in dir, or none without.
func newWorld(t *rapid.T, dir string) *world {
	s := drawSettings(t)
	w := &world{
		T: t, dir: dir, settings: s, oracle: newOracle(t, s),
		random: newRandom(t),
		now:    start.Add(time.Duration(rapid.IntRange(0, 59_999).Draw(t, "begin")) * time.Millisecond),
	}
	w.open()
	return w
}

func (w *world) open() {
	store, err := memstore.New(), error(nil)
	if w.dir != "" {
		store, err = memstore.Open(w.dir)
		require.NoError(w, err)
	}
	w.store = store
	w.room, err = room.New(context.Background(), w.now.Time(), room.Config{
		Name: "shop", Settings: w.settings, Store: store, Uint64: w.random.Uint64,
	})
	require.NoError(w, err)
	w.room.Pause(w.oracle.paused)
}

func drawSettings(t *rapid.T) queue.Settings {
	seconds := func(low, high int, name string) time.Duration {
		return time.Duration(rapid.IntRange(low*10, high*10).Draw(t, name)) * time.Second / 10
	}
	sometimes := func(d time.Duration, name string) time.Duration {
		return d * time.Duration(rapid.IntRange(0, 1).Draw(t, name))
	}
	return queue.Settings{
		ConfirmWithin:         sometimes(seconds(1, 40, "confirm"), "confirms"),
		ClaimWithin:           sometimes(seconds(1, 20, "claim"), "claims"),
		TotalActiveUsers:      rapid.IntRange(1, 6).Draw(t, "total"),
		NewUsersPerMinute:     rapid.IntRange(1, 8).Draw(t, "perMinute"),
		SessionDuration:       seconds(1, 40, "session"),
		DisableSessionRenewal: rapid.IntRange(0, 4).Draw(t, "noRenewal") == 0,
		Method:                rapid.SampledFrom([]queue.Method{queue.FIFO, queue.FIFO, queue.FIFO, queue.Random, queue.Random, queue.Passthrough, queue.Reject}).Draw(t, "method"),
		QueueAll:              rapid.IntRange(0, 9).Draw(t, "queueAll") == 0,
		RefreshInterval:       seconds(1, 8, "interval"),
		RefreshJitter:         rapid.Float64Range(0, .5).Draw(t, "jitter"),
		Bucket:                seconds(1, 60, "bucket"),
		Pacing:                queue.Pacing(rapid.IntRange(0, 3).Draw(t, "pacing")),
		QueueTicketTTL:        seconds(16, 120, "ttl"),
	}
}

// visit brings a ticket, has the oracle judge the decision, and returns it.
func (w *world) visit(q room.Request) room.Decision {
	d := w.room.Visit(context.Background(), w.now.Time(), q)
	w.oracle.saw(w.now, q, d)
	return d
}

// comes has someone bring a ticket, and keep what they get.
func (w *world) comes(p *person, q room.Request) {
	d := w.visit(q)
	if d.Issue {
		p.tickets = append(p.tickets, d.Ticket)
	}
	if d.Drop {
		p.tickets = append(p.tickets, queue.Ticket{})
	}
}

func (w *world) someone() *person {
	if len(w.visitors) == 0 {
		return nil
	}
	return rapid.SampledFrom(w.visitors).Draw(w.T, "who")
}

func (w *world) sync() {
	require.NoError(w, w.room.Sync(context.Background(), w.now.Time()))
}

// pass lets time go by in steps, with a sync at each.
func (w *world) pass(d time.Duration) {
	step := max(d/4, 250*time.Millisecond)
	for ; d > 0; d -= step {
		w.now = w.now.Add(min(d, step))
		w.sync()
	}
}

// asks is what a page asks for, or a form that it sends.
func asks(hidden, sends bool) (a room.Ask) {
	if hidden {
		a.By = room.HiddenPage
	}
	if sends {
		a.Place = room.NoPlace
	}
	return a
}

// The things that may happen.

func (w *world) arrives() {
	p := &person{}
	w.visitors = append(w.visitors, p)
	w.comes(p, room.Request{Ask: asks(rapid.Bool().Draw(w.T, "hidden"), rapid.IntRange(0, 9).Draw(w.T, "form") == 0)})
	if len(p.tickets) == 0 {
		w.visitors = w.visitors[:len(w.visitors)-1]
	}
}

func (w *world) comesBack() {
	if p := w.someone(); p != nil {
		w.comes(p, room.Request{Ticket: p.newest(), Ask: asks(rapid.IntRange(0, 9).Draw(w.T, "hidden") == 0, false)})
	}
}

func (w *world) allComeBack() {
	for _, p := range w.visitors {
		w.comes(p, room.Request{Ticket: p.newest()})
	}
}

func (w *world) replays() {
	if p := w.someone(); p != nil {
		w.comes(p, room.Request{Ticket: rapid.SampledFrom(p.tickets).Draw(w.T, "old")})
	}
}

func (w *world) isCalled() {
	if p := w.someone(); p != nil {
		w.comes(p, room.Request{Ticket: rapid.SampledFrom(p.tickets).Draw(w.T, "shown"), Ask: room.Ask{Prompt: room.Called}})
	}
}

func (w *world) sendsAForm() {
	if p := w.someone(); p != nil {
		w.comes(p, room.Request{Ticket: p.newest(), Ask: room.Ask{Place: room.NoPlace}})
	}
}

func (w *world) leaves() {
	if p := w.someone(); p != nil {
		w.room.Leave(w.now.Time(), p.newest())
		w.oracle.saidGoodbye(p.newest())
	}
}

func (w *world) isRevoked() {
	p := w.someone()
	if p == nil || p.newest().State != queue.Accepted {
		return
	}
	t := p.newest()
	w.room.Revoke(w.now.Time(), t)
	delete(w.oracle.holds, t.ID)
	w.oracle.revoked[t.ID] = true
	p.tickets = []queue.Ticket{{}} // who was revoked comes without, or as a stranger
}

func (w *world) shortWhile() {
	w.pass(time.Duration(rapid.IntRange(0, 4000).Draw(w.T, "millis")) * time.Millisecond)
}

func (w *world) longWhile() {
	w.pass(time.Duration(rapid.IntRange(4, 90).Draw(w.T, "seconds")) * time.Second)
}

func (w *world) changes() {
	w.sync()
	w.settings = drawSettings(w.T)
	if w.settings.Bucket != w.oracle.s.Bucket {
		w.forget()
	}
	w.oracle.s = w.settings
	require.NoError(w, w.room.Configure(context.Background(), w.now.Time(), queue.Configuration{Settings: w.settings}))
	w.sync()
}

func (w *world) pauses() {
	w.oracle.paused = !w.oracle.paused
	w.room.Pause(w.oracle.paused)
	w.now = w.now.Add(time.Second)
	w.sync()
}

// forget has the oracle be sure of nobody's presence: those who were counted may
// be counted again when they come.
func (w *world) forget() {
	w.oracle.unclear = w.now.Add(2 * time.Minute)
	for id := range w.oracle.present {
		w.oracle.left(id)
	}
}

// restarts ends the process as a kill does, maybe in the middle of a record.
func (w *world) restarts() {
	if w.dir == "" {
		return
	}
	require.NoError(w, w.store.Close())
	path := filepath.Join(w.dir, "rooms", "shop.journal")
	records, err := os.ReadFile(path) // and zeros behind them
	require.NoError(w, err)
	end := len(bytes.TrimRight(records, "\x00"))
	torn := rapid.IntRange(0, min(10, len(records)-end-1)).Draw(w.T, "torn")
	copy(records[end:], records[:torn])
	require.NoError(w, os.WriteFile(path, records, 0o600))
	w.forget()
	w.oracle.restarted()
	w.now = w.now.Add(time.Duration(rapid.IntRange(1, 3000).Draw(w.T, "down")) * time.Millisecond)
	w.open()
}

func newRandom(t *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
}
