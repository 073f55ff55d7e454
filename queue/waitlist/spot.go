package waitlist

import "fmt"

// The states of a spot.
const (
	spotLive     = "live"
	spotAccepted = "accepted"
	spotExpired  = "expired"
	spotFreed    = "freed" // somebody who held it has left, or an operator has taken it back
)

// free counts the spots that may be released now, at most so many as wanted. Those who hold a spot
// are no more than the capacity.
func (t *tx) free(wanted int64) int64 {
	if capacity := int64(t.settings.Capacity); capacity > 0 {
		return max(0, min(wanted, capacity-t.held))
	}
	return wanted
}

// invitee is somebody who is invited, and whether they have an address.
type invitee struct {
	number int64
	mailed bool
}

// next returns the first of those who wait, in order.
func (t *tx) next(most int64) ([]invitee, error) {
	return t.invitees(`status = 'waiting' ORDER BY priority DESC, number LIMIT $2`, most)
}

// invitees returns the entries of a condition.
func (t *tx) invitees(condition string, arg int64) (list []invitee, err error) {
	err = each(t.ctx, t.on, `SELECT number, email IS NOT NULL FROM entries WHERE waitlist = $1 AND `+condition, []any{t.list, arg}, func(scan func(into ...any) error) error {
		var i invitee
		err := scan(&i.number, &i.mailed)
		list = append(list, i)
		return err
	})
	return list, err
}

// left counts the entries that the transaction may still invite.
func (t *tx) left() int64 { return max(0, mostChanged-t.invited) }

// fill releases a spot for each one that has ended, as soon as there is somebody who waits: by the
// transaction that has ended it, or by the one that has brought somebody. What is too much for one
// transaction is left to the next ones and to the sweep.
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
	return t.invite(next, owed, t.now)
}

// invite releases a spot to each of some entries, in the places of as many that have ended, or of
// none. Until its mail is sent, an invite has the time in which that is tried.
func (t *tx) invite(list []invitee, replaces []int64, now int64) error {
	if len(list) == 0 {
		return nil
	}
	ttl, worth := now+t.settings.InviteTTL.Milliseconds(), now+t.settings.worth(t.settings.InviteTTL).Milliseconds()
	var spots, mails [][]any
	var numbers, replaced []any
	for i, who := range list {
		token, expires, ended := newToken(), ttl, any(nil)
		t.lastSpot++
		if replaces != nil {
			ended = replaces[i]
			replaced = append(replaced, ended)
		}
		if who.mailed {
			t.lastMail++
			expires = worth
			mails = append(mails, []any{t.list, t.lastMail, string(MailInvite), who.number, t.lastSpot, token, now, worth, now})
		}
		spots = append(spots, []any{t.list, t.lastSpot, who.number, spotLive, hash(token), now, expires, ended})
		numbers = append(numbers, who.number)
		t.tell(EventInvited, who.number)
	}
	t.held += int64(len(list))
	t.invited += int64(len(list))
	return t.writeInvites(spots, mails, numbers, replaced)
}

// writeInvites writes invites: their spots, their mails, the entries, and the spots that are
// replaced.
func (t *tx) writeInvites(spots, mails [][]any, numbers, replaced []any) error {
	err := t.insert(`INSERT INTO spots (waitlist, id, number, state, token, released_at, expires_at, replaces)`, spots)
	if err != nil {
		return err
	}
	if len(replaced) > 0 {
		text, args := t.within(`UPDATE spots SET owed = 0 WHERE waitlist = $1 AND id IN ($*)`, replaced)
		if err := t.exec(text, args...); err != nil {
			return err
		}
	}
	text, args := t.within(`UPDATE entries SET status = 'invited', version = $*,
			spot = (SELECT MAX(id) FROM spots s WHERE s.waitlist = entries.waitlist AND s.number = entries.number)
		WHERE waitlist = $1 AND number IN ($*)`, []any{t.version}, numbers)
	if err := t.exec(text, args...); err != nil {
		return err
	}
	return t.insert(`INSERT INTO outbox (waitlist, id, kind, number, spot, token, created_at, expires_at, due_at)`, mails)
}

// give releases a spot in a state, live or accepted, to an entry. Nobody is mailed.
func (t *tx) give(number int64, state string, now int64) error {
	status, accepted, told := Invited, int64(0), EventInvited
	if state == spotAccepted {
		status, accepted, told = Accepted, now, EventAccepted
		t.accepted++
	}
	t.tell(told, number)
	t.held++
	t.lastSpot++
	err := t.exec(`INSERT INTO spots (waitlist, id, number, state, token, released_at, expires_at, accepted_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		t.list, t.lastSpot, number, state, hash(newToken()), now, now+t.settings.InviteTTL.Milliseconds(), accepted)
	if err != nil {
		return err
	}
	return t.exec(`UPDATE entries SET status = $3, spot = $4, version = $5 WHERE waitlist = $1 AND number = $2`,
		t.list, number, string(status), t.lastSpot, t.version)
}

// endSpot ends the spot that an entry holds, if it holds one. If it is owed, the next gets a spot
// in its place.
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

// runOut ends an invite whose time has run out. The audit log has those whose mail was not
// delivered in all the time.
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
	t.tell(EventExpired, number)
	return t.setStatus(number, Expired)
}

func (t *tx) setStatus(number int64, s Status) error {
	return t.exec(`UPDATE entries SET status = $3, version = $4 WHERE waitlist = $1 AND number = $2`, t.list, number, string(s), t.version)
}
