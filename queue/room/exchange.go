package room

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// exchange is a node's conversation with the store about one room: one call at a
// time.
type exchange struct {
	mu   callLock // held through a call and while its answer is taken in
	node uint64
	seq  uint64

	unsent *queue.Report // sent without an answer; to be sent again as it is
	unsure []queue.Claim // of which nobody knows whether they were granted

	// What a store that has lost its memory is told again.
	whole     bool // it has asked for that
	forgotten bool // it goes by an older configuration
	own       map[queue.Cell]int
	admitted  queue.Admissions
	nodes     []uint64
	last      uint64 // the highest number in an exact line

	epoch         string
	since         queue.Instant
	configuration queue.Configuration
	configuring   sync.Mutex          // held for as long as this node gives the room a configuration
	proposed      queue.Configuration // that it is about to give it
	jumps         int                 // answers in a row whose clock does not fit
	syncs         int

	// noted guards what visits write down for the next report: they never wait
	// for a call.
	noted     sync.Mutex
	revoking  []queue.Session
	left      []queue.Departure
	preferred []queue.Priority
	alone     queue.Admissions // let in without the store
}

const (
	// maxUnsure bounds the claims that are remembered through a fault.
	maxUnsure = 10_000
	// clockJump is how far the store's clock may step between two answers
	// without being taken for a fault.
	clockJump = 5 * time.Second
	// clockJumps is how many answers in a row make a new clock believed.
	clockJumps = 5
)

// PutClaims puts claims to the store, with all that is unreported; grants[i] becomes
// the verdict on claims[i]. On an error nobody was granted anything, as far as
// this node knows.
func (r *Room) PutClaims(ctx context.Context, now time.Time, claims []queue.Claim, grants []queue.Grant) error {
	t := &r.exchange
	now = t.mu.lockAt(now)
	defer t.mu.unlock()
	if err := r.resend(ctx, now); err != nil {
		return err
	}
	if t.whole || t.forgotten {
		if _, err := r.syncStore(ctx, now); err != nil {
			return fmt.Errorf("telling room %q to its store again: %w", r.name, err)
		}
	}
	standing, err := r.admit(ctx, r.report(now), claims, grants)
	if err != nil {
		for _, c := range claims[:min(len(claims), maxUnsure-len(t.unsure))] {
			t.unsure = append(t.unsure, queue.Claim{ID: c.ID, Cell: c.Cell, HeldOnly: true})
		}
		return fmt.Errorf("admitting to room %q: %w", r.name, err)
	}
	v := *r.view.Load()
	v.Status = standing
	r.take(now, &v)
	return nil
}

// admit is one Admit of the store. The caller holds mu.
func (r *Room) admit(ctx context.Context, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	t := &r.exchange
	t.unsent = p
	order := queue.InOrder(r.settings.Load().Method, claims)
	ordered, answers := make([]queue.Claim, len(claims)), make([]queue.Grant, len(claims))
	for at, i := range order {
		ordered[at] = claims[i]
	}
	standing, err := r.store.Admit(ctx, r.name, p, ordered, answers)
	if r.storeAnswered(err) != nil {
		return standing, err
	}
	t.unsent = nil
	for at, i := range order {
		grants[i] = answers[at]
	}
	for i, g := range grants {
		if c := claims[i]; g.LetIn() && !c.Newcomer() {
			t.own[c.Cell]--
		}
		t.last = max(t.last, g.Place.Number)
		if g.Verdict == queue.Granted {
			t.admit(standing.Now)
		}
	}
	return standing, nil
}

// admit counts an admission of this node.
func (t *exchange) admit(at queue.Instant) {
	t.admitted.Add(queue.Admissions{Minute: at.Floor(queue.AllowancePeriod), Visitors: 1})
}

// Sync reports to the store what this node has seen and takes in how the room
// stands. Call it about once a second; for a store in the same process, ten
// times.
func (r *Room) Sync(ctx context.Context, now time.Time) error {
	_, err := r.sync(ctx, now)
	return err
}

func (r *Room) sync(ctx context.Context, now time.Time) (*queue.View, error) {
	now = r.exchange.mu.lockAt(now)
	defer r.exchange.mu.unlock()
	if err := r.resend(ctx, now); err != nil {
		return nil, err
	}
	known, err := r.syncStore(ctx, now)
	if err == nil && (r.exchange.whole || r.exchange.forgotten) {
		known, err = r.syncStore(ctx, now)
	}
	if err != nil {
		return nil, fmt.Errorf("syncing room %q: %w", r.name, err)
	}
	r.renewNumbers(known)
	r.exchange.syncs++
	r.exchange.forget(known.Now)
	r.sessions.trim(r.exchange.syncs, known.Now)
	r.answers.trim(r.exchange.syncs, known.Now)
	r.waiters.trim(r.exchange.syncs, known.Now, known.Now.Add(-r.memory.Load().lasts))
	return known, nil
}

// syncStore is one Sync of the store. The caller holds mu.
func (r *Room) syncStore(ctx context.Context, now time.Time) (*queue.View, error) {
	t := &r.exchange
	retold := t.whole || t.forgotten
	t.unsent = r.report(now)
	known, err := r.store.Sync(ctx, r.name, t.unsent)
	if r.storeAnswered(err) != nil {
		return nil, err
	}
	t.unsent = nil
	v := &view{Status: known.Status, buckets: known.Buckets, ahead: make([]int, len(known.Buckets)), first: known.FirstNumber, turns: known.Turns}
	t.last = max(t.last, known.LastNumber)
	for i, b := range known.Buckets[:max(0, len(known.Buckets)-1)] {
		v.ahead[i+1] = v.ahead[i] + b.Waiting
	}
	r.take(now, v)
	if known.WantWhole {
		// It knows less than this node, which is to tell it first.
		return known, nil
	}
	t.since = known.Now
	if !known.Recovering {
		// One that is being told again does not know yet who was there.
		t.nodes = known.Nodes
	}
	r.takeRevoked(known)
	r.takeEntered(known)
	if r.onLeave != nil {
		for _, id := range known.Left {
			r.onLeave(id)
		}
	}
	told, own := known.Configuration, t.configuration
	t.forgotten = told.Version < own.Version
	if told.Version > own.Version || retold && told.Version == own.Version && (told.At != own.At || told.By != own.By) {
		r.adopt(told)
	}
	return known, nil
}

// takeEntered learns of those let in since, by whichever node: their places are
// used, on every node.
func (r *Room) takeEntered(known *queue.View) {
	for _, s := range known.Entered {
		r.sessions.note(known.Now, s.ID, min(s.Expires, known.Now.Add(r.SessionLasts())), true)
		r.taken(known.Now, s.ID)
	}
}

// introduce is the first Sync of all: the node learns the store's clock before
// it keeps any time by it.
func (r *Room) introduce(ctx context.Context, now time.Time) error {
	known, err := r.store.Sync(ctx, r.name, &queue.Report{Node: r.exchange.node, Now: queue.At(now)})
	if err != nil {
		return fmt.Errorf("asking the store for room %q: %w", r.name, err)
	}
	r.clock.Store(int64(known.Now - queue.At(now)))
	r.start = known.Now.Floor(tick).Add(-tick)
	r.waiters, r.sessions, r.answers = newWaiters(r.start), newSessions(r.start), newSessions(r.start)
	r.exchange.epoch = known.Epoch
	if known.Configuration.Version > 0 {
		r.adopt(known.Configuration)
	}
	return nil
}

// resend sends a report again whose answer was lost, and asks what became of
// the claims that went with it. The caller holds mu.
func (r *Room) resend(ctx context.Context, now time.Time) error {
	t := &r.exchange
	if t.unsent == nil {
		return nil
	}
	t.unsent.Now = r.storeTime(now)
	grants := make([]queue.Grant, len(t.unsure))
	standing, err := r.admit(ctx, t.unsent, t.unsure, grants)
	if errors.Is(err, errPanic) { // for the second time, and it would for ever
		t.unsent, t.unsure = nil, nil
	}
	if err != nil {
		return fmt.Errorf("reporting to room %q again: %w", r.name, err)
	}
	for i, g := range grants {
		if c := t.unsure[i]; g.Verdict == queue.Held {
			r.sessions.note(standing.Now, c.ID, r.settings.Load().SessionEnd(g), true)
			t.admit(g.AcceptedAt)
			r.taken(standing.Now, c.ID)
		}
	}
	t.unsure = nil
	v := *r.view.Load()
	v.Status = standing
	r.take(now, &v)
	return nil
}

// report gathers what is unreported, or all there is to tell. The caller holds
// mu.
func (r *Room) report(now time.Time) *queue.Report {
	t := &r.exchange
	at := r.storeTime(now)
	t.seq++
	p := &queue.Report{Node: t.node, Seq: t.seq, Now: at, Epoch: t.epoch, Since: t.since, Version: t.configuration.Version, LastNumber: t.last,
		Cells: r.waiters.drain(), Sessions: r.answers.drain(at, r.sessions.drain(at, nil))}
	t.takeNoted(p)
	t.admitted.Add(p.Admitted)
	for _, c := range p.Cells {
		t.own[c.Cell] += c.People
	}
	if t.whole || t.forgotten {
		p.Configuration, p.Version = t.configuration, 0
		t.forgotten = false
	}
	if !t.whole {
		return p
	}
	t.whole = false
	p.Whole, p.Nodes, p.Admitted = true, t.nodes, t.admitted
	p.Cells = nil
	t.forget(at)
	for c, people := range t.own {
		p.Cells = append(p.Cells, queue.CellChange{Cell: c, People: people})
	}
	p.Sessions = r.answers.all(at, r.sessions.all(at, nil))
	if revoked := r.revoked.Load(); revoked != nil {
		for id, until := range *revoked {
			p.Revoked = append(p.Revoked, queue.Session{ID: id, Expires: until})
		}
	}
	return p
}

// forget forgets the cells in which nobody is counted any more.
func (t *exchange) forget(now queue.Instant) {
	maps.DeleteFunc(t.own, func(c queue.Cell, people int) bool { return people == 0 || c.Until <= now })
}

// takeNoted puts into a report what visits have written down, once.
func (t *exchange) takeNoted(p *queue.Report) {
	t.noted.Lock()
	defer t.noted.Unlock()
	p.Revoked, p.Left, p.Priorities, p.Admitted = t.revoking, t.left, t.preferred, t.alone
	t.revoking, t.left, t.preferred, t.alone = nil, nil, nil, queue.Admissions{}
}

// take makes v what decisions go by. The caller holds mu.
func (r *Room) take(now time.Time, v *view) {
	t := &r.exchange
	t.epoch, t.whole = v.Epoch, v.WantWhole
	switch step := v.Now.Sub(r.storeTime(now)); {
	case step.Abs() <= clockJump || t.jumps >= clockJumps:
		r.clock.Store(int64(v.Now - queue.At(now)))
		t.jumps = 0
	default:
		// Tickets go on being judged by the old clock until the new one has
		// been told often enough.
		t.jumps++
		v.Recovering = true
	}
	r.view.Store(v)
	r.spare.Store(int64(v.Open / max(1, len(t.nodes))))
}

// Configuration returns the configuration in force.
func (r *Room) Configuration() queue.Configuration {
	r.exchange.mu.lock()
	defer r.exchange.mu.unlock()
	return r.exchange.configuration
}

// Configure changes what the room goes by, on every node: the Settings, with
// their zero durations set to their defaults, and what c says of them. Nobody
// is thrown out, and nobody is admitted until there is room by the new limits.
// It fails, and changes nothing, if the settings are out of bounds or the store
// does not answer; with ErrConflict, if another node was first: then the room
// has that one's configuration.
func (r *Room) Configure(ctx context.Context, now time.Time, c queue.Configuration) error {
	c.Settings = c.Settings.WithDefaults()
	if err := c.Settings.Validate(); err != nil {
		return fmt.Errorf("configuring room %q: %w", r.name, err)
	}
	t := &r.exchange
	t.configuring.Lock()
	defer t.configuring.Unlock()
	t.mu.lock()
	c.Version, c.At = t.configuration.Version+1, r.storeTime(now)
	c.Places = t.configuration.PlacesUnder(&c.Settings, c.At)
	t.proposed = c
	t.mu.unlock()
	err := r.store.Configure(ctx, r.name, c) // which may take long: visitors do not wait for it
	t.mu.lock()
	defer t.mu.unlock()
	t.proposed = queue.Configuration{}
	if err == nil {
		if c.Version > t.configuration.Version {
			r.use(c)
		}
		return nil
	}
	if errors.Is(err, queue.ErrConflict) {
		if err := r.resend(ctx, now); err != nil {
			return err
		}
		if _, err := r.syncStore(ctx, now); err != nil {
			return err
		}
	}
	return fmt.Errorf("configuring room %q: %w", r.name, err)
}

// adopt takes up a configuration that the store tells of. The caller holds mu.
func (r *Room) adopt(c queue.Configuration) {
	r.use(c)
	own := r.exchange.proposed
	if r.onConfigure != nil && (c.Version != own.Version || c.At != own.At || c.By != own.By) {
		r.onConfigure(c)
	}
}

func (r *Room) use(c queue.Configuration) {
	r.exchange.configuration = c
	next := &memory{since: c.Places.Since, lasts: c.Remembers()}
	before := r.memory.Swap(next)
	if r.waiters != nil && next.lasts > before.lasts {
		r.waiters.remember(next.lasts - before.lasts)
	}
	if old := r.settings.Swap(&c.Settings); old.Bucket != c.Settings.Bucket && r.waiters != nil {
		r.waiters.forget()
	}
}
