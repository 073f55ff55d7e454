package waitlist

import (
	"context"
	"time"
)

// Entry is what is known of a person on a list. Moments that have not come are zero.
type Entry struct {
	Number   int64 // names the entry to operators. It is the immutable position, which people are not told: they are told Rank.
	Status   Status
	Email    string // as it was typed; "" if there is none, and after erasure
	UserID   string
	Language string // of the sign-up
	Priority int

	Rank  int // among those who wait, from 1; 0 if the entry does not wait
	Total int // how many wait

	ReferralCode  string
	ReferralsMade int // referees that count, also those beyond the most that referrals can earn
	ReferralsHeld int // referees that are being checked

	JoinedAt, ConfirmedAt time.Time

	// BouncedAt is when the mail server said that the address takes no mail, if it has not taken
	// one since.
	BouncedAt time.Time

	// The last spot that the entry was given. InviteExpiresAt is zero while the mail of an invite
	// is still to be sent.
	InvitedAt, AcceptedAt, InviteExpiresAt time.Time

	mailed  int64     // when the invite was sent; 0 if it was not
	expires time.Time // when the invite expires, also if its mail is not sent any more
}

// selectEntry reads entries. What follows has $1 for the list, and the columns of e.
const selectEntry = `SELECT e.number, e.status, COALESCE(e.email, ''), COALESCE(e.user_id, ''), e.language, e.priority,
		COALESCE(e.referral_code, ''), e.joined_at, e.confirmed_at, e.bounced_at,
		COALESCE(s.released_at, 0), COALESCE(s.accepted_at, 0), COALESCE(s.expires_at, 0), COALESCE(s.mailed_at, 0),
		(SELECT COUNT(*) FROM credits c WHERE c.waitlist = e.waitlist AND c.referrer = e.number AND c.state = 'granted'),
		(SELECT COUNT(*) FROM credits c WHERE c.waitlist = e.waitlist AND c.referrer = e.number AND c.state = 'held')
	FROM entries e LEFT JOIN spots s ON s.waitlist = e.waitlist AND s.id = e.spot
	WHERE e.waitlist = $1 AND `

func scanEntry(scan func(into ...any) error) (Entry, error) {
	var e Entry
	var joined, confirmed, bounced, invited, accepted, expires int64
	err := scan(&e.Number, &e.Status, &e.Email, &e.UserID, &e.Language, &e.Priority, &e.ReferralCode, &joined, &confirmed, &bounced,
		&invited, &accepted, &expires, &e.mailed, &e.ReferralsMade, &e.ReferralsHeld)
	e.JoinedAt, e.ConfirmedAt, e.BouncedAt, e.expires = when(joined), when(confirmed), when(bounced), when(expires)
	e.InvitedAt, e.AcceptedAt, e.InviteExpiresAt = when(invited), when(accepted), when(expires)
	return e, err
}

// isToBeSent reports whether the entry has an invite whose mail may still be delivered.
func (e *Entry) isToBeSent() bool {
	return e.Status == Invited && e.mailed == 0 && e.Email != "" && e.BouncedAt.IsZero()
}

// rank sets the ranks of entries. It reports whether all of those that wait have one: the order in
// memory knows of them.
func (l *List) rank(list []Entry) bool {
	known := true
	for i := range list {
		e := &list[i]
		e.Rank, e.Total = l.order.rank(e.Number)
		if e.Status != Waiting {
			e.Rank = 0
		} else if e.Rank == 0 {
			known = false
		}
	}
	return known
}

// entries reads the entries of a condition. The record may be ahead of the order in memory by what
// other nodes have changed: ranks are right as of the last Follow, and an entry that waits has one.
func (l *List) entries(ctx context.Context, condition string, args ...any) (list []Entry, err error) {
	err = each(ctx, l.db.reader, selectEntry+condition, append([]any{l.name}, args...), func(scan func(into ...any) error) error {
		e, err := scanEntry(scan)
		if l.settings.Load().Mailed && e.isToBeSent() {
			e.InviteExpiresAt = time.Time{}
		}
		list = append(list, e)
		return err
	})
	if err != nil || l.rank(list) {
		return list, err
	}
	if err := l.Follow(ctx); err != nil {
		return nil, err
	}
	l.rank(list)
	return list, nil
}

// entry reads the entry of a condition. An invite that nobody accepted in time expires by that.
func (l *List) entry(ctx context.Context, now time.Time, condition string, args ...any) (Entry, error) {
	for {
		found, err := l.entries(ctx, condition, args...)
		if err != nil {
			return Entry{}, err
		}
		if len(found) == 0 {
			return Entry{}, ErrNotFound
		}
		e := found[0]
		if e.Status != Invited || l.at(now).Before(e.expires) {
			return e, nil
		}
		err = l.write(ctx, now, func(t *tx) error { return t.expire(t.now, e.Number) })
		if err != nil {
			return Entry{}, err
		}
	}
}

// Entry returns the entry with that number.
func (l *List) Entry(ctx context.Context, number int64, now time.Time) (Entry, error) {
	return l.entry(ctx, now, `e.number = $2`, number)
}

// EntryOf returns the entry of a user of the site.
func (l *List) EntryOf(ctx context.Context, userID string, now time.Time) (Entry, error) {
	return l.entry(ctx, now, `e.user_id = $2`, userID)
}

// EntryBySecret returns the entry that the secret in the link of a mail is for.
func (l *List) EntryBySecret(ctx context.Context, secret string, now time.Time) (Entry, error) {
	return l.entry(ctx, now, `e.number = (SELECT number FROM tokens WHERE hash = $2 AND waitlist = $1 AND kind = 'secret')`, hash(secret))
}
