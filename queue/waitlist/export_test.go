package waitlist

import (
	"context"
	"strconv"
)

// LimitPages has the SQLite file of the list grow no larger than so many pages more than it is, as a disk that is full would.
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
