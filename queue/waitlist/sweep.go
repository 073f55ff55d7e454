package waitlist

import (
	"context"
	"errors"
	"time"
)

// Swept says what a sweep has done.
type Swept struct {
	Expired  int // invites
	Released int // by plans, without those in the place of spots that have ended
	Erased   int // sign-ups that were not confirmed in time

	Undelivered int // invites that have expired, and whose mail could not be delivered
}

// Sweep does what is due: it ends invites that nobody has accepted in time, gives their spots to
// the next, releases by plan, erases sign-ups that nobody has confirmed in time, and follows other
// nodes. Every node calls it, each second: what is due is done once. It costs little if nothing is.
// Much is done in parts, each in a transaction.
func (l *List) Sweep(ctx context.Context, now time.Time) (total Swept, err error) {
	err = l.open(ctx)
	if err == nil {
		err = l.db.compareClocks(ctx)
	}
	l.db.heard(err)
	if err := errors.Join(err, l.wipe(ctx)); err != nil {
		return total, err
	}
	for {
		if err := l.Follow(ctx); err != nil {
			return total, err
		}
		due, err := l.due(ctx, l.at(now).UnixMilli())
		if err != nil || !due {
			return total, err
		}
		var s Swept
		if err := l.write(ctx, now, func(t *tx) (err error) { s, err = t.sweep(t.now); return err }); err != nil {
			return total, err
		}
		total.Expired += s.Expired
		total.Released += s.Released
		total.Erased += s.Erased
		total.Undelivered += s.Undelivered
	}
}

// wipe has the database wipe the traces of what was erased.
func (l *List) wipe(ctx context.Context) error {
	if !l.erased.Swap(false) {
		return nil
	}
	wiped, err := l.db.wipe(ctx)
	if !wiped {
		l.erased.Store(true) // again with the next sweep
	}
	return err
}

// due reports whether a sweep has anything to do.
func (l *List) due(ctx context.Context, now int64) (due bool, err error) {
	s := l.settings.Load()
	_, err = one(ctx, l.db.reader, `SELECT
			EXISTS (SELECT 1 FROM spots WHERE waitlist = $1 AND state = 'live' AND expires_at <= $2)
			OR EXISTS (SELECT 1 FROM plans WHERE waitlist = $1 AND at <= $2 AND w.paused = 0)
			OR EXISTS (SELECT 1 FROM spots WHERE waitlist = $1 AND owed = 1 AND w.paused = 0 AND ($4 = 0 OR w.held < $4))
				AND EXISTS (SELECT 1 FROM entries WHERE waitlist = $1 AND status = 'waiting')
			OR EXISTS (SELECT 1 FROM entries WHERE waitlist = $1 AND `+stale+`)
			OR EXISTS (SELECT 1 FROM tokens WHERE waitlist = $1 AND expires_at > 0 AND expires_at <= $3)
			OR EXISTS (SELECT 1 FROM outbox WHERE waitlist = $1 AND expires_at <= $2)
			OR EXISTS (SELECT 1 FROM mailings WHERE waitlist = $1 AND at <= $5)
			OR EXISTS (SELECT 1 FROM events WHERE waitlist = $1 AND at <= $6)
		FROM waitlists w WHERE name = $1`,
		[]any{l.name, now, now - s.ConfirmTTL.Milliseconds(), s.Capacity, now - forgetMailing.Milliseconds(), now - keepEvents.Milliseconds()}, &due)
	return due, err
}

// stale is the condition of sign-ups whose last mail is as old as $3, and that are not to be
// mailed.
const stale = `status = 'unconfirmed' AND mailed_at <= $3
	AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.waitlist = entries.waitlist AND o.number = entries.number)`

func (t *tx) sweep(now int64) (s Swept, err error) {
	undelivered := t.undelivered
	defer func() { s.Undelivered = int(t.undelivered - undelivered) }()
	if s.Expired, err = t.sweepInvites(now); err != nil {
		return s, err
	}
	if s.Released, err = t.runPlans(now); err != nil {
		return s, err
	}
	err = t.exec(`DELETE FROM outbox WHERE waitlist = $1 AND id IN
		(SELECT id FROM outbox WHERE waitlist = $1 AND expires_at <= $2 LIMIT $3)`, t.list, now, mostChanged)
	if err != nil {
		return s, err
	}
	if err := t.forgetMailings(now); err != nil {
		return s, err
	}
	if err := t.forgetEvents(now); err != nil {
		return s, err
	}
	s.Erased, err = t.sweepUnconfirmed(now - t.settings.ConfirmTTL.Milliseconds())
	return s, err
}

func (t *tx) sweepInvites(now int64) (int, error) {
	overdue, err := t.numbers(`SELECT number FROM spots WHERE waitlist = $1 AND state = 'live' AND expires_at <= $2 ORDER BY expires_at, id LIMIT $3`,
		t.list, now, mostChanged)
	if err != nil {
		return 0, err
	}
	for _, number := range overdue {
		if err := t.runOut(number, now); err != nil {
			return 0, err
		}
	}
	return len(overdue), nil
}

// sweepUnconfirmed erases sign-ups whose last mail was sent so long ago. Nothing refers to them, so
// nothing of them stays. Links that expired so long ago are forgotten too.
func (t *tx) sweepUnconfirmed(mailed int64) (int, error) {
	found, err := t.numbers(`SELECT number FROM entries WHERE waitlist = $1 AND `+stale+` LIMIT $2`, t.list, mostChanged, mailed)
	if err != nil {
		return 0, err
	}
	t.erased = t.erased || len(found) > 0
	for _, number := range found {
		t.tell(EventRemoved, number)
		for _, statement := range []string{
			`DELETE FROM tokens WHERE waitlist = $1 AND number = $2`,
			`DELETE FROM outbox WHERE waitlist = $1 AND number = $2`,
			`DELETE FROM actions WHERE waitlist = $1 AND number = $2`,
			`DELETE FROM entries WHERE waitlist = $1 AND number = $2`,
		} {
			if err := t.exec(statement, t.list, number); err != nil {
				return 0, err
			}
		}
	}
	return len(found), t.exec(`DELETE FROM tokens WHERE hash IN
		(SELECT hash FROM tokens WHERE waitlist = $1 AND expires_at > 0 AND expires_at <= $2 LIMIT $3)`, t.list, mailed, mostChanged)
}
