package room

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// configure is [Room.Configure].
func (x *exchange) configure(ctx context.Context, now time.Time, c queue.Configuration) error {
	c.Settings = c.Settings.WithDefaults()
	if err := c.Settings.Validate(); err != nil {
		return fmt.Errorf("configuring room %q: %w", x.room, err)
	}
	x.configuring.lock()
	defer x.configuring.unlock()
	if x.conditions.rules.Load().configuration.Version > 0 { // else nothing is kept, and how the room stands is not to be told yet
		if _, err := x.sync(ctx, now); err != nil { // what is proposed goes by how the store stands now
			return fmt.Errorf("configuring room %q: %w", x.room, err)
		}
	}
	if !x.propose(now, &c) {
		return fmt.Errorf("configuring room %q: %w", x.room, queue.ErrConflict)
	}
	err := x.store.Configure(ctx, x.room, c) // which may take long: visitors do not wait for it
	if err = x.concludeProposal(ctx, now, c, err); err != nil {
		return fmt.Errorf("configuring room %q: %w", x.room, err)
	}
	// What decisions go by is of the settings from before. If the store does not answer, it is
	// taken up later.
	_, _ = x.sync(ctx, now)
	return nil
}

// propose makes c the configuration after the one in force. It returns false if c has the
// version of an earlier one: it was made from a configuration that is not in force any more.
func (x *exchange) propose(now time.Time, c *queue.Configuration) bool {
	x.mu.lock()
	defer x.mu.unlock()
	current := &x.conditions.rules.Load().configuration
	if c.Version != 0 && c.Version != current.Version {
		return false
	}
	c.Version, c.At = current.Version+1, x.clock.at(now)
	c.Places = current.PlacesUnder(&c.Settings, c.At, x.conditions.view.Load().synced.Kept)
	c.Standstill = current.StandstillUnder(&c.Settings, c.At)
	x.proposed = *c
	return true
}

// concludeProposal takes up the configuration that the store has taken; or the one
// that another node has given it meanwhile.
func (x *exchange) concludeProposal(ctx context.Context, now time.Time, c queue.Configuration, err error) error {
	x.mu.lock()
	defer x.mu.unlock()
	x.proposed = queue.Configuration{}
	switch {
	case err == nil:
		if c.Version > x.conditions.rules.Load().configuration.Version {
			x.putInForce(c)
		}
	case errors.Is(err, queue.ErrConflict):
		if err := x.resend(ctx, now); err != nil {
			return err
		}
		if _, err := x.syncOnce(ctx, now); err != nil {
			return err
		}
	}
	return err
}

// learnConfiguration takes in which configuration the store goes by: a later one is
// taken up, and so is another one of the same version, where the store has been told
// this node's again. The caller holds mu.
func (x *exchange) learnConfiguration(answer queue.Configuration, toldAgain bool) {
	current := &x.conditions.rules.Load().configuration
	x.storeIsBehind = answer.Version < current.Version
	if answer.Version > current.Version || toldAgain && answer.Version == current.Version && !same(&answer, current) {
		x.adopt(answer)
	}
}

// adopt takes up a configuration that the store tells of. The caller holds mu.
func (x *exchange) adopt(c queue.Configuration) {
	x.putInForce(c)
	if !same(&c, &x.proposed) {
		x.onConfigure(c)
	}
}

// same reports whether two configurations are one.
func same(a, b *queue.Configuration) bool {
	return a.Version == b.Version && a.At == b.At && a.By == b.By
}

// putInForce puts a configuration in force. The caller holds mu.
func (x *exchange) putInForce(c queue.Configuration) {
	next := newRules(c, x.slack)
	x.presence.follow(x.conditions.rules.Swap(next), next)
}
