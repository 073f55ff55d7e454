package waitlist

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"time"
)

// Imported says what an import has done. The admin API has it as JSON.
type Imported struct {
	Added       int         `json:"added"`
	Known       int         `json:"known"`             // were on the list already, and stay as they are
	Unconfirmed int         `json:"unconfirmed"`       // were added, and have to confirm their address still
	Faulty      int         `json:"faulty"`            // lines that were left out
	Faults      []LineFault `json:"faults"`            // the first of them, at most a thousand
	Ignored     []string    `json:"ignored,omitempty"` // columns that were not read
}

// mostFaults is how many faults an import tells of.
const mostFaults = 1000

// LineFault is a line of an import that was left out.
type LineFault struct {
	Line    int    `json:"line"`
	Problem string `json:"problem"`
}

func (i *Imported) fault(line int, problem error) {
	if i.Faulty++; len(i.Faults) < mostFaults {
		i.Faults = append(i.Faults, LineFault{line, problem.Error()})
	}
}

// Import adds entries from CSV with a header line, in the order of their positions if it has those,
// else of the lines, behind those on the list unless their priority says otherwise. The operator
// vouches for the addresses and the referrals: nobody gets a mail. Somebody unconfirmed has
// Settings.ConfirmTTL to sign up again, and keeps their place. A status is waiting (also for none),
// unconfirmed, invited with a time until when, accepted, which take spots, or expired. Chosen is as
// in [ReadColumns]. The error is ErrColumns, or one of the reader or of the database: what was
// added before it stays.
func (l *List) Import(ctx context.Context, r io.Reader, chosen map[string]string, by Operator, now time.Time) (done Imported, err error) {
	in := csv.NewReader(r)
	columns, err := readColumns(in, chosen)
	if err != nil {
		return done, err
	}
	done.Ignored = columns.Ignored
	i := &importing{list: l, in: in, columns: columns, by: by, now: now, done: &done}
	for rows, err := range i.parts() {
		if err == nil {
			err = i.add(ctx, rows)
		}
		if err != nil {
			return done, err
		}
	}
	return done, i.credit(ctx)
}

// importing is an import under way.
type importing struct {
	list    *List
	in      *csv.Reader
	columns Columns
	by      Operator
	now     time.Time
	line    int64 // of the audit log
	done    *Imported

	brought []brought // whose referrers are still to be found: they may be in a later line
}

// brought is an entry that says who has brought it.
type brought struct {
	row

	number int64
}

// parts yields as many rows at a time as one transaction adds. Where the file has positions, all
// are read before.
func (i *importing) parts() iter.Seq2[[]row, error] {
	return func(yield func([]row, error) bool) {
		if !i.columns.has("position") {
			i.read(mostChanged, yield)
			return
		}
		var all []row
		i.read(mostChanged, func(rows []row, err error) bool {
			all = append(all, rows...)
			return err == nil || yield(nil, err)
		})
		slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(a.position, b.position) })
		for part := range slices.Chunk(all, mostChanged) {
			if !yield(part, nil) {
				return
			}
		}
	}
}

// read yields rows as the file has them.
func (i *importing) read(most int, yield func([]row, error) bool) {
	for more := true; more; {
		var rows []row
		for more && len(rows) < most {
			r, ok, err := i.next()
			if errors.Is(err, io.EOF) {
				more = false
			} else if err != nil {
				yield(nil, fmt.Errorf("importing CSV: %w", err))
				return
			}
			if ok {
				rows = append(rows, r)
			}
		}
		if len(rows) > 0 && !yield(rows, nil) {
			return
		}
	}
}

// next reads a line; ok says that it can be added. The error is one of the reader.
func (i *importing) next() (r row, ok bool, err error) {
	cells, err := i.in.Read()
	if fault := new(csv.ParseError); errors.As(err, &fault) {
		i.done.fault(fault.StartLine, fault.Err)
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	line, _ := i.in.FieldPos(0)
	if r, err = i.columns.readRow(cells, i.now); err != nil {
		i.done.fault(line, err)
		return r, false, nil
	}
	r.line = line
	return r, true, nil
}

// add adds rows in one transaction.
func (i *importing) add(ctx context.Context, rows []row) error {
	var sum Imported
	var credited []brought
	err := i.list.proceed(ctx, &i.line, i.by, i.now, func(t *tx) (audited, error) {
		sum, credited = *i.done, nil
		known, err := t.known(rows)
		if err != nil {
			return audited{}, err
		}
		credited, err = t.importRows(rows, known, &sum)
		return audited{action: "import", detail: strconv.Itoa(sum.Added)}, err
	})
	if err == nil {
		*i.done, i.brought = sum, append(i.brought, credited...)
	}
	return err
}

// known are what the rows of a part and the list have in common: the keys of addresses, users and
// codes.
type known struct{ keys, users, codes map[string]bool }

func (t *tx) known(rows []row) (k known, err error) {
	var mailboxes, users, codes []string
	for i := range rows {
		r := &rows[i]
		mailboxes = append(mailboxes, r.address.Mailbox)
		users, codes = append(users, r.UserID), append(codes, r.code)
	}
	if k.keys, err = t.texts(`SELECT email_key FROM entries WHERE waitlist = $1 AND mailbox IN ($*)`, mailboxes); err != nil {
		return k, err
	}
	if k.users, err = t.texts(`SELECT user_id FROM entries WHERE waitlist = $1 AND user_id IN ($*)`, users); err != nil {
		return k, err
	}
	k.codes, err = t.texts(`SELECT referral_code FROM entries WHERE waitlist = $1 AND referral_code IN ($*)`, codes)
	return k, err
}

var errCode = errors.New("somebody else has the referral code")

// importRows adds the rows that nobody has yet, and returns those that were brought by somebody.
func (t *tx) importRows(rows []row, k known, done *Imported) (credited []brought, err error) {
	var fresh []brought
	free := t.free(int64(len(rows)))
	for _, r := range rows {
		takes := r.status == Accepted || r.status == Invited
		switch {
		case r.address.Key != "" && k.keys[r.address.Key], r.UserID != "" && k.users[r.UserID]:
			done.Known++
			continue
		case k.codes[r.code]:
			done.fault(r.line, errCode)
			continue
		case takes && free == 0:
			done.fault(r.line, ErrFull)
			continue
		case takes:
			free--
		}
		k.keys[r.address.Key], k.users[r.UserID], k.codes[r.code] = true, true, true
		t.lastEntry++
		fresh = append(fresh, brought{r, t.lastEntry})
		if r.status == Unconfirmed {
			done.Unconfirmed++
		} else {
			done.Added++
		}
	}
	if err := t.insertEntries(fresh); err != nil {
		return nil, err
	}
	for _, b := range fresh {
		if err := t.importSpot(b); err != nil {
			return nil, err
		}
		if b.referrer != "" {
			credited = append(credited, b)
		}
	}
	return credited, nil
}

// insertEntries adds entries. Those who hold a spot wait until they are given it.
func (t *tx) insertEntries(fresh []brought) error {
	rows := make([][]any, len(fresh))
	for i, b := range fresh {
		status, confirmed := b.status, b.confirmed
		if status == Accepted || status == Invited {
			status = Waiting
		}
		if confirmed == 0 && status != Unconfirmed {
			confirmed = b.at
		}
		t.tell(EventJoined, b.number)
		if status == Expired {
			t.tell(EventExpired, b.number)
		}
		rows[i] = []any{
			t.list, b.number, t.version, string(status), b.priority, orNull(b.address.Typed), orNull(b.address.Key), orNull(b.address.Mailbox),
			orNull(b.UserID), b.Language, b.code, b.at, confirmed, t.now,
		}
	}
	return t.insert(`INSERT INTO entries (waitlist, number, version, status, priority, email, email_key, mailbox, user_id, language,
		referral_code, joined_at, confirmed_at, mailed_at)`, rows)
}

// importSpot gives somebody the spot that they hold where they come from.
func (t *tx) importSpot(b brought) error {
	state := spotLive
	switch b.status {
	case Accepted:
		state = spotAccepted
	case Invited:
	default:
		return nil
	}
	if err := t.give(b.number, state, t.now); err != nil {
		return err
	}
	from := cmp.Or(b.spot.from, t.now)
	return t.exec(`UPDATE spots SET released_at = $3, mailed_at = $3, accepted_at = $4, expires_at = CASE WHEN CAST($5 AS BIGINT) > 0 THEN CAST($5 AS BIGINT) ELSE expires_at END
		WHERE waitlist = $1 AND id = $2`, t.list, t.lastSpot, from, cmp.Or(b.accepted, t.now)*oneOf(state == spotAccepted), b.spot.expires)
}

// credit credits those who have brought others. Where the file has priorities, what they have
// earned is part of these.
func (i *importing) credit(ctx context.Context) error {
	for part := range slices.Chunk(i.brought, mostChanged) {
		err := i.list.proceed(ctx, &i.line, i.by, i.now, func(t *tx) (audited, error) {
			for _, b := range part {
				if err := t.importReferral(b, i.columns.has("priority")); err != nil {
					return audited{}, err
				}
			}
			return audited{action: "import", detail: strconv.Itoa(i.done.Added)}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// importReferral notes who has brought somebody, by a code or an address.
func (t *tx) importReferral(b brought, earned bool) error {
	address, _ := ParseAddress(b.referrer)
	s, found, err := t.find(`number <> $2 AND status <> 'unconfirmed' AND (referral_code = $3 OR mailbox = $4 AND email_key = $5)`,
		b.number, b.referrer, address.Mailbox, address.Key)
	if err != nil || !found {
		return err
	}
	if err := t.exec(`UPDATE entries SET referrer = $3 WHERE waitlist = $1 AND number = $2`, t.list, b.number, s.number); err != nil || b.status == Unconfirmed {
		return err
	}
	state, reason := "granted", ""
	switch r := Reason(b.referral); r {
	case "denied":
		state = "denied"
	case SameAddress, SameNetwork, SameDomain, Disposable:
		state, reason = "held", string(r)
	}
	err = t.exec(`INSERT INTO credits (waitlist, referee, referrer, state, reason, domain, at) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
		t.list, b.number, s.number, state, reason, ownDomain(b.address.Key), b.at)
	if err != nil || !earned {
		return errors.Join(err, t.boost(s.number))
	}
	return t.exec(`UPDATE entries SET boost = CASE WHEN boost + $3 > $4 THEN $4 ELSE boost + $3 END WHERE waitlist = $1 AND number = $2`,
		t.list, s.number, int64(t.settings.ReferralBoost)*oneOf(state == "granted"), t.settings.ReferralMax)
}
