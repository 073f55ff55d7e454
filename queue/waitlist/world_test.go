package waitlist_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

var (
	ctx   = context.Background()
	start = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
)

const operator = waitlist.Operator("olga")

// onBoth runs a test against SQLite and against PostgreSQL.
func onBoth(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) { test(t, sqliteFile(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, postgres.Database(t)) })
}

func sqliteFile(t testing.TB) string { return filepath.Join(t.TempDir(), "waitlists.db") }

// world is a list on one node or more, and a clock.
type world struct {
	t    testing.TB
	name string // of the database
	*waitlist.List
	now time.Time
	raw *sql.DB

	mu       sync.Mutex // guards prepared
	prepared map[string]*sql.Stmt
}

func settings(change ...func(*waitlist.Settings)) waitlist.Settings {
	s := waitlist.DefaultSettings()
	for _, c := range change {
		c(&s)
	}
	return s
}

func unconfirmed(s *waitlist.Settings) { s.ConfirmEmail = false }

func capacity(n int) func(*waitlist.Settings) { return func(s *waitlist.Settings) { s.Capacity = n } }

// newWorld opens a list in a database.
func newWorld(t testing.TB, name string, s waitlist.Settings) *world {
	t.Helper()
	w := &world{t: t, name: name, now: start, prepared: map[string]*sql.Stmt{}}
	w.List = w.node(s)
	driver, source := "sqlite", "file:"+name+"?_pragma=busy_timeout(10000)&_pragma=cache_size(-262144)"
	if strings.HasPrefix(name, "postgres") {
		driver, source = "pgx", name
	}
	var err error
	w.raw, err = sql.Open(driver, source)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.raw.Close() })
	return w
}

// node opens the list on another node.
func (w *world) node(s waitlist.Settings) *waitlist.List {
	w.t.Helper()
	store, err := waitlist.Open(ctx, w.name)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = store.Close() })
	l, err := store.List(ctx, "beta", s)
	require.NoError(w.t, err)
	return l
}

// scan reads a row of the record. To prepare a statement takes SQLite long with the race detector.
func (w *world) scan(query string, args []any, into ...any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.prepared[query]
	if s == nil {
		var err error
		if s, err = w.raw.PrepareContext(ctx, query); err != nil {
			return err
		}
		w.prepared[query] = s
	}
	return s.QueryRowContext(ctx, args...).Scan(into...)
}

func (w *world) after(d time.Duration) { w.now = w.now.Add(d) }

// number reads a number from the record.
func (w *world) number(query string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.scan(query, args, &n), query)
	return n
}

// has says whether somebody is a guest.
func has(_ waitlist.Guest, found bool) bool { return found }

func email(i int) string { return fmt.Sprintf("person%d@gmail.com", i) }

// join signs somebody up.
func (w *world) join(who waitlist.SignUp) waitlist.Place {
	w.t.Helper()
	p, err := w.Join(ctx, who, w.now)
	require.NoError(w.t, err)
	return p
}

// people signs up some people, who count at once.
func (w *world) people(n int) (places []waitlist.Place) {
	w.t.Helper()
	for i := range n {
		places = append(places, w.join(waitlist.SignUp{Email: email(i)}))
	}
	return places
}

// mails returns what is still to be sent to an address, the latest last.
func (w *world) mails(to string, kind waitlist.MailKind) (found []waitlist.Mail) {
	w.t.Helper()
	all, err := w.Outbox(ctx, 0, 1<<20)
	require.NoError(w.t, err)
	for _, m := range all {
		if m.To == to && m.Kind == kind {
			found = append(found, m)
		}
	}
	return found
}

// token returns the token of the latest mail of a kind to an address.
func (w *world) token(to string, kind waitlist.MailKind) string {
	w.t.Helper()
	found := w.mails(to, kind)
	require.NotEmpty(w.t, found, "no mail %s to %s", kind, to)
	return found[len(found)-1].Token
}

// enter signs an address up and confirms it.
func (w *world) enter(who waitlist.SignUp) waitlist.Place {
	w.t.Helper()
	w.join(who)
	p, err := w.Confirm(ctx, w.token(who.Email, waitlist.MailConfirm), nil, w.now)
	require.NoError(w.t, err)
	return p
}

func (w *world) release(n int) int {
	w.t.Helper()
	released, err := w.Release(ctx, n, operator, w.now)
	require.NoError(w.t, err)
	return released
}

func (w *world) sweep() waitlist.Swept {
	w.t.Helper()
	s, err := w.Sweep(ctx, w.now)
	require.NoError(w.t, err)
	return s
}

func (w *world) entry(number int64) waitlist.Entry {
	w.t.Helper()
	e, err := w.Entry(ctx, number, w.now)
	require.NoError(w.t, err)
	return e
}
