package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/setting"
)

// Settings are the limits and switches of a room. The tags of a field have all that defines the
// setting, besides what it does: yaml is its name in the configuration file, in the admin API and
// in the store, and, in dashes and in capitals, the name of its flag and of its variable; default,
// min and max are written as in the file; usage is for people. Settings can be changed while the
// room runs. Those with live:"no" change with the file only. See [setting.Field], and "Adding a
// setting" in the package comment.
type Settings struct {
	TotalActiveUsers      int           `yaml:"total_active_users" min:"1" usage:"visitors that may be active at once"`
	NewUsersPerMinute     int           `yaml:"new_users_per_minute" min:"1" usage:"visitors that may be admitted in a minute"`
	SessionDuration       time.Duration `yaml:"session_duration" default:"5m" min:"1s" max:"24h" usage:"time a visitor stays active after the last request"`
	DisableSessionRenewal bool          `yaml:"disable_session_renewal" default:"false" usage:"end sessions session_duration after admission"`
	Method                Method        `yaml:"queueing_method" default:"fifo" usage:"who gets a free slot"`
	QueueAll              bool          `yaml:"queue_all" default:"false" usage:"hold every new visitor"`
	Suspended             bool          `yaml:"suspended" default:"false" usage:"switch the room off"`
	RefreshInterval       time.Duration `yaml:"refresh_interval" default:"20s" min:"1s" max:"24h" usage:"time between two check-ins of who waits and is near the head"`
	RefreshIntervalMax    time.Duration `yaml:"refresh_interval_max" default:"2m" min:"1s" max:"24h" usage:"longest time between two check-ins of who is far from the head"`
	StreamWithin          time.Duration `yaml:"stream_within" default:"5m" min:"1s" max:"24h" usage:"wait up to which the page of a visitor has a stream of events; before, it asks"`
	RefreshJitter         float64       `yaml:"refresh_jitter" default:"0.15" min:"0" max:"0.5" usage:"fraction by which a check-in is moved at random"`
	Bucket                time.Duration `yaml:"bucket" default:"0s" min:"0s" max:"24h" live:"no" usage:"arrival times are rounded down to this (0s: as finely as the order needs)"`
	Pacing                Pacing        `yaml:"pacing" default:"auto" usage:"when a minute's allowance is released"`
	QueueTicketTTL        time.Duration `yaml:"queue_ticket_ttl" default:"30m" min:"1s" max:"24h" usage:"time a place can be left and come back to"`
	ConfirmWithin         time.Duration `yaml:"confirm_within" default:"1m" min:"0s" max:"24h" usage:"time in which the ticket of a newcomer who was let in at once has to come back (0s: a whole session)"`
	ClaimWithin           time.Duration `yaml:"claim_within" default:"0s" min:"0s" max:"24h" usage:"time for which the slot of a visitor whose page is hidden is kept until they look (0s: the session starts at once)"`
	MaxWaitingPerNetwork  int           `yaml:"max_waiting_per_network" default:"0" min:"0" usage:"places of one network that count in line (0: all)"`
	LineDropout           time.Duration `yaml:"line_dropout" min:"1s" max:"24h" usage:"time without a check-in after which a place in an exact line is lost (default: three times the longest from one check-in to the next, at least 60s)"`
	Occupancy             Occupancy     `yaml:"occupancy" default:"session" live:"no" usage:"what keeps a visitor in the room"`
	// LineGrace has a least value because nodes that share a store need time to report that an
	// occupant is back.
	LineGrace    time.Duration `yaml:"line_grace" default:"15s" min:"3s" max:"24h" usage:"time that a seat is kept for whose connection has closed, with occupancy connection"`
	OnStoreError ErrorPolicy   `yaml:"on_store_error" default:"hold" live:"no" usage:"what becomes of new visitors without the store"`

	Message string `yaml:"message" max:"500" usage:"what everyone who waits is told, as plain text"`
	Items   Items  `yaml:"items" usage:"what there is to buy, told to everyone who waits: a name each, and a price and how many are left where these are known"`

	// Both bounds of admission control are off at 0. See package pressure.
	AdmissionControlLatency time.Duration `yaml:"admission_control_latency" default:"0s" min:"0s" max:"1m" usage:"time within which the origin is to answer 95 of 100 requests; admissions are slowed while it does not (0s: off)"`
	AdmissionControlErrors  float64       `yaml:"admission_control_errors" default:"0" min:"0" max:"1" usage:"share of requests that the origin may fail to answer well; admissions are slowed while it fails more (0: off)"`
	QueueWhen               int           `yaml:"queue_when" default:"0" min:"0" usage:"newcomers in a minute from which on the room counts and queues; before, it is open to everybody (0: always)"`
	QueueUntil              int           `yaml:"queue_until" default:"0" min:"0" usage:"newcomers in a minute below which the room is open again, once nobody has waited for a while (0: three quarters of queue_when)"`
	Shadow                  bool          `yaml:"shadow" default:"false" usage:"count everybody in a passthrough room, and propose limits from what was seen"`

	MaxSession time.Duration `yaml:"max_session" default:"0s" min:"0s" max:"24h" usage:"time after admission at which a session ends, however often it was renewed (0s: never)"`
	HoldActive ActiveHold    `yaml:"hold_active" default:"off" usage:"hold those who are in, too: not at all, as their sessions end, or at once"`
	OnSoldOut  SoldOutPolicy `yaml:"on_sold_out" default:"keep" usage:"what becomes of the room when the origin says that nothing is left"`

	// EdgeAdmission is not longer than half a session: each admission token ends well before the
	// session that it was given in.
	EdgeAdmission time.Duration `yaml:"edge_admission" default:"0s" min:"0s" max:"1h" usage:"time for which a proxy in front of the gate may let a visitor who is in pass by itself (0s: never)"`

	// Fleeting has the store forget the room, with what operators have changed, some time after the
	// last node has stopped using it. The store keeps it under the name fleeting.
	Fleeting bool `yaml:"-"`

	// Event is the event that these settings are for, beside what operators and the file say. The
	// store keeps it under the name event.
	Event ActiveEvent `yaml:"-"`

	// ClosesFrom is when OnSoldOut became CloseToAll: what was left before does not close the room.
	// 0 is from the beginning. The store keeps it under the name closes_from.
	ClosesFrom Instant `yaml:"-"`
}

// settings are the fields of Settings, and byName has them by their names.
var settings, byName = func() ([]setting.Field, map[string]*setting.Field) {
	fields := setting.Fields(reflect.TypeFor[Settings]())
	byName := make(map[string]*setting.Field, len(fields))
	for i := range fields {
		byName[fields[i].Name] = &fields[i]
	}
	return fields, byName
}()

// Setting returns the field of Settings that has the name; nil if there is none.
func Setting(name string) *setting.Field { return byName[name] }

// WithDefaults returns s with its zero durations set to their defaults, as far as they may not be
// 0. In other fields a zero means something: their defaults are for files that leave the setting
// out.
func (s Settings) WithDefaults() Settings {
	v := reflect.ValueOf(&s).Elem()
	for i := range settings {
		if f := &settings[i]; f.Type == reflect.TypeFor[time.Duration]() && f.Of(v).IsZero() && f.Min != "0s" {
			f.SetDefault(v)
			if f.Name == "queue_ticket_ttl" {
				s.QueueTicketTTL = max(s.QueueTicketTTL, 2*s.RefreshInterval)
			}
		}
	}
	if s.LineDropout == 0 {
		line := s
		line.Method = Line
		s.LineDropout = min(max(WholeSeconds(checkInsOfAPlace*line.ReturnsWithin()), time.Minute), longest)
	}
	return s
}

// checkInsOfAPlace is how many check-ins in a row have to fail, by default, before a place in an
// exact line is lost.
const checkInsOfAPlace = 3

// A SettingFault is something that is wrong with one of the settings.
type SettingFault struct {
	Name    string // of the setting
	Value   string // as a file would have it
	Problem string // continues a sentence that begins with the value
}

// Error is the fault in one line.
func (f SettingFault) Error() string { return f.Name + " is " + f.Value + ", which " + f.Problem }

// Validate reports every setting that is out of bounds or does not go with the others, joined; each
// is a SettingFault.
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

// Misfits returns what is wrong with settings that do not go together, even if each is right by
// itself.
func (s Settings) Misfits() []SettingFault {
	var faults []SettingFault
	require := func(ok bool, name string, value time.Duration, format string, args ...any) {
		if !ok {
			faults = append(faults, SettingFault{name, setting.FormatDuration(value), fmt.Sprintf(format, args...)})
		}
	}
	require(s.Bucket == 0 || s.Bucket >= leastBucket, "bucket", s.Bucket, "is too short: at least %s", setting.FormatDuration(leastBucket))
	require(s.QueueTicketTTL >= 2*s.RefreshInterval, "queue_ticket_ttl", s.QueueTicketTTL,
		"is too short: at least two refresh intervals, %s", setting.FormatDuration(2*s.RefreshInterval))
	require(!s.Method.HasExactLine() || s.LineDropout >= s.RefreshInterval+s.CheckInSlack(), "line_dropout", s.LineDropout,
		"is too short: longer than a refresh interval, which is %s, with some to spare for the way", setting.FormatDuration(s.RefreshInterval))
	require(s.EdgeAdmission == 0 || s.EdgeAdmission >= leastEdgeAdmission, "edge_admission", s.EdgeAdmission, "is too short: at least %s", setting.FormatDuration(leastEdgeAdmission))
	require(s.EdgeAdmission <= s.SessionDuration/2, "edge_admission", s.EdgeAdmission,
		"is too long: at most half of session_duration, which is %s", setting.FormatDuration(s.SessionDuration))
	if s.QueueUntil > s.QueueWhen {
		faults = append(faults, SettingFault{"queue_until", strconv.Itoa(s.QueueUntil), "is too large: at most queue_when, which is " + strconv.Itoa(s.QueueWhen)})
	}
	if s.QueueWhen > 0 && s.Occupancy == ByConnection {
		faults = append(faults, SettingFault{"queue_when", strconv.Itoa(s.QueueWhen), "needs occupancy session, which is " + s.Occupancy.String()})
	}
	if s.EdgeAdmission > 0 && s.Occupancy == ByConnection {
		faults = append(faults, SettingFault{"edge_admission", setting.FormatDuration(s.EdgeAdmission), "needs occupancy session, which is " + s.Occupancy.String()})
	}
	if s.Shadow && !s.Method.EveryoneEnters() {
		faults = append(faults, SettingFault{"shadow", "true", "needs queueing_method passthrough, which is " + s.Method.String()})
	}
	return faults
}

// MarshalJSON writes the settings under their names, as the admin API and the store have them.
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
	if s.Event != (ActiveEvent{}) {
		event, err := json.Marshal(s.Event)
		if err != nil {
			return nil, fmt.Errorf("writing the event: %w", err)
		}
		b = append(append(append(b, `"event":`...), event...), ',')
	}
	if s.ClosesFrom != 0 {
		b = append(strconv.AppendInt(append(b, `"closes_from":`...), int64(s.ClosesFrom), 10), ',')
	}
	b[len(b)-1] = '}'
	return b, nil
}

// UnmarshalJSON reads what MarshalJSON writes. It passes over unknown names, which a later version
// may have written. What an earlier version did not write has its default.
func (s *Settings) UnmarshalJSON(text []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return fmt.Errorf("reading settings: %w", err)
	}
	v := reflect.ValueOf(s).Elem()
	if value, ok := given["fleeting"]; ok {
		s.Fleeting = string(value) == "true"
	}
	if value, ok := given["event"]; ok {
		if err := json.Unmarshal(value, &s.Event); err != nil {
			return fmt.Errorf("reading settings: event: %w", err)
		}
	}
	if value, ok := given["closes_from"]; ok {
		if err := json.Unmarshal(value, &s.ClosesFrom); err != nil {
			return fmt.Errorf("reading settings: closes_from: %w", err)
		}
	}
	for i := range settings {
		f := &settings[i]
		value, ok := given[f.Name]
		if !ok {
			f.SetDefault(v)
			continue
		}
		read, problem := f.ReadJSON(value)
		if problem != "" {
			return fmt.Errorf("reading settings: %s: %s", f.Name, value)
		}
		f.Of(v).Set(read)
	}
	return nil
}

// longest is the longest that any duration may be: no cookie is kept for more than a day.
const longest = 24 * time.Hour

// leastEdgeAdmission is the shortest that an edge may let visitors in for: tokens end with a
// second.
const leastEdgeAdmission = 2 * time.Second

// LeastSlack is the least CheckInSlack.
const LeastSlack = time.Second / 2

// CheckInSlack is how late a check-in may be while its visitor still counts as present. It
// makes up for the network and for the rounding of windows.
func (s *Settings) CheckInSlack() time.Duration { return max(s.RefreshInterval/8, LeastSlack) }

// PlaceEnds is until when a visitor can come back to the place of a waiting ticket. That is
// never before the check-in that the ticket asks for. In an exact line the store knows when
// places end; here they never do.
func (s *Settings) PlaceEnds(t *Ticket) Instant {
	if s.Method.HasExactLine() {
		return endOfInstants
	}
	return t.LastCheckIn.Add(max(s.QueueTicketTTL, WholeSeconds(t.RefreshInterval)+s.CheckInSlack()))
}

// PlaceKept is for how long after a check-in a visitor can come back to their place, whatever
// becomes of the line.
func (s *Settings) PlaceKept() time.Duration {
	if s.Method.HasExactLine() {
		return s.LineDropout
	}
	return s.QueueTicketTTL
}

// PlaceLasts is for how long after a check-in a visitor can come back to a place at most,
// with an exact line or without.
func (s Settings) PlaceLasts() time.Duration {
	return max(s.QueueTicketTTL, s.LineDropout, s.AllReturnWithin())
}

// ReturnsWithin is how soon after a check-in every visitor near the head who stays makes the next
// one. A store that does not know all places in an exact line waits for so long before it gives
// slots away. How soon others do is [Settings.AllReturnWithin].
func (s Settings) ReturnsWithin() time.Duration {
	_, interval, _ := s.Intervals()
	if s.Method.Draws() {
		interval += s.RefreshInterval // the first check-in is due up to so much later
	}
	return WholeSeconds(interval) + s.CheckInSlack()
}

// PresentFrom is by when somebody has to have checked in who counts as present at a moment.
func (s *Settings) PresentFrom(at Instant) Instant { return at.Add(-s.ReturnsWithin()) }

// comesBackWithin is how soon a page whose event stream has ended has a ticket of another one, as a
// rule.
const comesBackWithin = 3 * time.Second

// Renewal is from when to when event streams end that began before, because they check in for
// visitors whose tickets stay as they are: so all have a ticket that tells that they were present
// when the event of a shuffled prequeue starts. It is 0, 0 without such a prequeue.
func (s *Settings) Renewal() (from, until Instant) {
	if !s.Event.Shuffling() {
		return 0, 0
	}
	from = s.PresentFrom(s.Event.Start)
	return from, s.Event.Start.Add(-min(comesBackWithin, s.ReturnsWithin()/2))
}

// ConfirmsWithin is how long an exact line waits for the first check-in of a visitor who has
// joined it. A visitor who is later than that, but within LineDropout, still gets their
// number.
func (s Settings) ConfirmsWithin() time.Duration { return min(s.LineDropout, s.ReturnsWithin()) }

// SessionLasts is how long a session lasts from its admission or its last renewal, as nodes
// report it. A store counts every session for slack longer. With ByConnection the slot has
// to be open LineGrace after the connection has closed, so the slack is taken off here.
func (s Settings) SessionLasts(slack time.Duration) time.Duration {
	lasts := s.SessionDuration
	if s.Occupancy == ByConnection {
		lasts = max(s.LineGrace-slack, s.LineGrace/3)
	}
	if s.MaxSession > 0 {
		return min(lasts, s.MaxSession)
	}
	return lasts
}

// LastMoment is when a session that began at accepted ends, however often it was renewed. Renewals
// do not go beyond it.
func (s *Settings) LastMoment(accepted Instant) Instant {
	if s.MaxSession == 0 {
		return endOfInstants
	}
	return accepted.Add(s.MaxSession)
}

// Lease is how long a session lasts that is given for a lease, until a request that brings its
// ticket makes it a whole one. Where connections keep visitors in, LineGrace does for it.
func (s *Settings) Lease(lease, slack time.Duration) time.Duration {
	if lease == 0 || s.Occupancy == ByConnection {
		return s.SessionLasts(slack)
	}
	return min(lease, s.SessionLasts(slack))
}

// SlotKept is for how long a slot is kept for a visitor whose page is hidden; 0 if their session
// begins at once, as it does where connections keep visitors in.
func (s *Settings) SlotKept() time.Duration {
	if s.Occupancy == ByConnection {
		return 0
	}
	return s.ClaimWithin
}

// FixedSessions reports whether nothing extends a session: it lasts SessionDuration from its
// admission.
func (s *Settings) FixedSessions() bool { return s.DisableSessionRenewal && s.Occupancy == BySession }

// Over reports whether a session that began at accepted has ended, because it is fixed or has
// lasted for MaxSession. Its slot may be held for longer.
func (s *Settings) Over(accepted, now Instant) bool {
	return s.FixedSessions() && accepted.Add(s.SessionDuration) <= now || s.LastMoment(accepted) <= now
}

// SessionEnd is until when a visitor may pass by a grant. A session ends in its time, even if its
// slot is held for longer.
func (s *Settings) SessionEnd(g Grant) Instant {
	end := min(g.Expires, s.LastMoment(g.AcceptedAt))
	if s.FixedSessions() {
		return min(end, g.AcceptedAt.Add(s.SessionDuration))
	}
	return end
}

// Renews reports whether each request of an active visitor renews their session.
func (s *Settings) Renews() bool {
	return !s.DisableSessionRenewal && s.Occupancy == BySession && s.HoldActive == HoldOff
}

// HoldsNew reports whether every new visitor waits, whatever the method.
func (s *Settings) HoldsNew() bool { return s.QueueAll || s.HoldActive != HoldOff }

// HoldsActive reports whether those who are in are held.
func (s *Settings) HoldsActive() bool { return s.HoldActive == HoldNow }

// GoesByTickets reports whether something goes by the tickets of those who are in: who is let in,
// who is thrown out, or a count of everybody. In a passthrough room nothing does, if it is not in
// shadow mode.
func (s *Settings) GoesByTickets() bool {
	return !s.AdmitsEveryone() || s.Shadow || s.QueueWhen > 0 || s.MaxSession > 0 || s.DisableSessionRenewal || s.EdgeAdmission > 0
}

// AdmitsEveryone reports whether everyone is let in, without waiting for anything.
func (s *Settings) AdmitsEveryone() bool { return s.Method.EveryoneEnters() && !s.HoldsNew() }

// AdmitsNobody reports whether nobody new is let in.
func (s *Settings) AdmitsNobody() bool { return s.Method.NobodyEnters() || s.HoldsNew() }

// RejectsAll reports whether nobody gets even a place in line.
func (s *Settings) RejectsAll() bool { return s.Method.NobodyEnters() && !s.HoldsNew() }

// ControlsAdmissions reports whether admissions are slowed while the origin is.
func (s *Settings) ControlsAdmissions() bool {
	return s.AdmissionControlLatency > 0 || s.AdmissionControlErrors > 0
}

// Measures reports whether what the origin does with the room's requests is measured.
func (s *Settings) Measures() bool { return s.ControlsAdmissions() || s.Shadow }

// OpensAgainBelow is the number of newcomers in a minute below which a room with QueueWhen is open
// again.
func (s *Settings) OpensAgainBelow() int {
	if s.QueueUntil > 0 {
		return s.QueueUntil
	}
	return max(1, s.QueueWhen*3/4)
}

// PacingInForce is the pacing that the room goes by: Pacing, or what PacingAuto stands for.
func (s Settings) PacingInForce() Pacing {
	switch {
	case s.Pacing != PacingAuto:
		return s.Pacing
	case s.Method.Draws():
		return PacingRandom
	case s.Method.KeepsOrder() && s.ControlsAdmissions():
		return PacingEven // so that what a few seconds let in shows in the next few
	case s.Method.KeepsOrder():
		return PacingEarly
	default:
		return PacingMinute
	}
}

// WholeSeconds is a refresh interval as visitors are told it. It is rounded up to the second,
// so that a check-in that keeps to it is never early.
func WholeSeconds(interval time.Duration) time.Duration {
	return (interval + time.Second - 1) / time.Second * time.Second
}
