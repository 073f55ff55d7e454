package waitlist

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// Search says which entries are listed. The zero value lists all.
type Search struct {
	Status Status // "" for any
	Text   string // a part of the address or of the user's name, in capitals or not, or a referral code; "" for any
	After  int64  // the number of the entry after which the page begins; 0 for the first page
	Most   int    // entries on the page; 0 for 100
}

// Page is a part of a listing.
type Page struct {
	Entries []Entry // in order of rank: by priority, then by number
	Total   int     // how many there are on all pages
}

// escaped are the characters that mean something in a pattern.
var escaped = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// terms are conditions that entries meet all of. Their values begin with $2.
type terms struct {
	text strings.Builder
	args []any
}

// and adds a condition with a question mark for each of its values.
func (t *terms) and(condition string, args ...any) {
	if t.text.Len() > 0 {
		t.text.WriteString(` AND `)
	}
	for i, part := range strings.Split(condition, `?`) {
		if i > 0 {
			t.args = append(t.args, args[i-1])
			t.text.WriteString(`$` + strconv.Itoa(1+len(t.args)))
		}
		t.text.WriteString(part)
	}
}

// terms are those of the search. There are few different texts, so that each is prepared once.
func (s Search) terms() *terms {
	t := new(terms)
	if s.Status == "" {
		t.and(`e.status <> 'removed'`)
	} else {
		t.and(`e.status = ?`, string(s.Status))
	}
	if s.Text != "" {
		t.contain(s.Text)
	}
	return t
}

// contain adds that an entry has a text. LOWER knows no letters but those of ASCII in SQLite, so
// the text is looked for as it is too; and an address is found by its key, however it was typed.
func (t *terms) contain(text string) {
	exact := "%" + escaped.Replace(text) + "%"
	lower := strings.ToLower(exact)
	address, _ := ParseAddress(text) // the key is "" if the text is none, and no entry has that
	t.and(`(e.email_key = ? OR e.email_key LIKE ? ESCAPE '\' OR e.email LIKE ? ESCAPE '\' OR LOWER(e.email) LIKE ? ESCAPE '\'
		OR e.user_id LIKE ? ESCAPE '\' OR LOWER(e.user_id) LIKE ? ESCAPE '\' OR e.referral_code = ?)`,
		address.Key, lower, exact, lower, exact, lower, text)
}

// Entries lists entries. Removed ones are among them only if they are asked for. The errors are
// ErrText, and ErrNotFound if the entry that the page begins after was never there. With a million
// entries it takes some tenths of a second to count them, and up to seconds to look for a text.
func (l *List) Entries(ctx context.Context, s Search) (p Page, err error) {
	if !isText(s.Text) {
		return Page{}, ErrText
	}
	if err := l.Follow(ctx); err != nil {
		return Page{}, err
	}
	t := s.terms()
	_, err = one(ctx, l.db.reader, `SELECT COUNT(*) FROM entries e WHERE e.waitlist = $1 AND `+t.text.String(), append([]any{l.name}, t.args...), &p.Total)
	if err != nil {
		return Page{}, err
	}
	p.Entries, err = l.page(ctx, s)
	return p, err
}

// page is Entries without the total.
func (l *List) page(ctx context.Context, s Search) ([]Entry, error) {
	if s.Most <= 0 {
		s.Most = 100
	}
	if s.After == 0 {
		return l.entriesInOrder(ctx, s.terms(), s.Most)
	}
	priority, err := l.priority(ctx, s.After)
	if err != nil {
		return nil, err
	}
	// Each of the two reads one range of an index. A condition for both would have the first pass
	// over all of the same priority.
	same := s.terms()
	same.and(`e.priority = ? AND e.number > ?`, priority, s.After)
	list, err := l.entriesInOrder(ctx, same, s.Most)
	if err != nil || len(list) == s.Most {
		return list, err
	}
	lower := s.terms()
	lower.and(`e.priority < ?`, priority)
	rest, err := l.entriesInOrder(ctx, lower, s.Most-len(list))
	return append(list, rest...), err
}

// priority returns the priority of an entry, or the one that it had: a sign-up that nobody
// confirmed is erased, also in the middle of a listing. Nobody but an operator can have given it
// one, and the audit log has that.
func (l *List) priority(ctx context.Context, number int64) (priority int64, err error) {
	found, err := one(ctx, l.db.reader, `SELECT COALESCE(
			(SELECT priority FROM entries WHERE waitlist = $1 AND number = $2),
			(SELECT CAST(detail AS BIGINT) FROM audit WHERE waitlist = $1 AND number = $2 AND action = 'priority' ORDER BY id DESC LIMIT 1),
			0) FROM waitlists WHERE name = $1 AND last_entry >= $2`, []any{l.name, number}, &priority)
	if err == nil && !found {
		err = ErrNotFound
	}
	return priority, err
}

func (l *List) entriesInOrder(ctx context.Context, t *terms, most int) ([]Entry, error) {
	t.text.WriteString(` ORDER BY e.priority DESC, e.number LIMIT $` + strconv.Itoa(2+len(t.args)))
	return l.entries(ctx, t.text.String(), append(t.args, most)...)
}

// Numbers are the figures of a list.
type Numbers struct {
	Entries map[Status]int
	Held    int // live invites and acceptances
	Owed    int // spots that have ended and go to the next who comes
	Mails   int // still to be sent
	Paused  bool

	// Released, Accepted and Expired count the spots that were ever released, accepted, and left to
	// expire.
	Released, Accepted, Expired int

	Undelivered int // of those that have expired: the mail could not be delivered

	Next time.Time // when the next invite expires; zero if there is none
}

// Numbers counts: with a million entries that takes some tenths of a second.
func (l *List) Numbers(ctx context.Context) (n Numbers, err error) {
	n.Entries = map[Status]int{}
	err = each(ctx, l.db.reader, `SELECT status, COUNT(*) FROM entries WHERE waitlist = $1 GROUP BY status`, []any{l.name},
		func(scan func(into ...any) error) error {
			var s Status
			var count int
			err := scan(&s, &count)
			n.Entries[s] = count
			return err
		})
	if err != nil {
		return Numbers{}, err
	}
	var paused, next int64
	_, err = one(ctx, l.db.reader, `SELECT held, paused, last_spot, accepted, expired, undelivered,
			(SELECT COUNT(*) FROM spots WHERE waitlist = $1 AND owed = 1),
			(SELECT COUNT(*) FROM outbox WHERE waitlist = $1),
			(SELECT COALESCE(MIN(expires_at), 0) FROM spots WHERE waitlist = $1 AND state = 'live')
		FROM waitlists WHERE name = $1`, []any{l.name}, &n.Held, &paused, &n.Released, &n.Accepted, &n.Expired, &n.Undelivered, &n.Owed, &n.Mails, &next)
	n.Paused, n.Next = paused != 0, when(next)
	return n, err
}

// Find returns the number of the entry that a text names: its number, its address, or a user of the
// site. A user's name that is a number or has an @ needs user: before it. The error is ErrNotFound.
func (l *List) Find(ctx context.Context, text string) (number int64, err error) {
	if number, err := strconv.ParseInt(text, 10, 64); err == nil {
		return number, nil
	}
	user, named := strings.CutPrefix(text, "user:")
	condition, args := `user_id = $2`, []any{l.name, user}
	if a, err := ParseAddress(text); err == nil && !named {
		condition, args = `mailbox = $2 AND email_key = $3`, []any{l.name, a.Mailbox, a.Key}
	} else if !isName(user) {
		return 0, ErrNotFound
	}
	found, err := one(ctx, l.db.reader, `SELECT number FROM entries WHERE waitlist = $1 AND `+condition, args, &number)
	if err == nil && !found {
		err = ErrNotFound
	}
	return number, err
}
