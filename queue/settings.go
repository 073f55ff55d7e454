package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// Settings are the limits and switches of a room. All of them may be changed while it runs. A field's tags are all that there is to say
// of a setting besides what it does: yaml is its name in the configuration file, in the admin API and in the store, and, in dashes and in
// capitals, its flag and its variable; default, min and max are written as in the file; usage is for people. What has live:"no" is
// changed by a new configuration only. See [Field].
type Settings struct {
	TotalActiveUsers      int           `yaml:"total_active_users" min:"1" usage:"visitors that may be active at once"`
	NewUsersPerMinute     int           `yaml:"new_users_per_minute" min:"1" usage:"visitors that may be admitted in a minute"`
	SessionDuration       time.Duration `yaml:"session_duration" default:"5m" min:"1s" max:"24h" usage:"time a visitor stays active after the last request"`
	DisableSessionRenewal bool          `yaml:"disable_session_renewal" default:"false" usage:"end sessions session_duration after admission"`
	Method                Method        `yaml:"queueing_method" default:"fifo" usage:"who gets a free slot"`
	QueueAll              bool          `yaml:"queue_all" default:"false" usage:"hold every new visitor"`
	Suspended             bool          `yaml:"suspended" default:"false" usage:"switch the room off"`
	RefreshInterval       time.Duration `yaml:"refresh_interval" default:"20s" min:"1s" max:"24h" usage:"time between two check-ins of who waits"`
	RefreshJitter         float64       `yaml:"refresh_jitter" default:"0.15" min:"0" max:"0.5" usage:"fraction by which a check-in is moved at random"`
	Bucket                time.Duration `yaml:"bucket" default:"1m" min:"1s" max:"24h" live:"no" usage:"what arrival times are rounded down to"`
	Pacing                Pacing        `yaml:"pacing" default:"auto" usage:"when a minute's allowance is released"`
	QueueTicketTTL        time.Duration `yaml:"queue_ticket_ttl" default:"5m" min:"1s" max:"24h" usage:"time a place can be left and come back to"`
	LineDropout           time.Duration `yaml:"line_dropout" min:"1s" max:"24h" usage:"time without a check-in after which a place in an exact line is lost (default: three intervals, at least 60s)"`
	Occupancy             Occupancy     `yaml:"occupancy" default:"session" live:"no" usage:"what keeps a visitor in the room"`
	// LineGrace is at least so long because nodes that share a store need the time to tell it that an occupant is back.
	LineGrace    time.Duration `yaml:"line_grace" default:"15s" min:"3s" max:"24h" usage:"time that a seat is kept for whose connection has closed, with occupancy connection"`
	OnStoreError ErrorPolicy   `yaml:"on_store_error" default:"hold" live:"no" usage:"what becomes of new visitors without the store"`

	// Fleeting makes the store forget the room, changes and all, some time after all nodes have left it. The store is told it as fleeting.
	Fleeting bool `yaml:"-"`
}

// settings are the fields of Settings, by name in byName.
var settings, byName = func() ([]Field, map[string]*Field) {
	fields := Fields(reflect.TypeFor[Settings]())
	byName := make(map[string]*Field, len(fields))
	for i := range fields {
		byName[fields[i].Name] = &fields[i]
	}
	return fields, byName
}()

// Setting returns the field of Settings that has the name; nil if there is none.
func Setting(name string) *Field { return byName[name] }

// WithDefaults returns s with its zero durations set to their defaults. Other fields mean something as they are: what their tags name
// is for files that leave them out.
func (s Settings) WithDefaults() Settings {
	v := reflect.ValueOf(&s).Elem()
	for i := range settings {
		if f := &settings[i]; f.Type == durationType && f.Of(v).IsZero() {
			f.SetDefault(v)
			if f.Name == "queue_ticket_ttl" {
				s.QueueTicketTTL = max(s.QueueTicketTTL, 2*s.RefreshInterval)
			}
		}
	}
	if s.LineDropout == 0 {
		s.LineDropout = min(max(3*s.RefreshInterval, time.Minute), longest)
	}
	return s
}

// A SettingFault is something that is wrong with one of the settings.
type SettingFault struct {
	Name    string // of the setting
	Value   string // as a file would have it
	Problem string // continues a sentence that begins with the value
}

// Error is the fault in one line.
func (f SettingFault) Error() string { return f.Name + " is " + f.Value + ", which " + f.Problem }

// Validate reports every setting that is out of bounds or does not go with the others, joined; each is a SettingFault.
func (s Settings) Validate() error {
	var errs []error
	v := reflect.ValueOf(&s).Elem()
	for i := range settings {
		f := &settings[i]
		text := f.Text(f.Of(v))
		if _, problem := f.Parse(text); problem != "" {
			errs = append(errs, SettingFault{f.Name, text, problem})
		}
	}
	for _, fault := range s.Misfits() {
		errs = append(errs, fault)
	}
	return errors.Join(errs...)
}

// Misfits are the settings that do not go with others, whatever they are by themselves.
func (s Settings) Misfits() []SettingFault {
	var faults []SettingFault
	require := func(ok bool, name string, value time.Duration, format string, args ...any) {
		if !ok {
			faults = append(faults, SettingFault{name, FormatDuration(value), fmt.Sprintf(format, args...)})
		}
	}
	require(s.QueueTicketTTL >= 2*s.RefreshInterval, "queue_ticket_ttl", s.QueueTicketTTL,
		"is too short: at least two refresh intervals, %s", FormatDuration(2*s.RefreshInterval))
	require(!s.Method.HasExactLine() || s.LineDropout >= s.RefreshInterval+s.CheckInSlack(), "line_dropout", s.LineDropout,
		"is too short: longer than a refresh interval, which is %s, with some to spare for the way", FormatDuration(s.RefreshInterval))
	return faults
}

// MarshalJSON writes the settings under their names, as the admin API tells them and the store keeps them.
func (s Settings) MarshalJSON() ([]byte, error) {
	v, b := reflect.ValueOf(&s).Elem(), []byte("{")
	for i := range settings {
		f := &settings[i]
		value, err := f.JSON(f.Of(v))
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", f.Name, err)
		}
		b = append(append(append(b, '"'), f.Name...), `":`...)
		b = append(append(b, value...), ',')
	}
	if s.Fleeting {
		b = append(b, `"fleeting":true,`...)
	}
	b[len(b)-1] = '}'
	return b, nil
}

// UnmarshalJSON reads what MarshalJSON writes. Names that are not known, as another version may have them, are passed over.
func (s *Settings) UnmarshalJSON(text []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return fmt.Errorf("reading settings: %w", err)
	}
	v := reflect.ValueOf(s).Elem()
	for name, value := range given {
		if name == "fleeting" {
			s.Fleeting = string(value) == "true"
		} else if f := Setting(name); f != nil {
			text, err := f.textOf(value)
			read, problem := f.read(text)
			if err != nil || problem != "" {
				return fmt.Errorf("reading settings: %s: %s", name, value)
			}
			f.Of(v).Set(read)
		}
	}
	return nil
}

// longest is what any duration may be: no cookie is kept for longer than a day.
const longest = 24 * time.Hour

// CheckInSlack is how late a check-in may come and still find its visitor counted: it
// covers the network and the rounding of windows.
func (s *Settings) CheckInSlack() time.Duration { return max(s.RefreshInterval/8, time.Second/2) }

// PlaceEnds is until when the place of a waiting ticket that is worth something can
// be come back to: not before the check-in that its visitor was told to make. Of an
// exact line the store knows.
func (s *Settings) PlaceEnds(t *Ticket) Instant {
	if s.Method.HasExactLine() {
		return endOfInstants
	}
	return t.LastCheckIn.Add(max(s.QueueTicketTTL, WholeSeconds(t.RefreshInterval)+s.CheckInSlack()))
}

// PlaceLasts is how long after a check-in a place can be come back to at most, with
// an exact line or without.
func (s Settings) PlaceLasts() time.Duration {
	return max(s.QueueTicketTTL, s.LineDropout, s.ReturnsWithin())
}

// ReturnsWithin is within what time after a check-in whoever stays makes the next one:
// for so long a store gives no slots away where people wait whose places in an
// exact line it does not know yet.
func (s Settings) ReturnsWithin() time.Duration {
	_, interval, _ := s.Intervals()
	if s.Method.Draws() {
		interval += s.RefreshInterval // of the first check-in
	}
	return WholeSeconds(interval) + s.CheckInSlack()
}

// ConfirmsWithin is how long an exact line waits for the first check-in of somebody
// who has joined it. Whoever is later, but within LineDropout, has their number all
// the same.
func (s Settings) ConfirmsWithin() time.Duration { return min(s.LineDropout, s.ReturnsWithin()) }

// SessionLasts is how long a session outlives what renews it, as a node reckons
// by. A store counts sessions slack longer than it is told; where a seat is to
// be free LineGrace after a connection has closed, that is part of it.
func (s Settings) SessionLasts(slack time.Duration) time.Duration {
	if s.Occupancy == BySession {
		return s.SessionDuration
	}
	return max(s.LineGrace-slack, s.LineGrace/3)
}

// FixedSessions reports whether nothing extends a session: it lasts SessionDuration from its admission.
func (s *Settings) FixedSessions() bool { return s.DisableSessionRenewal && s.Occupancy == BySession }

// Over reports whether a fixed session of somebody who was let in then has ended, whatever still keeps its slot.
func (s *Settings) Over(accepted, now Instant) bool {
	return s.FixedSessions() && accepted.Add(s.SessionDuration) <= now
}

// SessionEnd is until when a visitor may pass by a grant: a fixed session ends in its time, whatever keeps its slot.
func (s *Settings) SessionEnd(g Grant) Instant {
	if s.FixedSessions() {
		return min(g.Expires, g.AcceptedAt.Add(s.SessionDuration))
	}
	return g.Expires
}

// Renews reports whether a request renews the session of whoever is in.
func (s *Settings) Renews() bool { return !s.DisableSessionRenewal && s.Occupancy == BySession }

// BucketOf is where a visitor who arrived then is counted. It is in whole seconds
// whatever the setting, so that it packs; buckets, of a second at least, stay
// apart.
func (s *Settings) BucketOf(arrived Instant) Instant {
	return arrived.Floor(s.Bucket).Floor(time.Second)
}

// AdmitsEveryone reports whether everyone is let in, without waiting for anything.
func (s *Settings) AdmitsEveryone() bool { return s.Method.EveryoneEnters() && !s.QueueAll }

// AdmitsNobody reports whether nobody new is let in.
func (s *Settings) AdmitsNobody() bool { return s.Method.NobodyEnters() || s.QueueAll }

// RejectsAll reports whether nobody gets even a place in line.
func (s *Settings) RejectsAll() bool { return s.Method.NobodyEnters() && !s.QueueAll }

// PacingInForce is the pacing in force: PacingAuto resolved.
func (s Settings) PacingInForce() Pacing {
	switch {
	case s.Pacing != PacingAuto:
		return s.Pacing
	case s.Method.Draws():
		return PacingRandom
	default:
		return PacingMinute
	}
}

// WholeSeconds is a refresh interval as visitors are told it: rounded up to the second,
// so that the interval that is enforced never exceeds it.
func WholeSeconds(interval time.Duration) time.Duration {
	return (interval + time.Second - 1) / time.Second * time.Second
}
