package waitlist

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// MailKind says what a mail is for.
type MailKind string

// The kinds of mails, and what their tokens are for.
const (
	MailConfirm MailKind = "confirm" // Confirm
	MailPlace   MailKind = "place"   // EntryBySecret
	MailInvite  MailKind = "invite"  // Invitation and Accept
)

const (
	keepMail     = 30 * 24 * time.Hour // how long a mail with a link to the place is worth sending
	firstRetry   = time.Minute
	longestRetry = 4 * time.Hour
	longestError = 200 // bytes
)

// deliverWithin is how long it is tried to deliver a mail with a link that ends: as long as mail
// servers do (RFC 5321, 4.5.4.1), and more. A link that works for longer is worth sending for
// longer.
const deliverWithin = 7 * 24 * time.Hour

// worth is how long a mail is worth sending whose link works for a time.
func (s *Settings) worth(works time.Duration) time.Duration {
	if s.Mailed {
		return max(works, deliverWithin)
	}
	return works
}

// Mail is a mail that is still to be sent. It is kept in the transaction that has made what it
// tells.
type Mail struct {
	ID       int64
	Kind     MailKind
	Number   int64 // of the entry
	To       string
	Language string
	Token    string
	Attempts int // with this one
	At       time.Time

	// ExpiresAt is when the mail is no longer worth sending. It is not when the link in it ends:
	// that is Settings.InviteTTL or Settings.ConfirmTTL after the mail was sent.
	ExpiresAt time.Time

	list string
}

// DedupeID names the mail: it is the same each time that the mail is sent, and no other mail has
// it. It can be the local part of a Message-ID, for it tells nothing of who signed up when: it is a
// hash, and the token in it is nobody's to guess.
func (m Mail) DedupeID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %s", m.list, m.ID, m.At.UnixMilli(), m.Token))
	return hex.EncodeToString(sum[:16])
}

// mail puts a mail into the outbox, unless the entry has no address.
func (t *tx) mail(kind MailKind, number, spot int64, token string, now, expires int64) error {
	t.lastMail++
	return t.exec(`INSERT INTO outbox (waitlist, id, kind, number, spot, token, created_at, expires_at, due_at)
		SELECT $1, $3, $4, $2, $5, $6, $7, $8, $7 FROM entries WHERE waitlist = $1 AND number = $2 AND email IS NOT NULL`,
		t.list, number, t.lastMail, string(kind), spot, token, now, expires)
}

const selectMail = `SELECT o.id, o.kind, o.number, e.email, e.language, o.token, o.attempts, o.created_at, o.expires_at
	FROM outbox o JOIN entries e ON e.waitlist = o.waitlist AND e.number = o.number WHERE o.waitlist = $1 AND `

func mails(ctx context.Context, on runner, list, condition string, args ...any) (found []Mail, err error) {
	err = each(ctx, on, selectMail+condition, append([]any{list}, args...), func(scan func(into ...any) error) error {
		m := Mail{list: list}
		var at, expires int64
		err := scan(&m.ID, &m.Kind, &m.Number, &m.To, &m.Language, &m.Token, &m.Attempts, &at, &expires)
		m.At, m.ExpiresAt = when(at), when(expires)
		found = append(found, m)
		return err
	})
	return found, err
}

// Outbox returns mails that are still to be sent, by their ids, from the one after the given.
func (l *List) Outbox(ctx context.Context, after int64, most int) ([]Mail, error) {
	return mails(ctx, l.db.reader, l.name, `o.id > $2 ORDER BY o.id LIMIT $3`, after, most)
}

// LatestMails returns the mails that are still to be sent, the last first; at most so many.
func (l *List) LatestMails(ctx context.Context, most int) ([]Mail, error) {
	return mails(ctx, l.db.reader, l.name, `o.id > 0 ORDER BY o.id DESC LIMIT $2`, most)
}

// HasMail reports whether a mail is due. It costs little if none is.
func (l *List) HasMail(ctx context.Context, now time.Time) (bool, error) {
	return one(ctx, l.db.reader, `SELECT 1 FROM outbox WHERE waitlist = $1 AND due_at <= $2 AND expires_at > $2 LIMIT 1`,
		[]any{l.name, l.at(now).UnixMilli()}, new(int))
}

// Lease returns mails that are due, the longest first, and hides them from others until the lease
// ends. Each has to be answered with Sent, Failed or Drop; one that is not is due again when the
// lease ends.
func (l *List) Lease(ctx context.Context, most int, lease time.Duration, now time.Time) ([]Mail, error) {
	if due, err := l.HasMail(ctx, now); err != nil || !due {
		return nil, err
	}
	var leased []Mail
	err := l.write(ctx, now, func(t *tx) (err error) {
		leased, err = t.lease(most, lease)
		return err
	})
	if err != nil {
		return nil, err
	}
	return leased, nil
}

func (t *tx) lease(most int, lease time.Duration) ([]Mail, error) {
	due, err := mails(t.ctx, t.on, t.list, `o.due_at <= $2 AND o.expires_at > $2 ORDER BY o.due_at, o.id LIMIT $3`, t.now, most)
	for i := 0; i < len(due) && err == nil; i++ {
		due[i].Attempts++
		err = t.exec(`UPDATE outbox SET attempts = attempts + 1, due_at = $3 WHERE waitlist = $1 AND id = $2`,
			t.list, due[i].ID, t.now+lease.Milliseconds())
	}
	return due, err
}

// Sent takes a mail out of the outbox. The time of what its link is for begins.
func (l *List) Sent(ctx context.Context, m Mail, now time.Time) error {
	return l.write(ctx, now, func(t *tx) error {
		spots, err := t.numbers(`DELETE FROM outbox WHERE waitlist = $1 AND id = $2 RETURNING spot`, t.list, m.ID)
		if err != nil || len(spots) == 0 {
			return err
		}
		if err := t.exec(`UPDATE entries SET bounced_at = 0 WHERE waitlist = $1 AND number = $2 AND bounced_at <> 0`, t.list, m.Number); err != nil {
			return err
		}
		return t.beginTime(m, spots[0])
	})
}

// beginTime has the link of a mail that was sent work for its time.
func (t *tx) beginTime(m Mail, spot int64) error {
	if m.Kind != MailConfirm {
		return t.exec(`UPDATE spots SET mailed_at = $3, expires_at = $4 WHERE waitlist = $1 AND id = $2 AND state = 'live'`,
			t.list, spot, t.now, t.now+t.settings.InviteTTL.Milliseconds())
	}
	err := t.exec(`UPDATE tokens SET expires_at = $3 WHERE waitlist = $1 AND hash = $2`, t.list, hash(m.Token), t.now+t.settings.ConfirmTTL.Milliseconds())
	if err != nil {
		return err
	}
	return t.exec(`UPDATE entries SET mailed_at = $3 WHERE waitlist = $1 AND number = $2 AND status = 'unconfirmed'`, t.list, m.Number, t.now)
}

// Failed keeps a mail for another attempt: after a minute, then after twice as long each time, up
// to four hours.
func (l *List) Failed(ctx context.Context, m Mail, reason error, now time.Time) error {
	wait := min(longestRetry, firstRetry<<min(max(0, m.Attempts-1), 10))
	text := plain(reason.Error())
	return l.write(ctx, now, func(t *tx) error {
		return t.exec(`UPDATE outbox SET due_at = $3, last_error = $4 WHERE waitlist = $1 AND id = $2`,
			t.list, m.ID, t.now+wait.Milliseconds(), text)
	})
}

// plain makes of what a mail server said a text that databases take.
func plain(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), longestError)], "\x00", ""), "")
}

// Drop takes a mail out of the outbox whose address takes no mail, and notes that with the entry.
// An invite stays for its time from then on: its owner may still come by another way.
func (l *List) Drop(ctx context.Context, m Mail, now time.Time) error {
	return l.write(ctx, now, func(t *tx) error {
		spots, err := t.numbers(`DELETE FROM outbox WHERE waitlist = $1 AND id = $2 RETURNING spot`, t.list, m.ID)
		if err != nil || len(spots) == 0 {
			return err
		}
		expires := t.now + t.settings.InviteTTL.Milliseconds()
		err = t.exec(`UPDATE spots SET expires_at = $3 WHERE waitlist = $1 AND id = $2 AND state = 'live' AND expires_at > $3`, t.list, spots[0], expires)
		if err != nil {
			return err
		}
		return t.exec(`UPDATE entries SET bounced_at = $3 WHERE waitlist = $1 AND number = $2`, t.list, m.Number, t.now)
	})
}
