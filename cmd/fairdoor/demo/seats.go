package demo

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Kind is what happened in an Event.
type Kind uint8

// The kinds of events.
const (
	Came Kind = iota // a visitor took a place
	Left             // a visitor said goodbye
	Gone             // a visitor has not been heard of for a session
)

// Event is a line of the site's own log.
type Event struct {
	Kind    Kind
	At      time.Time
	Visitor string // as the site's own cookie names them
	Name    string // the part of Visitor that people see
	Taken   int    // places that are taken after it
}

// String is the event as people read it.
func (e Event) String() string {
	what := map[Kind]string{Came: "came in", Left: "left", Gone: "went silent"}[e.Kind]
	return fmt.Sprintf("%s  %-8s %-11s  %d in", e.At.Format(time.TimeOnly), e.Name, what, e.Taken)
}

// transit is how much earlier the site frees a place than the gate ends the session,
// because the site sees each request a little later than the gate.
const transit = time.Second / 2

// seats are the places of the site. Who has one keeps it where it is.
type seats struct {
	session time.Duration
	log     func(Event)

	mu     sync.Mutex
	places []*seat // nil where a place is free
}

type seat struct {
	visitor, name string
	ends          time.Time
	timer         *time.Timer
}

func newSeats(places int, session time.Duration, log func(Event)) *seats {
	return &seats{places: make([]*seat, places), session: max(session-transit, transit), log: log}
}

// take gives the visitor a place, or keeps the one they have. If all are taken
// it adds one: the limit is the gate's affair.
func (s *seats) take(visitor, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.renew(visitor) {
		return
	}
	now := time.Now()
	s.sweep(now)
	i := slices.Index(s.places, nil)
	if i < 0 {
		i, s.places = len(s.places), append(s.places, nil)
	}
	s.places[i] = &seat{visitor: visitor, name: name, ends: now.Add(s.session), timer: time.AfterFunc(s.session, s.lapse)}
	s.logEvent(Came, now, s.places[i])
}

// lapse frees the places whose time is up.
func (s *seats) lapse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(time.Now())
}

// keep renews the visitor's place, and says whether there is one.
func (s *seats) keep(visitor string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renew(visitor)
}

// free takes the visitor's place away.
func (s *seats) free(visitor string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.find(visitor); i >= 0 {
		s.remove(i, Left, time.Now())
	}
}

// now returns the places, the free ones as the zero seat.
func (s *seats) now() []seat {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]seat, len(s.places))
	for i, t := range s.places {
		if t != nil {
			list[i] = *t
		}
	}
	return list
}

// close frees all places and logs nothing.
func (s *seats) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.places {
		if t != nil {
			t.timer.Stop()
			s.places[i] = nil
		}
	}
}

// The functions below are for callers who hold mu.

func (s *seats) renew(visitor string) bool {
	i := s.find(visitor)
	if i < 0 {
		return false
	}
	s.places[i].ends = time.Now().Add(s.session)
	s.places[i].timer.Reset(s.session)
	return true
}

func (s *seats) find(visitor string) int {
	return slices.IndexFunc(s.places, func(t *seat) bool { return t != nil && t.visitor == visitor })
}

func (s *seats) sweep(now time.Time) {
	for i, t := range s.places {
		if t != nil && !t.ends.After(now) {
			s.remove(i, Gone, now)
		}
	}
}

func (s *seats) remove(i int, why Kind, now time.Time) {
	t := s.places[i]
	t.timer.Stop()
	s.places[i] = nil
	s.logEvent(why, now, t)
}

func (s *seats) logEvent(k Kind, now time.Time, t *seat) {
	taken := 0
	for _, place := range s.places {
		if place != nil {
			taken++
		}
	}
	s.log(Event{Kind: k, At: now, Visitor: t.visitor, Name: t.name, Taken: taken})
}
