package waitlist

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"strconv"
	"time"
)

// Sign-ups cause at most mostHourly mails to a mailbox within an hour, mostDaily within a day and
// mostMonthly within forgetMailing, however its address is written, and also if the entry was
// erased meanwhile. The last of each is for addresses without tags: so a stranger who types tagged
// ones, which may arrive nowhere, does not keep the owner from being mailed. Any other mail has a
// link for the owner, who typed its address or did not.
const mostHourly, mostDaily, mostMonthly = 3, 6, 20

// cooldown is the least time between two mails that say the same. It grows up to mostCooldown: it
// is at least as long as it took from the first such mail to the last. A mail is forgotten after
// forgetMailing.
const cooldown, mostCooldown, forgetMailing = time.Hour, 24 * time.Hour, 30 * 24 * time.Hour

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

// takeMail says whether a sign-up may cause a mail to an address now. If so, it has. The mail says
// by whom its reader was brought; nil if it says nothing of that.
func (t *tx) takeMail(a Address, referrer *int64) (may bool, err error) {
	if a.Key == "" {
		return true, nil // and there is none
	}
	name, tagged := a.inbox()
	says := a.Key
	if referrer != nil {
		says += " " + strconv.FormatInt(*referrer, 10)
	}
	mailbox, said := t.keyed(name), t.keyed(says)
	var first, last, hourly, daily, monthly int64
	err = t.must(`SELECT COALESCE(MIN(CASE WHEN said = $3 THEN at END), 0), COALESCE(MAX(CASE WHEN said = $3 THEN at END), 0),
			COUNT(CASE WHEN at > $4 THEN 1 END), COUNT(CASE WHEN at > $5 THEN 1 END), COUNT(*) FROM mailings WHERE waitlist = $1 AND mailbox = $2`,
		[]any{t.list, mailbox, said, t.now - time.Hour.Milliseconds(), t.now - (24 * time.Hour).Milliseconds()}, &first, &last, &hourly, &daily, &monthly)
	kept := oneOf(tagged)
	again := last > 0 && t.now-last < max(cooldown.Milliseconds(), min(mostCooldown.Milliseconds(), last-first))
	if err != nil || again || hourly >= mostHourly-kept || daily >= mostDaily-kept || monthly >= mostMonthly-kept {
		return false, err
	}
	return true, t.exec(`INSERT INTO mailings (waitlist, mailbox, said, at) VALUES ($1, $2, $3, $4)`, t.list, mailbox, said, t.now)
}

// keyed returns the hash of a text with the key of the list.
func (t *tx) keyed(text string) []byte {
	mac := hmac.New(sha256.New, t.mailKey)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// forgetMailings forgets mails that were caused long ago.
func (t *tx) forgetMailings(now int64) error {
	return t.exec(`DELETE FROM mailings WHERE waitlist = $1 AND at IN (SELECT at FROM mailings WHERE waitlist = $1 AND at <= $2 ORDER BY at LIMIT $3)`,
		t.list, now-forgetMailing.Milliseconds(), mostChanged)
}
