package waitlist

import (
	"context"
	"net/netip"
	"time"
)

// SignUp is what somebody signs up with: an address, a user of the site, or both.
type SignUp struct {
	Email    string
	UserID   string     // of a user whom the site vouches for
	Referral string     // the code of whoever told them; a code that nobody has counts as none
	Addr     netip.Addr // of the client
	Language string     // of the mails
}

// Place is an entry as the caller gets it.
type Place struct {
	Entry

	Own bool // the caller has shown to be the owner
}

// Join puts somebody on the list, once for each address and each user. The errors are ErrEmail and
// ErrNobody.
//
// A user of the site gets their entry. It has the address that they give if addresses are not
// confirmed and nobody else has it.
//
// Where addresses are confirmed, the answer to somebody else has the status Unconfirmed and nothing
// else, whether the address is on the list or not, and its owner gets a mail: to confirm the
// address, or to come back to the entry. Signing up with a known address is less work than with a
// new one, so an answer that must not tell which it was has to be sent at a time that does not
// depend on Join. Where addresses are not confirmed, somebody who gives a known address gets its
// entry, which is not their own.
//
// Users whose invite has expired sign up anew by Join, and others by Rejoin.
func (l *List) Join(ctx context.Context, who SignUp, now time.Time) (Place, error) {
	a, err := who.arrival(now)
	if err != nil {
		return Place{}, err
	}
	return l.answered(ctx, now, func(t *tx) (answer, error) { return t.join(a) })
}

// Rejoin signs the owner of an entry up anew whose invite has expired: at the end of the line, as
// somebody who was not on the list. The error is ErrNotFound if there is no such entry that has
// expired.
func (l *List) Rejoin(ctx context.Context, number int64, now time.Time) (Place, error) {
	return l.answered(ctx, now, func(t *tx) (answer, error) { return t.rejoin(number, now.UnixMilli()) })
}

// answered writes something for somebody, and returns what may be told of it once it is durable.
func (l *List) answered(ctx context.Context, now time.Time, do func(*tx) (answer, error)) (Place, error) {
	told := new(answer) // not read when the caller goes before the job is done
	err := l.write(ctx, now, func(t *tx) (err error) { *told, err = do(t); return err })
	switch {
	case err != nil:
		return Place{}, err
	case told.refused != nil:
		return Place{}, told.refused
	case told.number == 0:
		return Place{Entry: Entry{Status: Unconfirmed}}, nil
	}
	e, err := l.Entry(ctx, told.number, now)
	return Place{e, told.own}, err
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

	confirmed int64 // of an import: when the address was confirmed
}

func (s SignUp) arrival(now time.Time) (a arrival, err error) {
	a = arrival{SignUp: s, network: network(s.Addr), at: now.UnixMilli(), code: newCode()}
	if s.UserID != "" && !isName(s.UserID) {
		return a, ErrNobody
	}
	if s.Email != "" {
		a.address, err = ParseAddress(s.Email)
	} else if s.UserID == "" {
		err = ErrNobody
	}
	return a, err
}

// answer is what may be told of a change: the number of the entry, or 0 for nothing, and whether it
// is the caller's own; or why it was refused.
type answer struct {
	number  int64
	own     bool
	refused error
}

// standing is what the transactions need to know of an entry that is there.
type standing struct {
	number   int64
	mailed   int64 // when its last mail was caused, or delivered
	status   Status
	priority int64
}

func (t *tx) join(a arrival) (answer, error) {
	if a.UserID != "" {
		return t.joinUser(a)
	}
	s, found, err := t.find(`mailbox = $2 AND email_key = $3`, a.address.Mailbox, a.address.Key)
	switch {
	case err != nil:
		return answer{}, err
	case found && t.settings.ConfirmEmail:
		return answer{}, t.remind(s, a)
	case found:
		return answer{number: s.number}, t.remind(s, a)
	}
	a.status = Waiting
	if t.settings.ConfirmEmail {
		a.status = Unconfirmed
	}
	number, err := t.enter(a)
	if err != nil {
		return answer{}, err
	}
	if a.status == Unconfirmed {
		return answer{}, t.greet(number, a)
	}
	return answer{number: number, own: true}, t.greet(number, a)
}

// greet mails somebody who has signed up, if their mailbox may get the mail now: the link that
// confirms the address, or the one by which the owner comes back.
func (t *tx) greet(number int64, a arrival) error {
	var referrer *int64
	if a.status == Unconfirmed {
		var err error
		if referrer, err = t.referrer(a.Referral); err != nil {
			return err
		}
	}
	may, err := t.takeMail(a.address, referrer)
	switch {
	case err != nil || !may:
		return err
	case a.status == Unconfirmed:
		return t.askToConfirm(number, a, referrer)
	default:
		return t.welcome(number, a.at)
	}
}

// joinUser puts a user of the site on the list. The site vouches for the user and not for the
// address: one that has to be confirmed, or that somebody has already, is not theirs as far as
// anybody knows.
func (t *tx) joinUser(a arrival) (answer, error) {
	s, found, err := t.find(`user_id = $2`, a.UserID)
	switch {
	case err != nil:
		return answer{}, err
	case found && s.status == Expired:
		return t.rejoin(s.number, a.at)
	case found:
		return answer{number: s.number, own: true}, nil
	}
	if a.address.Key != "" {
		_, taken, err := t.find(`mailbox = $2 AND email_key = $3`, a.address.Mailbox, a.address.Key)
		if err != nil {
			return answer{}, err
		}
		if taken || t.settings.ConfirmEmail {
			a.address = Address{}
		}
	}
	a.status = Waiting
	number, err := t.enter(a)
	if err != nil {
		return answer{}, err
	}
	return answer{number: number, own: true}, t.greet(number, a)
}

// rejoin takes an entry that has expired off the list, and signs its owner up anew.
func (t *tx) rejoin(number, now int64) (answer, error) {
	a := arrival{at: now, status: Waiting, code: newCode()}
	found, err := t.scan(`SELECT COALESCE(email, ''), COALESCE(email_key, ''), COALESCE(mailbox, ''), COALESCE(user_id, ''), network, language
		FROM entries WHERE waitlist = $1 AND number = $2 AND status = 'expired'`, []any{t.list, number},
		&a.address.Typed, &a.address.Key, &a.address.Mailbox, &a.UserID, &a.network, &a.Language)
	if err != nil || !found {
		return answer{refused: ErrNotFound}, err
	}
	if err := t.erase(number, now, EventLeft); err != nil {
		return answer{}, err
	}
	number, err = t.enter(a)
	if err != nil {
		return answer{}, err
	}
	return answer{number: number, own: true}, t.greet(number, a)
}

func (t *tx) find(condition string, args ...any) (s standing, found bool, err error) {
	found, err = t.scan(`SELECT number, status, mailed_at, priority FROM entries WHERE waitlist = $1 AND `+condition,
		append([]any{t.list}, args...), &s.number, &s.status, &s.mailed, &s.priority)
	return s, found, err
}

// enter adds an entry and returns its number.
func (t *tx) enter(a arrival) (number int64, err error) {
	referrer, err := t.referrer(a.Referral)
	if err != nil {
		return 0, err
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
		a.code, referrer, a.at, confirmed, a.at)
	if t.tell(EventJoined, number); err != nil || a.status == Unconfirmed {
		return number, err
	}
	return number, t.credit(number, a.at)
}

// referrer returns the number of the entry that a referral code is of; nil for none.
func (t *tx) referrer(code string) (*int64, error) {
	if !isCode(code) {
		return nil, nil
	}
	s, found, err := t.find(`referral_code = $2 AND status <> 'unconfirmed'`, code)
	if err != nil || !found {
		return nil, err
	}
	return &s.number, nil
}

// remind mails the owner of an address that somebody has signed up with again.
func (t *tx) remind(s standing, a arrival) error {
	if s.status == Unconfirmed && a.at >= s.mailed+t.settings.ConfirmTTL.Milliseconds() {
		return nil
	}
	a.status = s.status
	return t.greet(s.number, a)
}

// askToConfirm mails the link that confirms an address. The link has what its sign-up says of who
// has brought the owner: another sign-up with the address may be somebody else's, and neither takes
// the other's place before its owner has chosen a link.
func (t *tx) askToConfirm(number int64, a arrival, referrer *int64) error {
	expires := a.at + t.settings.worth(t.settings.ConfirmTTL).Milliseconds()
	token, err := t.token(number, "confirm", expires)
	if err != nil {
		return err
	}
	if err := t.exec(`UPDATE tokens SET referrer = $2, network = $3 WHERE hash = $1`, hash(token), referrer, a.network); err != nil {
		return err
	}
	err = t.exec(`UPDATE entries SET mailed_at = $3, language = $4 WHERE waitlist = $1 AND number = $2`, t.list, number, a.at, a.Language)
	if err != nil {
		return err
	}
	return t.mail(MailConfirm, number, 0, token, a.at, expires)
}

// welcome mails the link by which the owner comes back.
func (t *tx) welcome(number, now int64) error {
	secret, err := t.token(number, "secret", 0)
	if err != nil {
		return err
	}
	return t.mail(MailPlace, number, 0, secret, now, now+keepMail.Milliseconds())
}

// token makes a token of an entry. One that expires at 0 does not.
func (t *tx) token(number int64, kind string, expires int64) (string, error) {
	token := newToken()
	return token, t.exec(`INSERT INTO tokens (hash, waitlist, number, kind, expires_at) VALUES ($1, $2, $3, $4, $5)`,
		hash(token), t.list, number, kind, expires)
}
