package waitlist

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"time"
)

// cooldown is the least time between two mails that sign-ups can cause to one mailbox, however its address is written, and also if
// the entry was erased meanwhile. It grows up to mostCooldown: it is at least as long as it took from the first mail to the last. So
// strangers who type somebody's address cause few. A mailbox is forgotten when it has got no such mail for so long.
const cooldown, mostCooldown, forgetMailbox = time.Hour, 24 * time.Hour, 30 * 24 * time.Hour

// mailKey returns the key of a list's hashes of mailboxes, which is made if there is none.
func mailKey(ctx context.Context, on runner, list string) (key []byte, err error) {
	fresh := make([]byte, sha256.Size)
	_, _ = rand.Read(fresh) // never fails
	if _, err := on.ExecContext(ctx, `UPDATE waitlists SET mail_key = $2 WHERE name = $1 AND mail_key IS NULL`, list, fresh); err != nil {
		return nil, err
	}
	_, err = one(ctx, on, `SELECT mail_key FROM waitlists WHERE name = $1`, []any{list}, &key)
	return key, err
}

// takeMail says whether a sign-up may cause a mail to the mailbox of an address now. If so, it has.
func (t *tx) takeMail(a Address) (may bool, err error) {
	if a.Key == "" {
		return true, nil // and there is none
	}
	mac := hmac.New(sha256.New, t.mailKey)
	mac.Write([]byte(a.inbox()))
	mailbox := mac.Sum(nil)
	var first, last int64
	found, err := t.scan(`SELECT first_at, mailed_at FROM mailboxes WHERE waitlist = $1 AND hash = $2`, []any{t.list, mailbox}, &first, &last)
	if err != nil || found && t.now-last < max(cooldown.Milliseconds(), min(mostCooldown.Milliseconds(), last-first)) {
		return false, err
	}
	return true, t.exec(`INSERT INTO mailboxes (waitlist, hash, first_at, mailed_at) VALUES ($1, $2, $3, $3)
		ON CONFLICT (waitlist, hash) DO UPDATE SET mailed_at = excluded.mailed_at`, t.list, mailbox, t.now)
}

// forgetMailboxes forgets mailboxes that have got no mail for long.
func (t *tx) forgetMailboxes(now int64) error {
	return t.exec(`DELETE FROM mailboxes WHERE waitlist = $1 AND hash IN (SELECT hash FROM mailboxes WHERE waitlist = $1 AND mailed_at <= $2 LIMIT $3)`,
		t.list, now-forgetMailbox.Milliseconds(), mostChanged)
}
