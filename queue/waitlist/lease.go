package waitlist

import (
	"context"
	"time"
)

// HasLease reports whether a mail is still to be sent by the one who has leased it: nobody has
// erased its entry meanwhile or ended what it is about, and the lease has not gone to somebody
// else.
func (l *List) HasLease(ctx context.Context, m Mail) (bool, error) {
	return one(ctx, l.db.reader, `SELECT 1 FROM outbox WHERE waitlist = $1 AND id = $2 AND attempts = $3`, []any{l.name, m.ID, m.Attempts}, new(int))
}

// GiveBack ends the lease of mails that nobody has tried to send. They are due, and their attempts
// are what they were before.
func (l *List) GiveBack(ctx context.Context, mails []Mail, now time.Time) error {
	if len(mails) == 0 {
		return nil
	}
	return l.write(ctx, now, func(t *tx) error {
		for _, m := range mails {
			err := t.exec(`UPDATE outbox SET attempts = attempts - 1, due_at = $4 WHERE waitlist = $1 AND id = $2 AND attempts = $3`,
				t.list, m.ID, m.Attempts, t.now)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
