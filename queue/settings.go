package queue

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Method is how a room chooses among those who wait.
type Method uint8

// The queueing methods; the zero value is FIFO.
const (
	FIFO        Method = iota // earlier buckets first
	Random                    // an equal chance at every check-in
	Line                      // first come, first served, to the individual
	Passthrough               // everyone enters, and is counted
	Reject                    // nobody enters
)

var methodNames = []string{"fifo", "random", "line", "passthrough", "reject"}

// String returns the method's name as configuration files spell it.
func (m Method) String() string { return nameOf(methodNames, int(m)) }

// MarshalText returns the method's name.
func (m Method) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText accepts the names that String returns.
func (m *Method) UnmarshalText(text []byte) error {
	i, err := indexOf(methodNames, "queueing method", string(text))
	if err == nil {
		*m = Method(i)
	}
	return err
}

// Pacing is how a minute's allowance is released while people wait.
type Pacing uint8

// The ways of pacing; the zero value is PacingAuto.
const (
	PacingAuto   Pacing = iota // PacingRandom for Random, else PacingMinute
	PacingMinute               // all at the start of the calendar minute
	PacingEven                 // evenly through the minute
	PacingRandom               // each slot at a random moment of the minute
)

var pacingNames = []string{"auto", "minute", "even", "random"}

// String returns the pacing's name as configuration files spell it.
func (p Pacing) String() string { return nameOf(pacingNames, int(p)) }

// MarshalText returns the pacing's name.
func (p Pacing) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText accepts the names that String returns.
func (p *Pacing) UnmarshalText(text []byte) error {
	i, err := indexOf(pacingNames, "pacing", string(text))
	if err == nil {
		*p = Pacing(i)
	}
	return err
}

// Occupancy is what keeps a visitor in the room.
type Occupancy uint8

// The kinds of occupancy; the zero value is BySession.
const (
	BySession    Occupancy = iota // SessionDuration from their last request
	ByConnection                  // an open websocket or stream, and LineGrace beyond it
)

var occupancyNames = []string{"session", "connection"}

// String returns the kind's name as configuration files spell it.
func (o Occupancy) String() string { return nameOf(occupancyNames, int(o)) }

// MarshalText returns the kind's name.
func (o Occupancy) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText accepts the names that String returns.
func (o *Occupancy) UnmarshalText(text []byte) error {
	i, err := indexOf(occupancyNames, "occupancy", string(text))
	if err == nil {
		*o = Occupancy(i)
	}
	return err
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

func indexOf(names []string, what, name string) (int, error) {
	for i, n := range names {
		if n == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q: want one of %v", what, name, names)
}

// Settings are the limits and switches of a room. All of them may be changed
// while it runs. The limits are at most 2147483647, and the durations a day.
type Settings struct {
	TotalActiveUsers      int           // sessions at a time; required, at least 1
	NewUsersPerMinute     int           // admissions per calendar minute; required, at least 1
	SessionDuration       time.Duration // from a visitor's last request; default 5m, at least 1s
	DisableSessionRenewal bool          // a session then lasts SessionDuration from its admission; not with ByConnection
	Method                Method        // default FIFO
	QueueAll              bool          // nobody new enters, whatever the method
	RefreshInterval       time.Duration // between check-ins; default 20s, at least 1s
	RefreshJitter         float64       // ± this fraction of RefreshInterval, 0 to 0.5
	Bucket                time.Duration // arrivals are rounded down to this; default 1m, at least 1s
	Pacing                Pacing        // default PacingAuto
	QueueTicketTTL        time.Duration // a place outlives its last check-in by this; default 5m, at least two intervals
	LineDropout           time.Duration // a place in an exact line is lost after so long without a check-in; default three intervals, at least 60s
	LineGrace             time.Duration // whose connection closed keeps the seat so long, with ByConnection; default 15s, at least 3s
	Occupancy             Occupancy     // default BySession
	Suspended             bool          // for whoever asks: the room is not used
	OnStoreError          ErrorPolicy   // who enters while the store does not answer; default Hold
	Fleeting              bool          // for the store: it forgets the room, changes and all, some time after all nodes have left it
}

// WithDefaults returns s with its zero durations set to their defaults.
func (s Settings) WithDefaults() Settings {
	setDefault(&s.SessionDuration, 5*time.Minute)
	setDefault(&s.RefreshInterval, 20*time.Second)
	setDefault(&s.Bucket, time.Minute)
	setDefault(&s.QueueTicketTTL, max(5*time.Minute, 2*s.RefreshInterval))
	setDefault(&s.LineDropout, min(max(3*s.RefreshInterval, time.Minute), longest))
	setDefault(&s.LineGrace, 15*time.Second)
	return s
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// Validate reports every setting that is out of bounds, joined.
func (s Settings) Validate() error {
	var errs []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	number := func(name string, n int) {
		require(n >= 1, "%s is %d: must be at least 1", name, n)
		require(n <= math.MaxInt32, "%s is %d: must be at most %d", name, n, math.MaxInt32)
	}
	number("total_active_users", s.TotalActiveUsers)
	number("new_users_per_minute", s.NewUsersPerMinute)
	require(s.SessionDuration >= time.Second, "session_duration is %v: must be at least 1s", s.SessionDuration)
	require(int(s.Method) < len(methodNames), "queueing_method is unknown")
	require(s.RefreshInterval >= time.Second, "refresh_interval is %v: must be at least 1s", s.RefreshInterval)
	require(s.RefreshJitter >= 0 && s.RefreshJitter <= 0.5, "refresh_jitter is %v: must be from 0 to 0.5", s.RefreshJitter)
	require(s.Bucket >= time.Second, "bucket is %v: must be at least 1s", s.Bucket)
	require(int(s.Pacing) < len(pacingNames), "pacing is unknown")
	require(s.QueueTicketTTL >= 2*s.RefreshInterval,
		"queue_ticket_ttl is %v: must be at least two refresh intervals, %v", s.QueueTicketTTL, 2*s.RefreshInterval)
	require(s.Method != Line || s.LineDropout >= s.RefreshInterval+s.slack(),
		"line_dropout is %v: must be longer than a refresh interval, at least %v", s.LineDropout, s.RefreshInterval+s.slack())
	require(s.LineGrace >= leastGrace, "line_grace is %v: must be at least %v", s.LineGrace, leastGrace)
	require(int(s.Occupancy) < len(occupancyNames), "occupancy is unknown")
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"session_duration", s.SessionDuration}, {"refresh_interval", s.RefreshInterval}, {"bucket", s.Bucket},
		{"queue_ticket_ttl", s.QueueTicketTTL}, {"line_dropout", s.LineDropout}, {"line_grace", s.LineGrace},
	} {
		require(d.value <= longest, "%s is %v: must be at most 24h", d.name, d.value)
	}
	return errors.Join(errs...)
}

// longest is what any duration may be: no cookie is kept for longer than a day.
const longest = 24 * time.Hour

// leastGrace leaves nodes that share a store the time to tell it that an
// occupant is back.
const leastGrace = 3 * time.Second

// slack is how late a check-in may come and still find its visitor counted: it
// covers the network and the rounding of windows.
func (s *Settings) slack() time.Duration { return max(s.RefreshInterval/8, time.Second/2) }

// placeEnds is until when the place of a waiting ticket that is worth something can
// be come back to: not before the check-in that its visitor was told to make. Of an
// exact line the store knows.
func (s *Settings) placeEnds(t *Ticket) Instant {
	if s.Method == Line {
		return endOfInstants
	}
	return t.LastCheckIn.Add(max(s.QueueTicketTTL, Told(t.RefreshInterval)+s.slack()))
}

// PlaceLasts is how long after a check-in a place can be come back to at most, with
// an exact line or without.
func (s Settings) PlaceLasts() time.Duration {
	return max(s.QueueTicketTTL, s.LineDropout, s.ComesBack())
}

// ComesBack is within what time after a check-in whoever stays makes the next one:
// for so long a store gives no slots away where people wait whose places in an
// exact line it does not know yet.
func (s Settings) ComesBack() time.Duration {
	_, interval, _ := s.intervals()
	if s.Method == Random {
		interval += s.RefreshInterval // of the first check-in
	}
	return Told(interval) + s.slack()
}

// ConfirmsWithin is how long an exact line waits for the first check-in of somebody
// who has joined it. Whoever is later, but within LineDropout, has their number all
// the same.
func (s Settings) ConfirmsWithin() time.Duration { return min(s.LineDropout, s.ComesBack()) }

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

// fixed reports whether requests renew no session.
func (s *Settings) fixed() bool { return s.DisableSessionRenewal || s.Occupancy == ByConnection }

// over reports whether a fixed session of somebody who was let in then has ended, whatever still keeps its slot.
func (s *Settings) over(accepted, now Instant) bool {
	return s.FixedSessions() && accepted.Add(s.SessionDuration) <= now
}

// sessionEnd is until when a visitor may pass by a grant: a fixed session ends in its time, whatever keeps its slot.
func (s *Settings) sessionEnd(g Grant) Instant {
	if s.FixedSessions() {
		return min(g.Expires, g.AcceptedAt.Add(s.SessionDuration))
	}
	return g.Expires
}

// renews reports whether a request renews the session of whoever is in.
func (s *Settings) renews() bool { return !s.fixed() }

// bucket is where a visitor who arrived then is counted. It is in whole seconds
// whatever the setting, so that it packs; buckets, of a second at least, stay
// apart.
func (s *Settings) bucket(arrived Instant) Instant { return arrived.Floor(s.Bucket).Floor(time.Second) }

// rejects reports whether nobody gets even a place in line.
func (s *Settings) rejects() bool { return s.Method == Reject && !s.QueueAll }

// Pace is the pacing in force: PacingAuto resolved.
func (s Settings) Pace() Pacing {
	switch {
	case s.Pacing != PacingAuto:
		return s.Pacing
	case s.Method == Random:
		return PacingRandom
	default:
		return PacingMinute
	}
}

// Told is a refresh interval as visitors are told it: rounded up to the second,
// so that the interval that is enforced never exceeds it.
func Told(interval time.Duration) time.Duration {
	return (interval + time.Second - 1) / time.Second * time.Second
}
