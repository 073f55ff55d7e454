package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	LineDropout           *Duration     `json:"line_dropout,omitempty"`
	LineGrace             *Duration     `json:"line_grace,omitempty"`
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
	put(&s.Suspended, c.Suspended)
	put(&s.RefreshInterval, (*time.Duration)(c.RefreshInterval))
	put(&s.RefreshJitter, c.RefreshJitter)
	put(&s.Pacing, c.Pacing)
	put(&s.QueueTicketTTL, (*time.Duration)(c.QueueTicketTTL))
	put(&s.LineDropout, (*time.Duration)(c.LineDropout))
	put(&s.LineGrace, (*time.Duration)(c.LineGrace))
	return s
}

func put[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// errNoObject means that what was to be merged is not a JSON object.
var errNoObject = errors.New("the body is not a JSON object")

// merge returns c with the changes of a JSON object put over it: a value sets,
// null goes back to what is configured. Keys that cannot be changed live and
// values that do not fit are told in faults, all of them.
func (c Changes) merge(patch []byte) (merged Changes, faults []error, err error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(patch, &given); err != nil || given == nil {
		return c, nil, errNoObject
	}
	fields := c.fields()
	for _, key := range slices.Sorted(maps.Keys(given)) {
		set, ok := fields[key]
		if !ok {
			faults = append(faults, fmt.Errorf("%s is not among what can be changed here", key))
			continue
		}
		if err := set(given[key]); err != nil {
			faults = append(faults, fmt.Errorf("%s %w", key, err))
		}
	}
	return c, faults, nil
}

// fields returns functions that set the fields to a JSON value, by the keys that
// JSON gives them.
func (c *Changes) fields() map[string]func([]byte) error {
	return map[string]func([]byte) error{
		"total_active_users":      setter(&c.TotalActiveUsers),
		"new_users_per_minute":    setter(&c.NewUsersPerMinute),
		"session_duration":        duration(&c.SessionDuration),
		"disable_session_renewal": setter(&c.DisableSessionRenewal),
		"queueing_method":         setter(&c.QueueingMethod),
		"queue_all":               setter(&c.QueueAll),
		"suspended":               setter(&c.Suspended),
		"refresh_interval":        duration(&c.RefreshInterval),
		"refresh_jitter":          setter(&c.RefreshJitter),
		"pacing":                  setter(&c.Pacing),
		"queue_ticket_ttl":        duration(&c.QueueTicketTTL),
		"line_dropout":            duration(&c.LineDropout),
		"line_grace":              duration(&c.LineGrace),
	}
}

// setter returns a function that sets the field to a value of its own: what it
// pointed to may be in use.
func setter[T any](field **T) func([]byte) error {
	return func(value []byte) error {
		var set *T
		if err := json.Unmarshal(value, &set); err != nil {
			return misfit(new(T), err)
		}
		*field = set
		return nil
	}
}

// duration is setter, but for 0, which settings have for what is not given.
func duration(field **Duration) func([]byte) error {
	set := setter(field)
	return func(value []byte) error {
		err := set(value)
		if err == nil && *field != nil && **field == 0 {
			return errors.New("is 0s: null goes back to what is configured")
		}
		return err
	}
}

// misfit says in the words of a configuration file what is wrong with a value.
func misfit(wanted any, err error) error {
	if wrongType := new(json.UnmarshalTypeError); !errors.As(err, &wrongType) {
		return fmt.Errorf("is not usable: %w", err)
	}
	switch wanted.(type) {
	case *int:
		return errors.New("wants a whole number")
	case *float64:
		return errors.New("wants a number")
	case *bool:
		return errors.New("wants true or false")
	case *Duration:
		return errors.New(`wants a duration such as "90s" or "5m"`)
	default:
		return errors.New("wants a name, as a string")
	}
}
