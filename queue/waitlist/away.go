package waitlist

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// readiness is whether the tables of a database are up to date. Those of a PostgreSQL that is away
// at the start are once it is there.
type readiness struct {
	ready   atomic.Bool
	failing atomic.Bool // the database has not answered lately

	mu   sync.Mutex // held while the tables are brought up to date; guards next
	next time.Time  // no attempt before
}

// ensure brings the tables up to date, if they are not yet. The error is ErrAway if the database is
// not there.
func (d *database) ensure(ctx context.Context) error {
	if d.ready.Load() {
		return nil
	}
	if !d.mu.TryLock() {
		return ErrAway
	}
	defer d.mu.Unlock()
	if d.ready.Load() {
		return nil
	}
	if time.Now().Before(d.next) {
		return ErrAway
	}
	err := d.migrate(ctx)
	d.next = time.Now().Add(time.Second / 2)
	if err != nil && d.sqlite == nil && isAway(err) {
		err = fmt.Errorf("%w: %w", ErrAway, err)
	}
	d.ready.Store(err == nil)
	d.heard(err)
	return err
}

// heard notes whether the database has answered.
func (d *database) heard(err error) { d.failing.Store(err != nil && !errors.Is(err, context.Canceled)) }

// isAway reports whether an error says that a PostgreSQL cannot be reached, is starting or
// stopping, or is overloaded, rather than that it refuses what we ask for.
func isAway(err error) bool {
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		return true
	}
	class := said.Code[:min(2, len(said.Code))]
	return class == "08" || class == "53" || class == "57"
}

// awaited is a pool of connections to a database whose tables may not be there yet.
type awaited struct{ *database }

// ExecContext is that of sql.DB.
func (a awaited) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := a.ensure(ctx); err != nil {
		return nil, err
	}
	return a.pool.ExecContext(ctx, query, args...)
}

// QueryContext is that of sql.DB.
func (a awaited) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := a.ensure(ctx); err != nil {
		return nil, err
	}
	return a.pool.QueryContext(ctx, query, args...)
}

// Failing reports whether the database has not answered lately: by the second-long sweeps of its
// lists, and by the looks of the rooms that take passes.
func (s *Store) Failing() bool { return s.db.failing.Load() }

// open makes the list if it is not there, and reads who waits.
func (l *List) open(ctx context.Context) error {
	l.opening.Lock()
	defer l.opening.Unlock()
	if l.opened.Load() {
		return nil
	}
	err := l.db.inTransaction(ctx, func(ctx context.Context, on runner) (err error) {
		if _, err := on.ExecContext(ctx, `INSERT INTO waitlists (name) VALUES ($1) ON CONFLICT DO NOTHING`, l.name); err != nil {
			return err
		}
		l.mailKey, err = mailKey(ctx, on, l.name)
		return err
	})
	if err != nil {
		return fmt.Errorf("making waitlist %s: %w", l.name, err)
	}
	l.order.catchUp.Lock()
	defer l.order.catchUp.Unlock()
	if err := l.order.load(ctx, l.db, l.name); err != nil {
		return err
	}
	l.opened.Store(true)
	return nil
}
