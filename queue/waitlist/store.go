package waitlist

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Store is the database that has the record of some waitlists. Several nodes can have one
// PostgreSQL database open.
type Store struct {
	db *database

	mu    sync.Mutex // guards lists
	lists []*List
}

// Open opens a database and brings its tables up to date. The name is a URL (postgres://…), or the
// path of an SQLite file, which is made if it is not there. Its directory has to exist. A
// PostgreSQL need not be there yet: see [Store.Failing].
func Open(ctx context.Context, name string) (*Store, error) {
	db, err := open(ctx, name)
	if err != nil {
		return nil, err
	}
	if err = db.ensure(ctx); err == nil {
		err = db.compareClocks(ctx)
	}
	if err != nil && !errors.Is(err, ErrAway) {
		_ = db.close()
		return nil, fmt.Errorf("opening the record of the waitlists: %w", err)
	}
	return &Store{db: db}, nil
}

// Close waits for what is being written, and closes the lists and the database.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lists {
		l.close()
	}
	s.lists = nil
	return s.db.close()
}

// List opens the waitlist of that name, which is made if it is not there, and reads who waits: some
// seconds for a million. A name is opened once. While the database is not there, whatever is asked
// of the list fails with ErrAway; [List.Sweep] opens it.
func (s *Store) List(ctx context.Context, name string, settings Settings) (*List, error) {
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	l := &List{name: name, db: s.db, jobs: make(chan *job), closing: make(chan struct{}), closed: make(chan struct{})}
	l.order.standings = newStandings()
	l.settings.Store(&settings)
	l.erased.Store(true) // a process that was killed may not have come to wiping
	if err := l.open(ctx); err != nil && !errors.Is(err, ErrAway) {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists = append(s.lists, l)
	go l.work()
	return l, nil
}
