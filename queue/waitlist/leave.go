package waitlist

import (
	"context"
	"time"
)

// Leave takes an entry off the list and erases all personal data of it. A spot that it holds goes
// to the next. The error is ErrNotFound.
func (l *List) Leave(ctx context.Context, number int64, now time.Time) error {
	_, err := l.answered(ctx, now, func(t *tx) (answer, error) {
		s, found, err := t.find(`number = $2`, number)
		if err != nil || !found || s.status == Removed {
			return answer{refused: ErrNotFound}, err
		}
		return answer{}, t.erase(number, t.now, EventLeft)
	})
	return err
}

// owner is the condition of the entry that a token of any mail is for.
const owner = `e.number = COALESCE((SELECT number FROM tokens WHERE hash = $2 AND waitlist = $1), (SELECT number FROM spots WHERE token = $2 AND waitlist = $1))
	AND e.status <> 'removed'`

// EntryByMail returns the entry that the token of a mail is for, of whatever kind, also if it has
// been used or has expired. It shows that somebody may leave, and no more. The error is
// ErrNotFound.
func (l *List) EntryByMail(ctx context.Context, token string, now time.Time) (Entry, error) {
	return l.entry(ctx, now, owner, hash(token))
}

// erase removes an entry, which the event is told of. What stays is its number in the ledgers.
func (t *tx) erase(number, now int64, as EventKind) error {
	t.tell(as, number)
	t.erased = true
	if err := t.endSpot(number, spotFreed, true, now); err != nil {
		return err
	}
	if err := t.withdraw(number); err != nil {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM tokens WHERE waitlist = $1 AND number = $2`,
		`DELETE FROM outbox WHERE waitlist = $1 AND number = $2`,
		`DELETE FROM actions WHERE waitlist = $1 AND number = $2`,
	} {
		if err := t.exec(statement, t.list, number); err != nil {
			return err
		}
	}
	return t.exec(`UPDATE entries SET status = 'removed', email = NULL, email_key = NULL, mailbox = NULL, user_id = NULL, network = '', language = '',
		referral_code = NULL, version = $3 WHERE waitlist = $1 AND number = $2`, t.list, number, t.version)
}
