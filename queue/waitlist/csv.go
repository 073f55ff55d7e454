package waitlist

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// columns are those of an export. An import may have them in any order, and may lack any but email
// and user_id, of which it has one.
var columns = []string{
	"email", "user_id", "status", "priority", "rank", "referral_code", "language", "joined_at",
	"confirmed_at", "invited_at", "invite_expires_at", "accepted_at", "referrer", "referral",
}

// exportPage is how many entries an export reads at a time.
const exportPage = 1000

// Export writes all entries but removed ones as CSV, in the order in which they were added, with a
// header line: so nobody is left out whose rank changes meanwhile. A cell that a spreadsheet would
// take for a formula begins with an apostrophe, which Import takes away.
func (l *List) Export(ctx context.Context, w io.Writer, by Operator, now time.Time) error {
	err := l.operate(ctx, by, now, func(*tx) (audited, error) { return audited{action: "export"}, nil })
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	for last, more := int64(0), true; more; {
		page, err := l.entries(ctx, `e.status <> 'removed' AND e.number > $2 ORDER BY e.number LIMIT $3`, last, exportPage)
		if err != nil {
			return err
		}
		brought, err := l.referrals(ctx, last, page)
		if err != nil {
			return err
		}
		for _, e := range page {
			by := brought[e.Number]
			if err := out.Write(append(e.cells(), by[0], by[1])); err != nil {
				return fmt.Errorf("writing CSV: %w", err)
			}
			last = e.Number
		}
		more = len(page) == exportPage
	}
	out.Flush()
	return out.Error()
}

func (e Entry) cells() []string {
	rank := ""
	if e.Rank > 0 {
		rank = strconv.Itoa(e.Rank)
	}
	var invited, expires, accepted time.Time // of a spot that is held
	switch e.Status {
	case Invited:
		invited, expires = e.InvitedAt, e.expires
	case Accepted:
		invited, accepted = e.InvitedAt, e.AcceptedAt
	default:
	}
	return []string{
		harmless(e.Email), harmless(e.UserID), string(e.Status), strconv.Itoa(e.Priority), rank, harmless(e.ReferralCode), harmless(e.Language),
		moment(e.JoinedAt), moment(e.ConfirmedAt), moment(invited), moment(expires), moment(accepted),
	}
}

// moment is a time as a cell; "" for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// referrals returns the last cells of a page of an export that begins after an entry: the code of
// who has brought somebody, and what has become of that.
func (l *List) referrals(ctx context.Context, after int64, page []Entry) (map[int64][2]string, error) {
	found := map[int64][2]string{}
	if len(page) == 0 {
		return found, nil
	}
	err := each(ctx, l.db.reader, `SELECT e.number, COALESCE(r.referral_code, ''), COALESCE(c.state, ''), COALESCE(c.reason, '') FROM entries e
		JOIN entries r ON r.waitlist = e.waitlist AND r.number = e.referrer
		LEFT JOIN credits c ON c.waitlist = e.waitlist AND c.referee = e.number
		WHERE e.waitlist = $1 AND e.number > $2 AND e.number <= $3`, []any{l.name, after, page[len(page)-1].Number}, func(scan func(into ...any) error) error {
		var number int64
		var code, state, reason string
		err := scan(&number, &code, &state, &reason)
		if state == "held" {
			state = reason
		}
		found[number] = [2]string{harmless(code), state}
		return err
	})
	return found, err
}

// isText reports whether databases take a text.
func isText(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// harmless is a text that no spreadsheet takes for a formula.
func harmless(text string) string {
	if formula(text) {
		return "'" + text
	}
	return text
}

func formula(text string) bool { return text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) }
