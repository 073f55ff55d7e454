package room

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
)

// exchange is a node's conversation with the store about one room: one call at a
// time. It brings the store what the parts below have to report, and brings them
// what the store answers.
type exchange struct {
	room       string
	store      queue.Store
	clock      *storeClock
	conditions *conditions
	presence   *presence
	sessions   *sessions
	outbox     *outbox
	notes      notes
	estimates  *estimate.Estimator
	pressures  *pressures
	slack      time.Duration

	onStoreChange func(error)
	onConfigure   func(queue.Configuration)
	onEnter       func(queue.ID)
	onLeave       func(queue.ID)

	configuring callLock // held for as long as this node gives the room a configuration; taken before mu

	mu     callLock // held through a call and while its answer is taken in; guards the following
	node   uint64
	seq    uint64
	epoch  string
	since  queue.Instant
	syncs  int
	memory memory

	unsent    *queue.Report    // sent without an answer; to be sent again as it is
	undecided []queue.Claim    // of which nobody knows whether they were granted
	doubtful  queue.Admissions // those that were asked for with them

	wantsWhole    bool                // the store has asked for a whole report
	storeIsBehind bool                // the store goes by an older configuration
	proposed      queue.Configuration // that this node is about to give the room
}

// maxUndecided bounds the claims that are remembered through a fault.
const maxUndecided = 10_000

// putClaims puts claims to the store, with all that is unreported; grants[i] becomes
// the verdict on claims[i]. On an error nobody was granted anything, as far as
// this node knows.
func (x *exchange) putClaims(ctx context.Context, now time.Time, claims []queue.Claim, grants []queue.Grant) error {
	x.mu.lock()
	defer x.mu.unlock()
	if err := x.resend(ctx, now); err != nil {
		return err
	}
	if x.storeHasForgotten() {
		if _, err := x.syncOnce(ctx, now); err != nil {
			return fmt.Errorf("telling room %q to its store again: %w", x.room, err)
		}
	}
	now = x.mu.now(now)
	status, err := x.putInOrder(ctx, x.report(now), claims, grants)
	if err != nil {
		for _, c := range claims[:min(len(claims), maxUndecided-len(x.undecided))] {
			x.undecided = append(x.undecided, queue.Claim{ID: c.ID, Cell: c.Cell, Moved: c.Moved, KeepCell: c.KeepCell, HeldOnly: true,
				ArrivedAt: x.unsent.Now.Add(-tick), LastCheckIn: c.LastCheckIn})
		}
		x.doubtful.Add(queue.Admissions{Minute: x.unsent.Now.Floor(queue.AllowancePeriod), Visitors: len(claims)})
		return fmt.Errorf("admitting to room %q: %w", x.room, err)
	}
	x.followStatus(now, status)
	return nil
}

// sync reports to the store what this node has seen and takes in how the room stands.
func (x *exchange) sync(ctx context.Context, now time.Time) (*queue.View, error) {
	x.mu.lock()
	defer x.mu.unlock()
	return x.syncAlone(ctx, now)
}

// tellNotes syncs until the store has all notes, or does not answer: the report comes again then.
func (x *exchange) tellNotes(ctx context.Context, now time.Time) {
	x.mu.lock()
	defer x.mu.unlock()
	for x.unsent != nil || !x.notes.isTold() {
		if _, err := x.syncAlone(ctx, now); err != nil {
			return
		}
	}
}

// syncAlone is sync for a caller who holds mu.
func (x *exchange) syncAlone(ctx context.Context, now time.Time) (*queue.View, error) {
	if err := x.resend(ctx, now); err != nil {
		return nil, err
	}
	answer, err := x.syncOnce(ctx, now)
	if err == nil && x.storeHasForgotten() {
		answer, err = x.syncOnce(ctx, now)
	}
	if err != nil {
		return nil, fmt.Errorf("syncing room %q: %w", x.room, err)
	}
	rules := x.conditions.rules.Load()
	x.estimates.Follow(answer, &rules.Settings, x.conditions.paused.Load())
	x.pressures.follow(&answer.Status, rules)
	x.syncs++
	x.memory.trim(x.syncs, answer.Now)
	x.sessions.trim(x.syncs, rules.sessionsAt(answer.Now))
	x.presence.trim(x.syncs, answer.Now, len(answer.Nodes) <= 1 && !answer.Recovering, rules)
	x.notes.trim(x.syncs, answer.Now.Add(-max(rules.SessionDuration, rules.PlaceKept())), func(id queue.ID) bool {
		return x.sessions.expires(rules.sessionsAt(answer.Now), id) > 0
	})
	return answer, nil
}

// roster asks the store who is in the room and in its exact line: of the given ids, or
// without any, of all.
func (x *exchange) roster(ctx context.Context, ids ...queue.ID) (*queue.Roster, error) {
	roster, err := x.store.Roster(ctx, x.room, ids)
	if err != nil {
		return nil, fmt.Errorf("asking the store who is in room %q: %w", x.room, err)
	}
	return roster, nil
}

// storeHasForgotten reports whether the store has to be told something again that this
// node has told it before. The caller holds mu.
func (x *exchange) storeHasForgotten() bool { return x.wantsWhole || x.storeIsBehind }

// putInOrder is one Admit of the store, with the claims in the order of the one rule. The
// caller holds mu.
func (x *exchange) putInOrder(ctx context.Context, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	x.unsent = p
	order := queue.InOrder(x.conditions.rules.Load().Method, claims)
	ordered, answers := make([]queue.Claim, len(claims)), make([]queue.Grant, len(claims))
	for to, i := range order {
		ordered[to] = claims[i]
	}
	status, err := x.store.Admit(ctx, x.room, p, ordered, answers)
	x.noteAnswer(err)
	if err != nil {
		return status, err
	}
	x.unsent = nil
	for from, i := range order {
		grants[i] = answers[from]
		x.memory.grant(status.Now, &claims[i], &grants[i])
		if g := &grants[i]; g.Place.Joined || g.Verdict == queue.Granted && claims[i].Newcomer() {
			x.notes.forget(claims[i].ID)
		}
	}
	return status, nil
}

// noteAnswer tells of the store's going and coming back, once each. The caller holds
// mu.
func (x *exchange) noteAnswer(err error) {
	if !x.conditions.outage.answered(err) {
		return
	}
	if err != nil {
		x.estimates.Doubt()
	}
	x.onStoreChange(err)
}

// resend sends a report again whose answer was lost, and asks what became of
// the claims that went with it. The caller holds mu.
func (x *exchange) resend(ctx context.Context, now time.Time) error {
	if x.unsent == nil {
		return nil
	}
	now = x.mu.now(now)
	x.unsent.Now = x.clock.at(now)
	grants := make([]queue.Grant, len(x.undecided))
	status, err := x.putInOrder(ctx, x.unsent, x.undecided, grants)
	if errors.Is(err, errPanic) { // for the second time, and it would for ever
		x.unsent, x.undecided, x.doubtful = nil, nil, queue.Admissions{}
	}
	if err != nil {
		return fmt.Errorf("reporting to room %q again: %w", x.room, err)
	}
	x.learnUndecided(status, grants)
	x.followStatus(now, status)
	return nil
}

// learnUndecided takes in what became of the undecided claims. A store that has lost its memory
// cannot tell: then all of them may have been granted, and their visitors be known to other nodes.
// The caller holds mu.
func (x *exchange) learnUndecided(status queue.Status, grants []queue.Grant) {
	rules := x.conditions.rules.Load()
	for i, g := range grants {
		c := &x.undecided[i]
		switch g.Verdict {
		case queue.Held:
			x.sessions.learn(status.Now, c.ID, rules.SessionEnd(g))
		case queue.Used:
		default:
			continue
		}
		x.presence.enter(status.Now, rules, c.ID)
		if !status.WantWhole {
			x.memory.admitted.Add(admission(g.AcceptedAt))
		}
	}
	if status.WantWhole {
		x.memory.admitted.Add(x.doubtful)
	}
	x.undecided, x.doubtful = nil, queue.Admissions{}
}

// syncOnce is one Sync of the store. The caller holds mu.
func (x *exchange) syncOnce(ctx context.Context, now time.Time) (*queue.View, error) {
	now = x.mu.now(now)
	toldAgain := x.storeHasForgotten()
	x.unsent = x.report(now)
	answer, err := x.store.Sync(ctx, x.room, x.unsent)
	x.noteAnswer(err)
	if err != nil {
		return nil, err
	}
	x.unsent = nil
	x.memory.lastNumber = max(x.memory.lastNumber, answer.LastNumber)
	known := x.conditions.view.Load().synced // of what a store that has lost its memory does not know
	answer.Stock = answer.Stock.Later(known.Stock)
	answer.Settling = answer.Settling || x.conditions.awaitsReturns(answer.Now)
	if answer.WantWhole {
		answer.Boundaries = known.Boundaries
	}
	x.follow(now, &view{answer.Status, answer, x.estimates.Outlook(answer, &x.conditions.rules.Load().Settings)})
	if !answer.WantWhole { // else it knows less than this node, which is to tell it first
		x.learn(answer)
	}
	x.learnConfiguration(answer.Configuration, toldAgain)
	return answer, nil
}

// followStatus is follow of an answer that tells of nothing but the status. The caller
// holds mu.
func (x *exchange) followStatus(began time.Time, s queue.Status) {
	v := *x.conditions.view.Load()
	v.Status = s
	x.follow(began, &v)
}

// follow makes v, the answer to a call that began then, what decisions go by. The caller
// holds mu.
func (x *exchange) follow(began time.Time, v *view) {
	x.epoch, x.wantsWhole = v.Epoch, v.WantWhole
	if !x.clock.follow(span{began, x.mu.now(began)}, v.Now) {
		v.Recovering = true
	}
	x.conditions.view.Store(v)
	x.conditions.outage.spareFor(v.Open / max(1, len(x.memory.nodes)))
}

// learn takes in what the store tells of other nodes' visitors. The caller holds mu.
func (x *exchange) learn(answer *queue.View) {
	if !answer.Recovering { // else it does not know yet who was there, and who is in
		x.since, x.memory.nodes = answer.Now, answer.Nodes
	}
	x.sessions.learnRevoked(answer.Now, answer.Revoked)
	rules := x.conditions.rules.Load()
	for _, s := range answer.Entered {
		x.sessions.learn(answer.Now, s.ID, min(s.Expires, answer.Now.Add(rules.sessionLasts())))
		x.presence.enter(answer.Now, rules, s.ID)
		x.onEnter(s.ID)
	}
	for _, id := range answer.Left {
		x.onLeave(id)
	}
}
