package waitlist

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// columns are those of an export. An import may have them in any order, and may lack any but email and user_id, of which it has one.
// It does not read the rank.
var columns = []string{"email", "user_id", "status", "priority", "rank", "referral_code", "language", "joined_at"}

// exportPage is how many entries an export reads at a time.
const exportPage = 1000

// Export writes all entries but removed ones as CSV, in the order in which they were added, with a header line: so nobody is left out
// whose rank changes meanwhile. A cell that a spreadsheet would take for a formula begins with an apostrophe, which Import takes away.
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
		for _, e := range page {
			if err := out.Write(e.cells()); err != nil {
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
	return []string{
		harmless(e.Email), harmless(e.UserID), string(e.Status), strconv.Itoa(e.Priority), rank, harmless(e.ReferralCode), harmless(e.Language),
		e.JoinedAt.UTC().Format(time.RFC3339),
	}
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

// Imported says what an import has done.
type Imported struct {
	Added       int
	Known       int         // were on the list already, and stay as they are
	Unconfirmed int         // where they come from, and passed over: their owners have to sign up here
	Faulty      int         // lines that were left out
	Faults      []LineFault // the first of them, at most a thousand
}

// mostFaults is how many faults an import tells of.
const mostFaults = 1000

// LineFault is a line of an import that was left out.
type LineFault struct {
	Line    int
	Problem string
}

func (i *Imported) fault(line int, problem error) {
	if i.Faulty++; len(i.Faults) < mostFaults {
		i.Faults = append(i.Faults, LineFault{line, problem.Error()})
	}
}

// mostImported is the most priority that an import gives somebody, up or down: what an operator and Settings.ReferralMax can have given.
// What referrals earn here comes on top of it.
const mostImported = MostPriority + 1000

// longestText is the most bytes of a cell: the indexes of PostgreSQL take no more than 2704.
const longestText = 1000

// Import adds entries from CSV with a header line, in the order of the lines, behind those on the list unless their priority says
// otherwise. The operator vouches for the addresses: nobody is asked to confirm, and nobody gets a mail. A status is waiting (also for
// none, and for invited), accepted, which takes a spot, or expired; unconfirmed lines are passed over. The error is ErrColumns, or one of
// the reader or of the database: what was added before it stays.
func (l *List) Import(ctx context.Context, r io.Reader, by Operator, now time.Time) (done Imported, err error) {
	in := csv.NewReader(r)
	header, err := readHeader(in)
	if err != nil {
		return done, err
	}
	var line int64
	for more := true; more; {
		var part []row
		if part, more, err = readRows(in, header, now, &done); err != nil {
			return done, fmt.Errorf("importing CSV: %w", err)
		}
		if err := l.importRows(ctx, part, &line, by, now, &done); err != nil {
			return done, err
		}
	}
	return done, nil
}

// readHeader reads the names of the columns.
func readHeader(in *csv.Reader) ([]string, error) {
	header, err := in.Read()
	if fault := new(csv.ParseError); errors.Is(err, io.EOF) || errors.As(err, &fault) {
		return nil, ErrColumns
	}
	if err != nil {
		return nil, fmt.Errorf("importing CSV: %w", err)
	}
	for i, name := range header {
		header[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))
	}
	if !slices.Contains(header, "email") && !slices.Contains(header, "user_id") {
		return nil, ErrColumns
	}
	return header, nil
}

// readRows reads as many lines as one transaction adds, and reports whether there may be more.
func readRows(in *csv.Reader, header []string, now time.Time, done *Imported) (rows []row, more bool, err error) {
	for len(rows) < mostChanged {
		cells, err := in.Read()
		fault := new(csv.ParseError)
		switch {
		case errors.Is(err, io.EOF):
			return rows, false, nil
		case errors.As(err, &fault):
			done.fault(fault.StartLine, fault.Err)
			continue
		case err != nil:
			return nil, false, err
		}
		line, _ := in.FieldPos(0)
		a, err := readRow(header, cells, now)
		switch {
		case err != nil:
			done.fault(line, err)
		case a.status == Unconfirmed:
			done.Unconfirmed++
		default:
			rows = append(rows, row{line, a})
		}
	}
	return rows, true, nil
}

// row is a line of an import.
type row struct {
	line int
	arrival
}

// readCells reads the cells of a line, by the names of their columns.
func readCells(header, cells []string) (map[string]string, error) {
	cell := map[string]string{}
	for i, name := range header {
		text := strings.TrimSpace(cells[i])
		if rest, ok := strings.CutPrefix(text, "'"); ok && formula(rest) {
			text = rest
		}
		switch {
		case !isText(text) && slices.Contains(columns, name):
			return nil, fmt.Errorf("%s is not UTF-8", name)
		case len(text) > longestText && slices.Contains(columns, name):
			return nil, fmt.Errorf("%s has more than %d bytes", name, longestText)
		}
		cell[name] = text
	}
	return cell, nil
}

func readRow(header, cells []string, now time.Time) (arrival, error) {
	cell, err := readCells(header, cells)
	if err != nil {
		return arrival{}, err
	}
	a, err := SignUp{Email: cell["email"], UserID: cell["user_id"], Language: cell["language"]}.arrival(now)
	if err != nil {
		return a, err
	}
	a.mailed = 0
	if code := cell["referral_code"]; code != "" {
		a.code = code
	}
	if text := cell["priority"]; text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < -math.MaxInt16 || n > math.MaxInt16 {
			return a, fmt.Errorf("the priority is not a number from %d to %d", -math.MaxInt16, math.MaxInt16)
		}
		a.priority = int64(max(-mostImported, min(n, mostImported)))
	}
	if text := cell["joined_at"]; text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return a, errors.New("joined_at is not a time such as 2026-11-22T10:00:00Z")
		}
		a.at = at.UnixMilli()
	}
	switch a.status = Status(cell["status"]); a.status {
	case "", Invited:
		a.status = Waiting
	case Unconfirmed, Waiting, Accepted, Expired:
	default:
		return a, fmt.Errorf("an entry cannot be imported as %s", a.status)
	}
	return a, nil
}

// importRows adds rows in one transaction.
func (l *List) importRows(ctx context.Context, rows []row, line *int64, by Operator, now time.Time, done *Imported) error {
	if len(rows) == 0 {
		return nil
	}
	var sum Imported
	err := l.proceed(ctx, line, by, now, func(t *tx) (audited, error) {
		sum = *done
		for _, r := range rows {
			if err := t.importRow(r, now.UnixMilli(), &sum); err != nil {
				return audited{}, err
			}
		}
		return audited{action: "import", detail: strconv.Itoa(sum.Added)}, nil
	})
	if err == nil {
		*done = sum
	}
	return err
}

var errCode = errors.New("somebody else has the referral code")

func (t *tx) importRow(r row, now int64, done *Imported) error {
	known, err := t.scan(`SELECT 1 FROM entries WHERE waitlist = $1 AND (mailbox = $2 AND email_key = $3 OR user_id = NULLIF($4, '')) LIMIT 1`,
		[]any{t.list, r.address.Mailbox, r.address.Key, r.UserID}, new(int))
	if err != nil {
		return err
	}
	_, taken, err := t.find(`referral_code = $2`, r.code)
	switch {
	case err != nil:
		return err
	case known:
		done.Known++
		return nil
	case taken:
		done.fault(r.line, errCode)
		return nil
	case r.status == Accepted && t.free(1) == 0:
		done.fault(r.line, ErrFull)
		return nil
	}
	accepted := r.status == Accepted
	if accepted {
		r.status = Waiting
	}
	number, err := t.enter(r.arrival)
	if err == nil && accepted {
		_, err = t.give(number, 0, spotAccepted, now)
	}
	done.Added++
	return err
}
