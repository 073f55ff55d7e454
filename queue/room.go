package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// ErrorPolicy says who enters while the store does not answer. People who are
// in already are never affected.
type ErrorPolicy uint8

// The policies; the zero value is Hold.
const (
	Hold  ErrorPolicy = iota // nobody new
	Share                    // as many as were open to this node when it last knew
	Let                      // everyone
)

var policyNames = []string{"hold", "share", "open"}

// String returns the policy's name as configuration files spell it.
func (p ErrorPolicy) String() string { return nameOf(policyNames, int(p)) }

// UnmarshalText accepts the names that String returns.
func (p *ErrorPolicy) UnmarshalText(text []byte) error {
	i, err := indexOf(policyNames, "on_store_error", string(text))
	if err == nil {
		*p = ErrorPolicy(i)
	}
	return err
}

// Config is what a Room is made of.
type Config struct {
	Name         string      // required; letters, digits, - and _
	Settings     Settings    // zero durations take their defaults
	Store        Store       // required; outlives the Room
	OnStoreError ErrorPolicy // default Hold

	// Uint64 is the source of ids and jitter; default math/rand/v2's.
	Uint64 func() uint64

	// OnStoreChange, if set, is told once when the store stops answering, with
	// the error, and once with nil when it answers again.
	OnStoreChange func(err error)
}

// Room is one room on one node. Its methods may be called concurrently; now is
// always the moment of the call by the node's clock, which never goes back.
type Room struct {
	name     string
	store    Store
	policy   ErrorPolicy
	uint64   func() uint64
	onChange func(error)

	settings atomic.Pointer[Settings]
	paused   atomic.Bool
	view     atomic.Pointer[view]
	numbers  atomic.Pointer[Numbers]
	revoked  atomic.Pointer[map[ID]Instant]

	start    Instant // of the ticks in the tables; before any visit
	waiters  *waiters
	sessions *sessions
	asks     asks

	storeMu  sync.Mutex // held through a store call and while its answer is taken in
	node     uint64
	seq      uint64
	unsent   *Report // sent without an answer; to be sent again as it is
	syncs    int
	revoking []Session // to be reported
	failing  atomic.Bool
	spare    atomic.Int64 // admissions that Share allows until the store answers
}

// NewRoom returns a room that has made itself known to its store at now. It
// fails if the settings are out of bounds or the store does not answer.
func NewRoom(ctx context.Context, now Instant, c Config) (*Room, error) {
	if c.Name == "" || c.Store == nil {
		return nil, errors.New("a room needs a name and a store")
	}
	if c.Uint64 == nil {
		c.Uint64 = rand.Uint64
	}
	start := now.Floor(tick).Add(-tick)
	r := &Room{
		start: start, name: c.Name, store: c.Store, policy: c.OnStoreError, uint64: c.Uint64, onChange: c.OnStoreChange,
		waiters: newWaiters(start), sessions: newSessions(start), node: c.Uint64(),
	}
	r.view.Store(&view{})
	r.numbers.Store(&Numbers{})
	if err := r.Configure(ctx, c.Settings); err != nil {
		return nil, err
	}
	return r, r.Sync(ctx, now)
}

// Name returns the room's name.
func (r *Room) Name() string { return r.name }

// Settings returns the limits and switches in force.
func (r *Room) Settings() Settings { return *r.settings.Load() }

// Configure changes the limits and switches. Nobody is thrown out, and nobody
// is admitted until there is room by the new limits. It fails, and changes
// nothing, if s is out of bounds or the store does not answer.
func (r *Room) Configure(ctx context.Context, s Settings) error {
	s = s.WithDefaults()
	if err := s.Validate(); err != nil {
		return fmt.Errorf("configuring room %q: %w", r.name, err)
	}
	r.storeMu.Lock()
	defer r.storeMu.Unlock()
	if err := r.store.Configure(ctx, r.name, s); err != nil {
		return fmt.Errorf("configuring room %q: %w", r.name, err)
	}
	if old := r.settings.Swap(&s); old != nil && old.Bucket != s.Bucket {
		r.waiters.forget()
	}
	return nil
}

// Pause stops admissions, or lets them go on, without touching the settings:
// for a time in which the origin does not answer.
func (r *Room) Pause(paused bool) { r.paused.Store(paused) }

// Touch keeps an accepted visitor's session active at now: for a response of
// theirs that is still under way. A session that is over stays over.
func (r *Room) Touch(now Instant, t Ticket) {
	if t.State != Accepted || t.Uncounted || r.isRevoked(t.ID, now) {
		return
	}
	if t.Expires > now || r.sessions.expires(now, t.ID) > now {
		r.sessions.note(now, t.ID, now.Add(r.settings.Load().SessionDuration), false)
	}
}

// Leave stops counting a waiting visitor who has said goodbye. They keep the
// place in their ticket, and are counted again when they come back.
func (r *Room) Leave(now Instant, t Ticket) {
	if t.State != Waiting {
		return
	}
	sh := r.waiters.shard(t.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	e := sh.table.find(t.ID.short(), now.ticks(r.start))
	if e == nil || left(e) {
		return
	}
	e.more |= leftFlag
	sh.change(r.settings.Load().bucket(t.ArrivedAt), e.until, -1)
}

// Revoke ends an accepted visitor's session at now. Tickets that tell of it are
// void from then on.
func (r *Room) Revoke(now Instant, t Ticket) {
	if t.State != Accepted {
		return
	}
	until := max(t.Expires, r.sessions.expires(now, t.ID), now.Add(r.settings.Load().SessionDuration))
	r.storeMu.Lock()
	defer r.storeMu.Unlock()
	r.revoking = append(r.revoking, Session{ID: t.ID, Expires: until})
	r.sessions.remove(now, t.ID)
	revoked := map[ID]Instant{t.ID: until}
	if known := r.revoked.Load(); known != nil {
		for id, end := range *known {
			if end > now {
				revoked[id] = max(end, revoked[id])
			}
		}
	}
	r.revoked.Store(&revoked)
}

func (r *Room) isRevoked(id ID, now Instant) bool {
	revoked := r.revoked.Load()
	return revoked != nil && (*revoked)[id] > now
}

func (r *Room) newID() ID {
	var id ID
	hi, lo := r.uint64(), r.uint64()
	for i := range 8 {
		id[i], id[8+i] = byte(hi>>(8*i)), byte(lo>>(8*i))
	}
	return id
}

// interval draws a refresh interval with its jitter.
func (r *Room) interval(s *Settings) time.Duration {
	u := float64(r.uint64()>>11) / (1 << 53)
	d := time.Duration(float64(s.RefreshInterval) * (1 + s.RefreshJitter*(2*u-1)))
	return max(d.Round(time.Millisecond), time.Millisecond)
}
