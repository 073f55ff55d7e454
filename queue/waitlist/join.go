package waitlist

import (
	"context"
	"net/netip"
	"time"
)

// cooldown is the least time between two mails that signing up with one address can cause.
const cooldown = time.Hour

// SignUp is what somebody signs up with: an address, a user of the site, or both.
type SignUp struct {
	Email    string
	UserID   string     // of a user whom the site vouches for
	Referral string     // the code of whoever told them; a code that nobody has counts as none
	Addr     netip.Addr // of the client
	Language string     // of the mails
}

// Place is an entry as its owner gets it.
type Place struct {
	Entry

	// Secret lets the owner come back: see EntryBySecret. It is "" for a caller who has not shown to be the owner.
	Secret string
}

// Join puts somebody on the list, once for each address and each user. The errors are ErrEmail and ErrNobody.
//
// Where addresses are confirmed, the answer to somebody who gives one has the status Unconfirmed and nothing else, whether the
// address is on the list or not, and its owner gets a mail: to confirm the address, or to come back to the entry. A user of the site
// who is on the list gets the entry. Signing up with a known address is less work than with a new one, so an answer that must not
// tell which it was has to be sent at a time that does not depend on Join.
//
// Where addresses are not confirmed, somebody who gives a known address gets its entry, without a secret, which goes to the owner in a
// mail. A user of the site who gives the address of another entry gets one without an address.
func (l *List) Join(ctx context.Context, who SignUp, now time.Time) (Place, error) {
	a, err := who.arrival(now)
	if err != nil {
		return Place{}, err
	}
	told := new(answer)
	if err := l.write(ctx, now, func(t *tx) (err error) { *told, err = t.join(a); return err }); err != nil {
		return Place{}, err
	}
	if told.number == 0 {
		return Place{Entry: Entry{Status: Unconfirmed}}, nil
	}
	e, err := l.Entry(ctx, told.number, now)
	return Place{e, told.secret}, err
}

// arrival is a sign-up as the record has it.
type arrival struct {
	SignUp
	address  Address // zero if there is none
	network  string
	at       int64
	status   Status
	priority int64
	code     string
	mailed   int64
}

func (s SignUp) arrival(now time.Time) (a arrival, err error) {
	a = arrival{SignUp: s, network: network(s.Addr), at: now.UnixMilli(), mailed: now.UnixMilli(), code: newCode()}
	if s.Email != "" {
		a.address, err = ParseAddress(s.Email)
	} else if s.UserID == "" {
		err = ErrNobody
	}
	return a, err
}

// answer is what Join may tell: the number of the entry, or 0 for nothing.
type answer struct {
	number int64
	secret string
}

// standing is what join needs to know of an entry that is there.
type standing struct {
	number, mailed int64
	status         Status
}

func (t *tx) join(a arrival) (answer, error) {
	confirm := t.settings.ConfirmEmail && a.address.Key != ""
	if s, found, err := t.find(`user_id = $2`, a.UserID); err != nil || found && a.UserID != "" {
		return answer{number: s.number}, err
	}
	s, found, err := t.find(`mailbox = $2 AND email_key = $3`, a.address.Mailbox, a.address.Key)
	switch {
	case err != nil:
		return answer{}, err
	case found && confirm:
		return answer{}, t.remind(s, a.at)
	case found && a.UserID == "":
		return answer{number: s.number}, t.remind(s, a.at)
	case found: // the address is somebody else's, as far as anybody knows
		a.address = Address{}
	}
	a.status = Waiting
	if confirm {
		a.status = Unconfirmed
	}
	number, err := t.enter(a)
	if err != nil {
		return answer{}, err
	}
	if confirm {
		return answer{}, t.askToConfirm(number, a.at)
	}
	secret, err := t.welcome(number, a.at)
	return answer{number, secret}, err
}

func (t *tx) find(condition string, args ...any) (s standing, found bool, err error) {
	found, err = t.scan(`SELECT number, status, mailed_at FROM entries WHERE waitlist = $1 AND `+condition,
		append([]any{t.list}, args...), &s.number, &s.status, &s.mailed)
	return s, found, err
}

// enter adds an entry and returns its number.
func (t *tx) enter(a arrival) (number int64, err error) {
	var referrer *int64
	if a.Referral != "" {
		s, found, err := t.find(`referral_code = $2 AND status <> 'unconfirmed'`, a.Referral)
		if err != nil {
			return 0, err
		}
		if found {
			referrer = &s.number
		}
	}
	confirmed := int64(0)
	if a.status != Unconfirmed {
		confirmed = a.at
	}
	t.lastEntry++
	number = t.lastEntry
	err = t.exec(`INSERT INTO entries (waitlist, number, version, status, priority, email, email_key, mailbox, user_id, network, language,
			referral_code, referrer, joined_at, confirmed_at, mailed_at)
		VALUES ($1, $2, $3, $4, $5, NULLIF($6, ''), NULLIF($7, ''), NULLIF($8, ''), NULLIF($9, ''), $10, $11, $12, $13, $14, $15, $16)`,
		t.list, number, t.version, string(a.status), a.priority, a.address.Typed, a.address.Key, a.address.Mailbox, a.UserID, a.network, a.Language,
		a.code, referrer, a.at, confirmed, a.mailed)
	if err != nil || a.status == Unconfirmed {
		return number, err
	}
	return number, t.credit(number, a.at)
}

// remind mails the owner of an address that somebody has signed up with again.
func (t *tx) remind(s standing, now int64) error {
	if now < s.mailed+cooldown.Milliseconds() {
		return nil
	}
	if err := t.exec(`UPDATE entries SET mailed_at = $3 WHERE waitlist = $1 AND number = $2`, t.list, s.number, now); err != nil {
		return err
	}
	if s.status == Unconfirmed {
		return t.askToConfirm(s.number, now)
	}
	_, err := t.welcome(s.number, now)
	return err
}

// askToConfirm mails the link that confirms an address.
func (t *tx) askToConfirm(number, now int64) error {
	expires := now + t.settings.ConfirmTTL.Milliseconds()
	token, err := t.token(number, "confirm", expires)
	if err != nil {
		return err
	}
	return t.mail(MailConfirm, number, 0, token, now, expires)
}

// welcome mails the link by which the owner comes back, and returns the secret in it.
func (t *tx) welcome(number, now int64) (secret string, err error) {
	secret, err = t.token(number, "secret", 0)
	if err != nil {
		return "", err
	}
	return secret, t.mail(MailPlace, number, 0, secret, now, now+keepMail.Milliseconds())
}

// token makes a token of an entry. One that expires at 0 does not.
func (t *tx) token(number int64, kind string, expires int64) (string, error) {
	token := newToken()
	return token, t.exec(`INSERT INTO tokens (hash, waitlist, number, kind, expires_at) VALUES ($1, $2, $3, $4, $5)`,
		hash(token), t.list, number, kind, expires)
}
