package simulate

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/measure"
)

// Change is a setting of the room that an operator changes as people come.
type Change struct {
	After   time.Duration // the start of the run
	Setting string        // its name, as files have it
	Value   string        // as files have it
}

// String writes the change as UnmarshalText reads it.
func (c Change) String() string {
	return fmt.Sprintf("%s:%s=%s", measure.Short(c.After), c.Setting, c.Value)
}

// UnmarshalText reads a change such as 10m:new_users_per_minute=100.
func (c *Change) UnmarshalText(text []byte) error {
	moment, assignment, found := strings.Cut(string(text), ":")
	name, value, assigned := strings.Cut(assignment, "=")
	after, err := time.ParseDuration(moment)
	if !found || !assigned || err != nil {
		return fmt.Errorf("change %q is not of the form 10m:new_users_per_minute=100", text)
	}
	*c = Change{After: after, Setting: name, Value: value}
	return nil
}

// apply puts the change into settings.
func (c Change) apply(s *queue.Settings) error {
	f := queue.Setting(c.Setting)
	if f == nil || !f.Live || c.Setting == "queueing_method" {
		return fmt.Errorf("change %s: %s is not a setting that can be changed in a simulation", c, c.Setting)
	}
	value, problem := f.Parse(c.Value)
	if problem != "" {
		return fmt.Errorf("change %s: %s %s", c, c.Value, problem)
	}
	f.Of(reflect.ValueOf(s).Elem()).Set(value)
	return nil
}

// validateChanges reports the changes that cannot be made.
func (c *Config) validateChanges() []error {
	var errs []error
	s := c.Room.WithDefaults()
	for _, change := range c.inOrder() {
		switch err := change.apply(&s); {
		case err != nil:
			errs = append(errs, err)
		case change.After < 0:
			errs = append(errs, fmt.Errorf("change %s: must be after the start", change))
		default:
			if err := s.Validate(); err != nil {
				errs = append(errs, fmt.Errorf("change %s: %w", change, err))
			}
		}
	}
	return errs
}

// inOrder are the changes in the order of their moments.
func (c *Config) inOrder() []Change {
	return slices.SortedStableFunc(slices.Values(c.Changes), func(a, b Change) int { return int(a.After - b.After) })
}

// change makes the changes that are due, at any node.
func (r *run) change(ctx context.Context) {
	for len(r.changes) > 0 && start.Add(r.changes[0].After) <= r.now {
		r.fail(r.changes[0].apply(&r.settings))
		r.changes = r.changes[1:]
		r.limits.follow(r.now, r.settings)
		r.slots.limits = r.settings
		n, next := r.nodes.any(), queue.Configuration{Settings: r.settings}
		n.touched = true
		n.begin(nobody, func() { r.fail(n.room.Configure(ctx, r.now.Time(), next)) })
	}
}

// lastChange is when the last of the changes is made, which are in order.
func lastChange(changes []Change) queue.Instant {
	if len(changes) == 0 {
		return 0
	}
	return start.Add(changes[len(changes)-1].After)
}
