package queue

import (
	"context"
	"errors"
	"fmt"
)

// Configuration returns the configuration in force.
func (r *Room) Configuration() Configuration {
	r.talk.mu.Lock()
	defer r.talk.mu.Unlock()
	return r.talk.configuration
}

// Configure changes what the room goes by, on every node: the Settings, with
// their zero durations set to their defaults, and what c says of them. Nobody
// is thrown out, and nobody is admitted until there is room by the new limits.
// It fails, and changes nothing, if the settings are out of bounds or the store
// does not answer; with ErrConflict, if another node was first: then the room
// has that one's configuration.
func (r *Room) Configure(ctx context.Context, now Instant, c Configuration) error {
	c.Settings = c.Settings.WithDefaults()
	if err := c.Settings.Validate(); err != nil {
		return fmt.Errorf("configuring room %q: %w", r.name, err)
	}
	t := &r.talk
	t.mu.Lock()
	defer t.mu.Unlock()
	c.Version, c.At = t.configuration.Version+1, r.storeTime(now)
	err := r.store.Configure(ctx, r.name, c)
	if err == nil {
		r.use(c)
		return nil
	}
	if errors.Is(err, ErrConflict) {
		if err := r.resend(ctx, now); err != nil {
			return err
		}
		if _, err := r.exchange(ctx, now); err != nil {
			return err
		}
	}
	return fmt.Errorf("configuring room %q: %w", r.name, err)
}

// obey takes up a configuration that came from elsewhere. The caller holds mu.
func (r *Room) obey(c Configuration) {
	r.use(c)
	if r.onConfigure != nil {
		r.onConfigure(c)
	}
}

func (r *Room) use(c Configuration) {
	r.talk.configuration = c
	if old := r.settings.Swap(&c.Settings); old.Bucket != c.Settings.Bucket && r.waiters != nil {
		r.waiters.forget()
	}
}
