package waitlist

import (
	"context"
	"time"
)

// A burst is more than mostFromNetwork confirmed referees of one referrer from one network within
// burstTime.
const mostFromNetwork, burstTime = 3, time.Hour

// mostFromDomain is how many confirmed referees of one referrer count at a time that have addresses
// of one domain, which is no mail provider's: its owner makes as many addresses as they like.
// Referees who leave count no more, and those who wait for that reason count in their place.
const mostFromDomain = 3

// Reason says why a referral waits for an operator.
type Reason string

// The reasons.
const (
	SameAddress Reason = "same_address" // somebody's address is the same but for tags and dots
	SameNetwork Reason = "same_network" // many referees from one network in a short time
	SameDomain  Reason = "same_domain"  // many referees at one domain that is no mail provider's
	Disposable  Reason = "disposable"   // the domain is on the list of Settings.Disposable
)

// Credit is a referral that waits for an operator.
type Credit struct {
	Referee, Referrer           int64  // the numbers of their entries
	RefereeEmail, ReferrerEmail string // "" for none
	Reason                      Reason
	At                          time.Time // when the referee was confirmed
}

// credit credits the referrer of an entry that is confirmed now, if there is one. A referee is
// somebody who was not on the list, so nobody can be their own.
func (t *tx) credit(referee, now int64) error {
	var referrer int64
	var key, mailbox, network string
	err := t.must(`SELECT COALESCE(referrer, 0), COALESCE(email_key, ''), COALESCE(mailbox, ''), network FROM entries WHERE waitlist = $1 AND number = $2`,
		[]any{t.list, referee}, &referrer, &key, &mailbox, &network)
	if err != nil || referrer == 0 {
		return err
	}
	domain := ownDomain(key)
	reason, err := t.suspicion(credit{referee, referrer, key, mailbox, network, domain}, now)
	if err != nil {
		return err
	}
	state := "granted"
	if reason != "" {
		state = "held"
	}
	// A referee who was confirmed before, and is again by an operator, has a row.
	err = t.exec(`INSERT INTO credits (waitlist, referee, referrer, state, reason, network, at, domain) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT DO NOTHING`, t.list, referee, referrer, state, string(reason), network, now, domain)
	if err != nil {
		return err
	}
	return t.boost(referrer)
}

// credit is what a referral is judged by.
type credit struct {
	referee, referrer             int64
	key, mailbox, network, domain string // of the referee
}

// suspicion returns why a referral has to wait for an operator; "" if it need not. Addresses that
// nobody has confirmed say nothing: anybody can have typed them. Where addresses are not confirmed,
// only the referrer's own is compared with the referee's: else anybody who signs up with another
// spelling of somebody's address had the referral of that person wait.
func (t *tx) suspicion(c credit, now int64) (Reason, error) {
	if c.key != "" && t.settings.Disposable.Has(c.key) {
		return Disposable, nil
	}
	others := `number <> $2 AND status <> 'unconfirmed'`
	if !t.settings.ConfirmEmail {
		others = `number <> $2 AND number = $4`
	}
	var same, near, alike int64
	err := t.must(`SELECT
			(SELECT COUNT(*) FROM (SELECT 1 FROM entries WHERE waitlist = $1 AND mailbox = $3 AND `+others+` LIMIT 1) AS others),
			(SELECT COUNT(*) FROM credits WHERE waitlist = $1 AND referrer = $4 AND network = $5 AND network <> '' AND at > $6),
			(SELECT COUNT(*) FROM credits WHERE waitlist = $1 AND referrer = $4 AND domain = $7 AND domain <> '' AND state <> 'held')`,
		[]any{t.list, c.referee, c.mailbox, c.referrer, c.network, now - burstTime.Milliseconds(), c.domain}, &same, &near, &alike)
	switch {
	case same > 0:
		return SameAddress, err
	case near >= mostFromNetwork:
		return SameNetwork, err
	case alike >= mostFromDomain:
		return SameDomain, err
	default:
		return "", err
	}
}

// boost brings what referrals have earned an entry up to date.
func (t *tx) boost(referrer int64) error {
	var granted, boost int64
	var status Status
	err := t.must(`SELECT (SELECT COUNT(*) FROM credits WHERE waitlist = $1 AND referrer = $2 AND state = 'granted'), boost, status
		FROM entries WHERE waitlist = $1 AND number = $2`, []any{t.list, referrer}, &granted, &boost, &status)
	if err != nil {
		return err
	}
	earned := min(granted*int64(t.settings.ReferralBoost), int64(t.settings.ReferralMax))
	if earned == boost {
		return nil
	}
	if earned > boost && status == Waiting {
		t.tell(EventMovedUp, referrer)
	}
	return t.exec(`UPDATE entries SET priority = priority + $3, boost = $4, version = $5 WHERE waitlist = $1 AND number = $2`,
		t.list, referrer, earned-boost, earned, t.version)
}

// withdraw takes back what an entry that leaves has earned its referrer. Another of its domain who
// has waited counts in its place.
func (t *tx) withdraw(referee int64) error {
	var referrer int64
	var domain, state string
	found, err := t.scan(`SELECT referrer, domain, state FROM credits WHERE waitlist = $1 AND referee = $2 AND state <> 'withdrawn'`,
		[]any{t.list, referee}, &referrer, &domain, &state)
	if err != nil || !found {
		return err
	}
	if err := t.exec(`UPDATE credits SET state = 'withdrawn', network = '', domain = '' WHERE waitlist = $1 AND referee = $2`, t.list, referee); err != nil {
		return err
	}
	if state == "granted" && domain != "" {
		err := t.exec(`UPDATE credits SET state = 'granted', reason = '' WHERE waitlist = $1 AND referee = (SELECT MIN(referee) FROM credits
			WHERE waitlist = $1 AND referrer = $2 AND domain = $3 AND state = 'held' AND reason = $4)
			AND (SELECT COUNT(*) FROM credits WHERE waitlist = $1 AND referrer = $2 AND domain = $3 AND state = 'granted') < $5`,
			t.list, referrer, domain, string(SameDomain), mostFromDomain)
		if err != nil {
			return err
		}
	}
	return t.boost(referrer)
}

// Held returns referrals that wait for an operator, by the numbers of the referees, from the one
// after the given.
func (l *List) Held(ctx context.Context, after int64, most int) (list []Credit, err error) {
	err = each(ctx, l.db.reader, `SELECT c.referee, c.referrer, COALESCE(e.email, ''), COALESCE(r.email, ''), c.reason, c.at
		FROM credits c JOIN entries e ON e.waitlist = c.waitlist AND e.number = c.referee JOIN entries r ON r.waitlist = c.waitlist AND r.number = c.referrer
		WHERE c.waitlist = $1 AND c.state = 'held' AND c.referee > $2 ORDER BY c.referee LIMIT $3`, []any{l.name, after, most},
		func(scan func(into ...any) error) error {
			var c Credit
			var at int64
			err := scan(&c.Referee, &c.Referrer, &c.RefereeEmail, &c.ReferrerEmail, &c.Reason, &at)
			c.At = when(at)
			list = append(list, c)
			return err
		})
	return list, err
}

// Judge grants a referral that waits for an operator, or denies it. The error is ErrNotFound.
func (l *List) Judge(ctx context.Context, referee int64, grant bool, by Operator, now time.Time) error {
	state := "denied"
	if grant {
		state = "granted"
	}
	return l.operate(ctx, by, now, func(t *tx) (audited, error) {
		referrers, err := t.numbers(`UPDATE credits SET state = $3 WHERE waitlist = $1 AND referee = $2 AND state = 'held' RETURNING referrer`,
			t.list, referee, state)
		if err != nil {
			return audited{}, err
		}
		if len(referrers) == 0 {
			return audited{refused: ErrNotFound}, nil
		}
		return audited{action: "referral", number: referee, detail: state}, t.boost(referrers[0])
	})
}
