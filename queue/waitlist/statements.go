package waitlist

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"
)

// runner runs statements: a transaction, a pool of connections, or statements.
type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// statements is a runner that prepares each statement once. The driver of PostgreSQL does so by
// itself.
type statements struct {
	on interface {
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	}

	mu       sync.RWMutex // guards prepared
	prepared map[string]*sql.Stmt
}

func (s *statements) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	s.mu.RLock()
	stmt := s.prepared[query]
	s.mu.RUnlock()
	if stmt != nil {
		return stmt, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if stmt := s.prepared[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.on.PrepareContext(ctx, query)
	if err == nil {
		s.prepared[query] = stmt
	}
	return stmt, err
}

// ExecContext is that of sql.DB.
func (s *statements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// QueryContext is that of sql.DB.
func (s *statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// longestQuery is how long a server may take to answer a query: that for a million who wait takes
// some seconds.
const longestQuery = time.Minute

// limited ends the context of a query in time. A file needs no limit: it has answered or failed
// before.
func limited(ctx context.Context, on runner) (context.Context, context.CancelFunc) {
	if _, file := on.(*statements); file {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, longestQuery)
}

// each calls do for each row. What do scans is that row.
func each(ctx context.Context, on runner, query string, args []any, do func(scan func(into ...any) error) error) error {
	ctx, cancel := limited(ctx, on)
	defer cancel()
	rows, err := on.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	defer func() { _ = rows.Close() }() // each error shows in Err
	for rows.Next() {
		if err := do(rows.Scan); err != nil {
			return fmt.Errorf("%s: %w", query, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	return nil
}

// one reads the one row that a query has, and reports whether there is one.
func one(ctx context.Context, on runner, query string, args []any, into ...any) (found bool, err error) {
	err = each(ctx, on, query, args, func(scan func(into ...any) error) error {
		found = true
		return scan(into...)
	})
	return found, err
}
