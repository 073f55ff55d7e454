package waitlist

import (
	"context"
	"net/netip"
	"time"
)

// confirmation is what a confirmation link stands for.
type confirmation struct {
	number, expires int64
	status          Status
	referrer        *int64 // of the sign-up that caused the mail, as the network
	network         string
}

// refusal says why the link does not confirm now; nil if it does.
func (c confirmation) refusal(now time.Time) error {
	switch {
	case c.number == 0:
		return ErrNotFound
	case c.status != Unconfirmed:
		return ErrUsed
	case now.UnixMilli() >= c.expires:
		return ErrExpired
	default:
		return nil
	}
}

func findConfirmation(ctx context.Context, on runner, list, token string) (c confirmation, err error) {
	_, err = one(ctx, on, `SELECT e.number, t.expires_at, e.status, t.referrer, t.network FROM tokens t JOIN entries e ON e.waitlist = t.waitlist AND e.number = t.number
		WHERE t.hash = $2 AND t.waitlist = $1 AND t.kind = 'confirm'`, []any{list, hash(token)}, &c.number, &c.expires, &c.status, &c.referrer, &c.network)
	return c, err
}

// Confirmation returns the entry that a confirmation link would confirm, and changes nothing. The
// errors are ErrNotFound, ErrUsed and ErrExpired. Sign-ups that have expired are erased; then it is
// ErrNotFound.
func (l *List) Confirmation(ctx context.Context, token string, now time.Time) (Entry, error) {
	c, err := findConfirmation(ctx, l.db.reader, l.name, token)
	if err == nil {
		err = c.refusal(now)
	}
	if err != nil {
		return Entry{}, err
	}
	return l.Entry(ctx, c.number, now)
}

// SignedUp says how the browser signed up that confirms an address.
type SignedUp struct {
	Referral string     // the code that it gave; "" for none
	Addr     netip.Addr // from which it confirms
}

// Confirm puts the owner of a confirmed address in line, once. The referral and the network are
// those of the browser that confirms if it has signed up itself: own says how. Else it is nil, and
// those of the sign-up that caused the mail count, which may be a stranger's. The errors are those
// of Confirmation.
func (l *List) Confirm(ctx context.Context, token string, own *SignedUp, now time.Time) (Place, error) {
	if _, err := l.Confirmation(ctx, token, now); err != nil {
		return Place{}, err
	}
	return l.answered(ctx, now, func(t *tx) (answer, error) {
		c, err := findConfirmation(t.ctx, t.on, t.list, token)
		if refused := c.refusal(now); err != nil || refused != nil {
			return answer{refused: refused}, err
		}
		if own != nil {
			c.network = network(own.Addr)
			if c.referrer, err = t.referrer(own.Referral); err != nil {
				return answer{}, err
			}
		}
		err = t.exec(`UPDATE entries SET referrer = $3, network = $4 WHERE waitlist = $1 AND number = $2`, t.list, c.number, c.referrer, c.network)
		if err != nil {
			return answer{}, err
		}
		return answer{number: c.number, own: true}, t.confirm(c.number, now.UnixMilli())
	})
}

// confirm puts an unconfirmed entry in line.
func (t *tx) confirm(number, now int64) error {
	err := t.exec(`UPDATE entries SET status = 'waiting', confirmed_at = $3, version = $4 WHERE waitlist = $1 AND number = $2`,
		t.list, number, now, t.version)
	if err != nil {
		return err
	}
	t.tell(EventConfirmed, number)
	if err := t.credit(number, now); err != nil {
		return err
	}
	return t.welcome(number, now)
}
