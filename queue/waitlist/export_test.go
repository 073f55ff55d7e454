package waitlist

import (
	"context"
	"strconv"
	"time"
)

// LimitPages has the SQLite file of the list grow no larger than so many pages more than it is, as
// a disk that is full would.
func (l *List) LimitPages(more int) error {
	l.db.sqlite.turn.Lock()
	defer l.db.sqlite.turn.Unlock()
	var pages int
	if _, err := one(context.Background(), l.db.sqlite.conn, `PRAGMA page_count`, nil, &pages); err != nil {
		return err
	}
	var limit int
	_, err := one(context.Background(), l.db.sqlite.conn, `PRAGMA max_page_count = `+strconv.Itoa(pages+more), nil, &limit)
	return err
}

// Hold does the given thing in a transaction on the list.
func (l *List) Hold(ctx context.Context, now time.Time, do func() error) error {
	return l.write(ctx, now, func(*tx) error { return do() })
}

// SetTurn sets how long a transaction goes on beginning jobs.
func (l *List) SetTurn(turn time.Duration) { l.db.turn = turn }

// SetClock gives the node a clock.
func (l *List) SetClock(clock func() time.Time) error {
	l.db.clock = clock
	return l.db.compareClocks(context.Background())
}

// Session returns a setting of the sessions with PostgreSQL.
func (l *List) Session(name string) (value string, err error) {
	_, err = one(context.Background(), l.db.reader, `SELECT current_setting($1)`, []any{name}, &value)
	return value, err
}
