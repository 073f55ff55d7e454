package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/anteroom-gate/anteroom/queue"
)

// overrides are the changes that operators made to a room while it ran, as all
// its gates know them through the store.
type overrides struct {
	Changes changes           `json:"changes"`
	By      map[string]author `json:"by"` // by the key that was changed
}

// author is who changed a setting, and when.
type author struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// overridesOf reads what a configuration says of its overrides. What another
// version of the program wrote and this one cannot read counts as none.
func overridesOf(c queue.Configuration) overrides {
	var o overrides
	if len(c.Overrides) > 0 && json.Unmarshal(c.Overrides, &o) != nil {
		return overrides{}
	}
	return o
}

// faultsError is all that is wrong with a change.
type faultsError struct{ lines []string }

func (e *faultsError) Error() string { return strings.Join(e.lines, "; ") }

// change puts a JSON object of changes over the room's, on every gate.
func (r *room) change(ctx context.Context, now time.Time, patch []byte, by string) error {
	r.configuring.Lock()
	defer r.configuring.Unlock()
	return r.configure(ctx, now, by, func(o overrides) (overrides, error) {
		merged, faults, err := o.Changes.merge(patch)
		if err != nil {
			return o, err
		}
		if err := merged.over(*r.base.Load()).WithDefaults().Validate(); err != nil {
			faults = append(faults, err)
		}
		if err := errors.Join(faults...); err != nil {
			return o, &faultsError{lines: strings.Split(err.Error(), "\n")}
		}
		return o.signed(merged, author{By: by, At: now.UTC().Truncate(time.Millisecond)}), nil
	})
}

// signed returns o with the changes c in the place of its own, and the author at those that differ.
func (o overrides) signed(c changes, who author) overrides {
	next := overrides{Changes: c, By: map[string]author{}}
	for name, value := range c {
		next.By[name] = who
		if bytes.Equal(value, o.Changes[name]) {
			next.By[name] = o.By[name]
		}
	}
	return next
}

// rebase makes s what this gate is configured with, under what operators have
// changed, and returns what was; nil the first time. It fails if the changes do not
// go with s; the first time they end then, as a gate has to start with a file that
// is right by itself.
func (r *room) rebase(ctx context.Context, now time.Time, s queue.Settings, log *zap.Logger) (was *queue.Settings, err error) {
	r.configuring.Lock()
	defer r.configuring.Unlock()
	was = r.base.Swap(&s)
	var misfit error
	err = r.configure(ctx, now, "file", func(o overrides) (overrides, error) {
		misfit = o.Changes.over(s).WithDefaults().Validate()
		switch {
		case misfit == nil:
			return o, nil
		case was == nil:
			return o.withoutTimes(), nil
		}
		return o, fmt.Errorf("what operators have changed does not go with it, and has to be taken back first: %w", misfit)
	})
	if err != nil {
		r.base.Store(was)
		return was, err
	}
	if misfit != nil {
		log.Warn("what operators changed of the waiting times does not go with the configuration, and ends", zap.Error(misfit))
	}
	return was, nil
}

// withoutTimes returns o without those of its changes that have to go together
// with other settings.
func (o overrides) withoutTimes() overrides {
	o.Changes, o.By = maps.Clone(o.Changes), maps.Clone(o.By)
	for _, name := range []string{"refresh_interval", "queue_ticket_ttl", "line_dropout"} {
		delete(o.Changes, name)
		delete(o.By, name)
	}
	return o
}

// configureTries is how often a configuration is tried again because another
// gate was first.
const configureTries = 5

// configure edits the overrides, and has all gates go by the result. Where it
// changes nothing it asks nobody. The caller holds configuring.
func (r *room) configure(ctx context.Context, now time.Time, by string, edit func(overrides) (overrides, error)) error {
	var err error
	for range configureTries {
		current := r.queue.Configuration()
		o, edited := edit(overridesOf(current))
		if edited != nil {
			return edited
		}
		next := queue.Configuration{Settings: o.Changes.over(*r.base.Load()).WithDefaults(), By: by}
		if next.Overrides, err = json.Marshal(o); err != nil {
			return fmt.Errorf("writing the overrides: %w", err)
		}
		if next.Settings == current.Settings && (bytes.Equal(next.Overrides, current.Overrides) || len(current.Overrides) == 0 && len(o.Changes) == 0) {
			return nil
		}
		if err = r.queue.Configure(ctx, now, next); !errors.Is(err, queue.ErrConflict) {
			break
		}
	}
	if err == nil {
		// So that visitors are told of the change with their next answer. A store
		// that fails just now is noticed by those who sync regularly.
		_ = r.queue.Sync(ctx, now)
	}
	return err
}

// heard notes a configuration that another gate gave the room. It is in force,
// and this gate's own file is not, where they differ.
func (r *room) heard(c queue.Configuration, log *zap.Logger) {
	base := r.base.Load()
	if base == nil {
		return
	}
	log.Info("room was changed through another gate", zap.String("by", c.By), zap.ByteString("overrides", c.Overrides))
	if overridesOf(c).Changes.over(*base).WithDefaults() != c.Settings {
		log.Warn("another gate is configured otherwise; its limits and switches are in force")
	}
}
