package waitlist

import "fmt"

// The states of a spot.
const (
	spotLive     = "live"
	spotAccepted = "accepted"
	spotExpired  = "expired"
	spotFreed    = "freed" // somebody who held it has left, or an operator has taken it back
)

// free counts the spots that may be released now, at most so many as wanted. Those who hold a spot are no more than the capacity.
func (t *tx) free(wanted int64) int64 {
	if capacity := int64(t.settings.Capacity); capacity > 0 {
		return max(0, min(wanted, capacity-t.held))
	}
	return wanted
}

// next returns the first of those who wait, in order.
func (t *tx) next(most int64) ([]int64, error) {
	return t.numbers(`SELECT number FROM entries WHERE waitlist = $1 AND status = 'waiting' ORDER BY priority DESC, number LIMIT $2`, t.list, most)
}

// left counts the entries that the transaction may still invite.
func (t *tx) left() int64 { return max(0, mostChanged-t.invited) }

// fill releases a spot for each one that has ended, as soon as there is somebody who waits: by the transaction that has ended it,
// or by the one that has brought somebody. What is too much for one transaction is left to the next ones and to the sweep.
func (t *tx) fill() error {
	if t.paused != 0 {
		return nil
	}
	owed, err := t.numbers(`SELECT id FROM spots WHERE waitlist = $1 AND owed = 1 ORDER BY id LIMIT $2`, t.list, t.free(t.left()))
	if err != nil || len(owed) == 0 {
		return err
	}
	next, err := t.next(int64(len(owed)))
	if err != nil {
		return err
	}
	for i, number := range next {
		if err := t.invite(number, owed[i], t.now); err != nil {
			return err
		}
	}
	return nil
}

// invite releases a spot to an entry, in the place of one that has ended, or of none (0).
func (t *tx) invite(number, replaces, now int64) error {
	token, err := t.give(number, replaces, spotLive, now)
	if err != nil {
		return err
	}
	t.invited++
	return t.mail(MailInvite, number, t.lastSpot, token, now, now+t.settings.worth(t.settings.InviteTTL).Milliseconds())
}

// give releases a spot in a state, live or accepted, to an entry. Until its mail is sent, an invite has the time in which that is tried.
func (t *tx) give(number, replaces int64, state string, now int64) (token string, err error) {
	token, status, accepted := newToken(), Invited, int64(0)
	if state == spotAccepted {
		status, accepted = Accepted, now
		t.accepted++
	}
	t.held++
	t.lastSpot++
	err = t.exec(`INSERT INTO spots (waitlist, id, number, state, token, released_at, expires_at, accepted_at, replaces)
		SELECT $1, $2, number, $4, $5, $6, CASE WHEN email IS NULL THEN CAST($7 AS BIGINT) ELSE CAST($10 AS BIGINT) END, $8, NULLIF(CAST($9 AS BIGINT), 0)
		FROM entries WHERE waitlist = $1 AND number = $3`,
		t.list, t.lastSpot, number, state, hash(token), now, now+t.settings.InviteTTL.Milliseconds(), accepted, replaces,
		now+t.settings.worth(t.settings.InviteTTL).Milliseconds())
	if err != nil {
		return "", err
	}
	if replaces != 0 {
		if err := t.exec(`UPDATE spots SET owed = 0 WHERE waitlist = $1 AND id = $2`, t.list, replaces); err != nil {
			return "", err
		}
	}
	return token, t.exec(`UPDATE entries SET status = $3, spot = $4, version = $5 WHERE waitlist = $1 AND number = $2`,
		t.list, number, string(status), t.lastSpot, t.version)
}

// endSpot ends the spot that an entry holds, if it holds one. If it is owed, the next gets a spot in its place.
func (t *tx) endSpot(number int64, state string, owed bool, now int64) error {
	owes := 0
	if owed {
		owes = 1
	}
	ended, err := t.count(`UPDATE spots SET state = $3, owed = $4, ended_at = $5 WHERE waitlist = $1 AND number = $2 AND state IN ('live', 'accepted')`,
		t.list, number, state, owes, now)
	if err != nil {
		return err
	}
	t.held -= ended
	return t.exec(`DELETE FROM outbox WHERE waitlist = $1 AND number = $2 AND kind = $3`, t.list, number, string(MailInvite))
}

// expire ends the invite of an entry if its time has run out.
func (t *tx) expire(now, number int64) error {
	overdue, err := t.scan(`SELECT 1 FROM spots WHERE waitlist = $1 AND number = $2 AND state = 'live' AND expires_at <= $3`,
		[]any{t.list, number, now}, new(int))
	if err != nil || !overdue {
		return err
	}
	return t.runOut(number, now)
}

// runOut ends an invite whose time has run out. The audit log has those whose mail was not delivered in all the time.
func (t *tx) runOut(number, now int64) error {
	var attempts int64
	undelivered, err := t.scan(`SELECT COALESCE((SELECT attempts FROM outbox o WHERE o.waitlist = s.waitlist AND o.number = s.number AND o.spot = s.id), -1)
		FROM spots s JOIN entries e ON e.waitlist = s.waitlist AND e.number = s.number
		WHERE s.waitlist = $1 AND s.number = $2 AND s.state = 'live' AND s.mailed_at = 0 AND e.email IS NOT NULL`, []any{t.list, number}, &attempts)
	if err != nil {
		return err
	}
	if undelivered && t.settings.Mailed {
		detail := "the address takes no mail"
		if attempts >= 0 {
			detail = fmt.Sprintf("not taken by the mail server, attempts: %d", attempts)
		}
		t.undelivered++
		if _, err := t.audit(0, theGate, audited{action: "undelivered", number: number, detail: detail}, now); err != nil {
			return err
		}
	}
	return t.lapse(number, now)
}

// lapse ends a live invite.
func (t *tx) lapse(number, now int64) error {
	if err := t.endSpot(number, spotExpired, true, now); err != nil {
		return err
	}
	t.expired++
	return t.setStatus(number, Expired)
}

func (t *tx) setStatus(number int64, s Status) error {
	return t.exec(`UPDATE entries SET status = $3, version = $4 WHERE waitlist = $1 AND number = $2`, t.list, number, string(s), t.version)
}
