// Package memstore is the embedded [queue.Store]: one process, nothing beside
// it. With a directory it keeps a journal of each room there, so that a restart, also
// after a crash of the process, knows who holds a slot and who was in line.
//
// The directory has the journals in rooms. In known it has an empty file for each room
// that has a journal, so that a journal that is gone is missed. The file clock has what
// the store's clock was. If a part of a journal is damaged or missing, OnLoss is called,
// and the room lets nobody new in until everybody who may be in is known again or has
// left. A room whose Settings say that it is Fleeting is forgotten, with its files, once
// nothing in it matters any more, some seconds after the last report at the earliest.
//
// A [Store] is made of rooms, and a room of parts. The room takes reports in (room.go, revoke.go,
// untold.go), decides claims by the one rule (admit.go), answers (room.go, roster.go), and takes up
// what a journal had (restore.go). Its parts know neither it nor each other, but for its clocks:
//
//	clocks      clocks.go, gaps.go         now, running time, and the time of the sessions
//	            sessionclock.go
//	sessions    sessions.go                who is in, and when slots come free
//	exactLine   line.go                    who waits in an exact line, and where
//	cells       timeline.go                who waits without one
//	boundaries  boundaries.go              where fine buckets begin
//	allowance   allowance.go, rates.go     what is left of new_users_per_minute
//	draws       draws.go                   who has drawn in vain
//	traffic     traffic.go                 whether a room that counts only from QueueWhen on does
//	notes       notes.go                   what the site says of visitors
//	nodes       nodes.go                   who reports
//	journal     journal.go                 what is recorded: maintain.go says when
//	            journalfile.go, disk.go    its file, and the directory
//	restored    restored.go                what is read from it
package memstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Store holds rooms in memory. Its methods may be called concurrently.
type Store struct {
	disk   *disk // nil without a directory
	onLoss func(room string, reason error)
	slack  time.Duration

	mu     sync.Mutex
	clock  clock
	rooms  map[string]*room
	found  []string      // rooms on disk at the start, until they have been looked at
	looked queue.Instant // when the store last looked for rooms to forget
}

// Config is where a store keeps what a restart must know.
type Config struct {
	// Dir is a directory of the store's own, which is created with mode 0700 where it
	// is missing. Required.
	Dir string

	// OnLoss, if set, is called at the first report of each room whose journal is
	// damaged or missing, with what is wrong with it. Nobody new is let into that room
	// until every session that may be open is known again or has ended: that takes one
	// session duration, and lasts to the end of the minute at least. What operators had
	// changed of the room is lost if it is not in what is left of the journal.
	OnLoss func(room string, reason error)

	// SinceBoot, if set, tells how long the machine has been up, by a clock that
	// nobody sets, and a name of that time; 0 if neither is known. With it a clock
	// that was set while the store was closed changes nothing; without it the store
	// takes a clock set forward for time that has passed.
	SinceBoot func() (boot uint64, up time.Duration)

	// Files is the file system that Dir is in; default the machine's.
	Files Files
}

// New returns an empty store, which ends with its process.
func New() *Store { return &Store{rooms: map[string]*room{}} }

// NewShared returns an empty store for several nodes, whose reports may come late: it
// counts sessions, and people in line, for slack longer than was reported.
func NewShared(slack time.Duration) *Store {
	s := New()
	s.slack = slack
	return s
}

// Open opens the store in a directory, as [Config.Open] does.
func Open(dir string) (*Store, error) { return Config{Dir: dir}.Open() }

// Open returns a store that keeps a journal for each room, and takes up what is there. The sessions
// it finds hold their slots until one session duration after the first report, and the people who
// were in line count for one refresh interval. It fails, and leaves all journals as they are, if
// one has a format that this version does not read: those that it reads are its own, the one before
// and the one after.
func (c Config) Open() (*Store, error) {
	if c.Files == nil {
		c.Files = system{}
	}
	s := New()
	s.onLoss, s.clock.sinceBoot, s.clock.files, s.clock.path = c.OnLoss, c.SinceBoot, c.Files, filepath.Join(c.Dir, "clock")
	var err error
	if s.disk, err = openDisk(c.Files, c.Dir); err == nil {
		err = s.disk.checkFormats()
	}
	if err == nil {
		s.found, err = s.disk.rooms()
	}
	if err != nil {
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
func (s *Store) Admit(_ context.Context, name string, p *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	r, now, err := s.reported(name, p)
	if err != nil {
		return queue.Status{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report(p, now)
	if err := r.mendJournal(); err != nil {
		return queue.Status{}, err
	}
	if err := r.admit(claims, grants); err != nil {
		return queue.Status{}, err
	}
	return r.status(), nil
}

// Sync implements [queue.Store].
func (s *Store) Sync(_ context.Context, name string, p *queue.Report) (*queue.View, error) {
	r, now, err := s.reported(name, p)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report(p, now)
	r.sweepNotes()
	if err := r.maintainJournal(); err != nil {
		return nil, err
	}
	return r.view(p), nil
}

// Roster implements [queue.Store].
func (s *Store) Roster(_ context.Context, name string, ids []queue.ID) (*queue.Roster, error) {
	r, err := s.room(name)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.roster(ids), nil
}

// Close writes down what is not yet written.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.saved = 0
	errs := []error{s.clock.save()}
	for _, r := range s.rooms {
		if r.journal == nil {
			continue
		}
		if r.now != 0 { // else there is nothing to add
			r.journal.counts(&r.cells, r.boundaries.list, r.now)
		}
		if err := r.journal.close(); err != nil {
			errs = append(errs, fmt.Errorf("closing the journal of room %q: %w", r.name, err))
		}
	}
	return errors.Join(errs...)
}

// reported returns the room that a report is about, and the store's clock.
func (s *Store) reported(name string, p *queue.Report) (*room, queue.Instant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.open(name)
	if err != nil {
		return nil, 0, err
	}
	now, err := s.clock.at(p)
	if err != nil {
		return nil, 0, err
	}
	r.seen = now
	s.forget(now)
	return r, now, s.clock.save()
}

// room returns the room of that name; the first call makes it.
func (s *Store) room(name string) (*room, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open(name)
}

// open is room for a caller who holds mu.
func (s *Store) open(name string) (*room, error) {
	if r, ok := s.rooms[name]; ok {
		return r, nil
	}
	r := newRoom(name, s.slack)
	if s.disk != nil {
		j, found, err := s.disk.open(name)
		if err != nil {
			return nil, fmt.Errorf("opening the journal of room %q: %w", name, err)
		}
		r.keepIn(j, found, s.onLoss)
		s.clock.atLeast(r.restored.latest)
		if r.restored.configuration != nil {
			r.adopt(*r.restored.configuration)
		}
	}
	s.rooms[name] = r
	return r, nil
}
