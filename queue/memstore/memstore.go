// Package memstore is the embedded [queue.Store]: one process, nothing beside
// it. With a directory it keeps a journal there, so that a restart, also after
// a crash of the process, knows who holds a slot and who was in line.
package memstore

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/anteroom-gate/anteroom/queue"
)

// Store holds rooms in memory. Its methods may be called concurrently.
type Store struct {
	dir   string
	slack time.Duration
	mu    sync.Mutex
	rooms map[string]*room

	found  []string      // journals in dir at the start, until they have been looked at
	looked queue.Instant // when the store last looked for rooms to forget
}

// New returns an empty store that is gone with its process.
func New() *Store { return &Store{rooms: map[string]*room{}} }

// NewShared returns an empty store for several nodes, whose reports may come
// late: it counts sessions, and people in line, for slack longer than it was
// told.
func NewShared(slack time.Duration) *Store {
	s := New()
	s.slack = slack
	return s
}

// Open returns a store that keeps a journal for each room in dir, which is
// created with mode 0700 where it is missing, and takes up what is there. The
// sessions it finds hold their slots until one session duration after the
// first report, and the people who were in line count for one refresh interval.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	s := New()
	s.dir = dir
	var err error
	if s.found, err = journals(dir); err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	return s, nil
}

// Configure implements [queue.Store].
func (s *Store) Configure(_ context.Context, name string, c queue.Configuration) error {
	r, err := s.room(name)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.configure(c)
}

// Admit implements [queue.Store].
func (s *Store) Admit(_ context.Context, name string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Standing, error) {
	r, err := s.room(name)
	if err != nil {
		return queue.Standing{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(p)
	if err := r.admit(claims, grants); err != nil {
		return queue.Standing{}, err
	}
	return r.standing(), nil
}

// Sync implements [queue.Store].
func (s *Store) Sync(_ context.Context, name string, p *queue.Report) (*queue.View, error) {
	r, err := s.tidied(name, p.Now)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(p)
	if err := r.keep(); err != nil {
		return nil, err
	}
	return r.view(p), nil
}

// Roll implements [queue.Store].
func (s *Store) Roll(_ context.Context, name string, ids []queue.ID) (*queue.Roll, error) {
	r, err := s.room(name)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.roll(ids), nil
}

// Close closes the journals.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rooms {
		if r.journal == nil {
			continue
		}
		if err := r.journal.close(); err != nil {
			return fmt.Errorf("closing the journal of room %q: %w", r.name, err)
		}
	}
	return nil
}

// room returns the room of the name, which is made when it is first asked for.
func (s *Store) room(name string) (*room, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open(name)
}

// tidied is room, once rooms that are not needed any more have been forgotten.
func (s *Store) tidied(name string, now queue.Instant) (*room, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(now)
	return s.open(name)
}

// open is room for a caller who holds mu.
func (s *Store) open(name string) (*room, error) {
	if r, ok := s.rooms[name]; ok {
		return r, nil
	}
	r := newRoom(name)
	r.slack = s.slack
	if s.dir != "" {
		j, err := openJournal(s.dir, name, &r.restored)
		if err != nil {
			return nil, fmt.Errorf("opening the journal of room %q: %w", name, err)
		}
		r.journal = j
		if r.restored.configuration != nil {
			r.use(*r.restored.configuration)
		}
	}
	s.rooms[name] = r
	return r, nil
}
