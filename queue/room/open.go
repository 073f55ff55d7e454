package room

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/estimate"
	"github.com/fairdoor-gate/fairdoor/queue/pressure"
)

// open makes a room of its parts, from the bottom up, and makes it known to its store.
func open(ctx context.Context, now time.Time, c Config) (*Room, error) {
	node, timing, clock := c.Uint64(), newTiming(&c), &storeClock{}
	answer, err := introduce(ctx, now, &c, node, timing, clock)
	if err != nil {
		return nil, err
	}
	r := assemble(&c, node, timing, clock, answer)
	if r.Configuration().Version == 0 {
		if err := r.Configure(ctx, now, queue.Configuration{Settings: c.Settings}); err != nil && !errors.Is(err, queue.ErrConflict) {
			return nil, err
		}
	}
	return r, patiently(func() error { return r.Sync(ctx, now) })
}

// introduce is the first sync of all: the node learns the store's clock before it
// keeps any time by it.
func introduce(ctx context.Context, now time.Time, c *Config, node uint64, t timing, clock *storeClock) (answer *queue.View, err error) {
	call := span{}
	err = patiently(func() (err error) {
		call.began = t.now(now)
		answer, err = c.Store.Sync(ctx, c.Name, &queue.Report{Node: node, Now: queue.At(call.began)})
		call.ended = t.now(now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asking the store for room %q: %w", c.Name, err)
	}
	clock.set(call, answer.Now)
	return answer, nil
}

// patiently tries a first call to the store some times: while many gates start
// at once, one may take longer than its budget.
func patiently(call func() error) (err error) {
	for range 10 {
		if err = call(); err == nil {
			return nil
		}
	}
	return err
}

// assemble puts the parts of a room together.
func assemble(c *Config, node uint64, timing timing, clock *storeClock, answer *queue.View) *Room {
	var (
		start      = answer.Now.Floor(tick).Add(-24 * time.Hour) // before any check-in that still matters
		conditions = &conditions{}
		presence   = newPresence(answer.Now, start, c.Uint64)
		sessions   = newSessions(start)
		outbox     = &outbox{}
		estimates  = estimate.New(c.Slack)
		pressures  = &pressures{meter: pressure.NewMeter()}
	)
	conditions.rules.Store(newRules(queue.Configuration{Settings: c.Settings}, c.Slack))
	conditions.view.Store(&view{synced: &queue.View{}, outlook: estimates.Outlook(&queue.View{}, &c.Settings)})
	x := &exchange{
		room: c.Name, store: c.Store, clock: clock, conditions: conditions, presence: presence, sessions: sessions,
		outbox: outbox, estimates: estimates, pressures: pressures, slack: c.Slack,
		onStoreChange: c.OnStoreChange, onConfigure: c.OnConfigure,
		onEnter: c.OnEnter, onLeave: c.OnLeave,
		configuring: newCallLock(timing), mu: newCallLock(timing), node: node, epoch: answer.Epoch, memory: memory{cells: map[queue.Cell]int{}},
	}
	if answer.Configuration.Version > 0 {
		x.adopt(answer.Configuration)
	}
	b := &batcher{timing: timing, gather: c.Gather, call: x.putClaims}
	return &Room{
		name: c.Name, clock: clock, conditions: conditions, outbox: outbox, exchange: x, estimates: estimates, pressures: pressures, moving: newCallLock(timing),
		visits: &visits{
			random: c.Uint64, clock: clock, basis: basis{conditions}, presence: presence, estimates: estimates, networks: &networks{}, sessions: sessions, outbox: outbox, turnstile: &turnstile{},
			put: b.put, roster: x.roster, draw: c.Draw, onDrawn: c.OnDrawn, onBurst: c.OnBurst,
		},
	}
}
