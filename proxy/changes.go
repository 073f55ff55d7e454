package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// Changes are what an operator changed of a room while it ran, over what is
// configured. A nil field leaves that setting as it is configured.
type Changes struct {
	TotalActiveUsers      *int          `json:"total_active_users,omitempty"`
	NewUsersPerMinute     *int          `json:"new_users_per_minute,omitempty"`
	SessionDuration       *Duration     `json:"session_duration,omitempty"`
	DisableSessionRenewal *bool         `json:"disable_session_renewal,omitempty"`
	QueueingMethod        *queue.Method `json:"queueing_method,omitempty"`
	QueueAll              *bool         `json:"queue_all,omitempty"`
	Suspended             *bool         `json:"suspended,omitempty"`
	RefreshInterval       *Duration     `json:"refresh_interval,omitempty"`
	RefreshJitter         *float64      `json:"refresh_jitter,omitempty"`
	Pacing                *queue.Pacing `json:"pacing,omitempty"`
	QueueTicketTTL        *Duration     `json:"queue_ticket_ttl,omitempty"`
}

// Duration is a time.Duration that JSON spells as configuration files do: "5m".
type Duration time.Duration

// MarshalText returns the duration as "1h30m", without parts that are zero.
func (d Duration) MarshalText() ([]byte, error) {
	text := time.Duration(d).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(text) - len(zero); n > 0 && text[n:] == zero {
			text = text[:n+1]
		}
	}
	return []byte(text), nil
}

// UnmarshalText accepts what time.ParseDuration does.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration: write 90s, 5m or 1h30m", text)
	}
	*d = Duration(parsed)
	return nil
}

// over returns the settings s with the changes in them.
func (c Changes) over(s queue.Settings) queue.Settings {
	put(&s.TotalActiveUsers, c.TotalActiveUsers)
	put(&s.NewUsersPerMinute, c.NewUsersPerMinute)
	put(&s.SessionDuration, (*time.Duration)(c.SessionDuration))
	put(&s.DisableSessionRenewal, c.DisableSessionRenewal)
	put(&s.Method, c.QueueingMethod)
	put(&s.QueueAll, c.QueueAll)
	put(&s.RefreshInterval, (*time.Duration)(c.RefreshInterval))
	put(&s.RefreshJitter, c.RefreshJitter)
	put(&s.Pacing, c.Pacing)
	put(&s.QueueTicketTTL, (*time.Duration)(c.QueueTicketTTL))
	return s
}

func put[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// merge returns c with the changes of a JSON object put over it: a value sets,
// null goes back to what is configured. A key that cannot be changed live is an
// error.
func (c Changes) merge(patch []byte) (Changes, error) {
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(patch, &given); err != nil {
		return c, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	merged := c
	var errs []error
	fields := merged.fields()
	for key, value := range given {
		field, ok := fields[key]
		if !ok {
			errs = append(errs, fmt.Errorf("%s cannot be changed while the gate runs", key))
			continue
		}
		if err := json.Unmarshal(value, field); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
	}
	return merged, errors.Join(errs...)
}

// fields returns pointers to the fields by the keys that JSON gives them.
func (c *Changes) fields() map[string]any {
	return map[string]any{
		"total_active_users":      &c.TotalActiveUsers,
		"new_users_per_minute":    &c.NewUsersPerMinute,
		"session_duration":        &c.SessionDuration,
		"disable_session_renewal": &c.DisableSessionRenewal,
		"queueing_method":         &c.QueueingMethod,
		"queue_all":               &c.QueueAll,
		"suspended":               &c.Suspended,
		"refresh_interval":        &c.RefreshInterval,
		"refresh_jitter":          &c.RefreshJitter,
		"pacing":                  &c.Pacing,
		"queue_ticket_ttl":        &c.QueueTicketTTL,
	}
}

// apply puts the changes over what is configured. The caller holds mu.
func (l *line) apply(ctx context.Context, c Changes) error {
	if err := l.queue.Configure(ctx, c.over(l.base.Settings)); err != nil {
		return err
	}
	suspended := l.base.Suspended
	put(&suspended, c.Suspended)
	l.suspended.Store(suspended)
	l.changes = c
	return nil
}
