package waitlist

import (
	"cmp"
	"context"
	"strconv"
	"time"
)

// Release invites the next n, or fewer if there are not so many spots or people, and returns how
// many, also if it breaks off. Before that, those are invited to whom spots of others are due. The
// errors are ErrRange and ErrPaused.
func (l *List) Release(ctx context.Context, n int, by Operator, now time.Time) (released int, err error) {
	if n < 0 {
		return 0, ErrRange
	}
	var line int64
	for {
		invited, more := 0, false
		err := l.proceed(ctx, &line, by, now, func(t *tx) (_ audited, err error) {
			if t.paused != 0 {
				return audited{refused: ErrPaused}, nil
			}
			invited, err = t.release(int64(n-released), t.now)
			more = t.left() == 0
			return audited{action: "release", detail: strconv.Itoa(released+invited) + " of " + strconv.Itoa(n)}, err
		})
		if err != nil {
			return released, err
		}
		if released += invited; !more || released == n {
			return released, nil
		}
	}
}

// release invites the next n, or as many as the transaction may.
func (t *tx) release(n, now int64) (released int, err error) {
	if err := t.fill(); err != nil {
		return 0, err
	}
	next, err := t.next(t.free(min(n, t.left())))
	if err != nil {
		return 0, err
	}
	return len(next), t.invite(next, nil, now)
}

// invite is what the link of an invite stands for.
type invite struct {
	number, expires int64
	state           string
}

// refusal says why the invite cannot be accepted now; nil if it can.
func (i invite) refusal(now time.Time) error {
	switch {
	case i.number == 0:
		return ErrNotFound
	case i.state == spotAccepted:
		return ErrUsed
	case i.state != spotLive || now.UnixMilli() >= i.expires:
		return ErrExpired
	default:
		return nil
	}
}

const (
	byToken = `s.token = $2`
	byOwner = `s.id = (SELECT spot FROM entries WHERE waitlist = $1 AND number = $2)`
)

func findInvite(ctx context.Context, on runner, list, condition string, arg any) (i invite, err error) {
	_, err = one(ctx, on, `SELECT s.number, s.expires_at, s.state FROM spots s WHERE s.waitlist = $1 AND `+condition,
		[]any{list, arg}, &i.number, &i.expires, &i.state)
	return i, err
}

// Invitation returns the entry that the token of an invite is for. It accepts nothing, so that mail
// scanners do no harm. The errors are ErrNotFound, ErrUsed and ErrExpired.
func (l *List) Invitation(ctx context.Context, token string, now time.Time) (Entry, error) {
	return l.invitation(ctx, byToken, hash(token), now)
}

func (l *List) invitation(ctx context.Context, condition string, arg any, now time.Time) (Entry, error) {
	i, err := findInvite(ctx, l.db.reader, l.name, condition, arg)
	if err != nil {
		return Entry{}, err
	}
	refused := i.refusal(l.at(now))
	if i.number == 0 || i.state != spotLive {
		return Entry{}, refused
	}
	e, err := l.Entry(ctx, i.number, now) // an invite that is overdue expires by that
	return e, cmp.Or(err, refused)
}

// Accept accepts the invite that a token is for, once: of several at the same time one succeeds,
// and the others get ErrUsed. The errors are those of Invitation.
func (l *List) Accept(ctx context.Context, token string, now time.Time) (Place, error) {
	return l.accept(ctx, byToken, hash(token), now)
}

// AcceptOwn accepts the invite of an entry, whose owner has shown to be that by a secret or as a
// user of the site. The errors are those of Invitation.
func (l *List) AcceptOwn(ctx context.Context, number int64, now time.Time) (Place, error) {
	return l.accept(ctx, byOwner, number, now)
}

func (l *List) accept(ctx context.Context, condition string, arg any, now time.Time) (Place, error) {
	if _, err := l.invitation(ctx, condition, arg, now); err != nil {
		return Place{}, err
	}
	return l.answered(ctx, now, func(t *tx) (answer, error) {
		i, err := findInvite(t.ctx, t.on, t.list, condition, arg)
		if refused := i.refusal(when(t.now)); err != nil || refused != nil {
			return answer{refused: refused}, err
		}
		return answer{number: i.number, own: true}, t.take(i.number, t.now)
	})
}

// take accepts the live spot of an entry. Its mail is not worth sending any more.
func (t *tx) take(number, now int64) error {
	err := t.must(`UPDATE spots SET state = 'accepted', accepted_at = $3 WHERE waitlist = $1 AND number = $2 AND state = 'live' RETURNING id`,
		[]any{t.list, number, now}, new(int64))
	if err != nil {
		return err
	}
	t.accepted++
	if err := t.exec(`DELETE FROM outbox WHERE waitlist = $1 AND number = $2 AND kind = $3`, t.list, number, string(MailInvite)); err != nil {
		return err
	}
	t.tell(EventAccepted, number)
	return t.setStatus(number, Accepted)
}
