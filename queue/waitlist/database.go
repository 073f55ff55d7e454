package waitlist

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	driver "modernc.org/sqlite" // named sqlite
	sqlitecode "modernc.org/sqlite/lib"
)

// database is an SQLite file or a PostgreSQL database. The queries are the same for both.
type database struct {
	pool     *sql.DB       // for transactions
	reader   runner        // outside of any transaction
	serial   string        // makes the migrations of several nodes follow one another
	patience time.Duration // how long a transaction may take; 0 is without end
	turn     time.Duration // how long a transaction goes on beginning jobs
	sqlite   *sqlite       // nil with PostgreSQL

	readiness

	clock func() time.Time // of this node
	ahead atomic.Int64     // nanoseconds by which the database's clock is ahead of it; 0 if they are about the same
}

// sqlite is the one connection of a process that writes to an SQLite file, and those that read
// beside it.
type sqlite struct {
	turn       sync.Mutex // held for a transaction
	conn       *sql.Conn
	statements *statements // of conn
	readers    *sql.DB
}

// open opens the database that a URL or a path names.
func open(ctx context.Context, name string) (*database, error) {
	if IsURL(name) {
		return openPostgres(name)
	}
	return openSQLite(ctx, name)
}

// IsURL reports whether the name of a database is the URL of a PostgreSQL, which several nodes can
// share; others are paths.
func IsURL(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// CheckURL says what is wrong with the URL of a PostgreSQL, without repeating it: it may have a
// password.
func CheckURL(name string) error {
	if _, err := pgx.ParseConfig(name); err != nil {
		return errors.New("the URL of PostgreSQL is not valid: expects postgres://user:password@host/name")
	}
	return nil
}

// lock takes a lock that lasts as long as the transaction. Nobody else is likely to use its number.
const lock = `SELECT pg_advisory_xact_lock(7205759403792793)`

func openPostgres(name string) (*database, error) {
	if err := CheckURL(name); err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(name)
	if err != nil {
		return nil, fmt.Errorf("opening PostgreSQL: %w", err)
	}
	guard(config.RuntimeParams)
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = longestConnect
	}
	pool := stdlib.OpenDB(*config)
	pool.SetMaxOpenConns(16)
	pool.SetMaxIdleConns(16)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	d := &database{pool: pool, serial: lock, patience: 30 * time.Second, turn: longestTurn, clock: time.Now}
	d.reader = awaited{d}
	return d, nil
}

// longestConnect is how long it may take to connect to a PostgreSQL, and to ask it for its time.
const longestConnect = 5 * time.Second

// guard sets what a session needs, so that a node that is stuck in a transaction does not stop the
// others: the server ends its session before those who wait for the list give up. The URL can say
// otherwise. The queries are made for one level of isolation.
func guard(session map[string]string) {
	for name, value := range map[string]string{
		"idle_in_transaction_session_timeout": "10s", "lock_timeout": "20s",
		"statement_timeout": strconv.FormatInt(longestQuery.Milliseconds(), 10),
		// A plan that was made while a list was short would read all of it for each hundred that an
		// import adds.
		"plan_cache_mode": "force_custom_plan",
	} {
		if session[name] == "" {
			session[name] = value
		}
	}
	session["default_transaction_isolation"] = "read committed"
}

// sameClock is how far two clocks may be apart that count as one.
const sameClock = time.Second

// compareClocks measures how far the database's clock is ahead of this node's. A file has no clock.
// What took too long says too little.
func (d *database) compareClocks(ctx context.Context) error {
	if d.sqlite != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, longestConnect)
	defer cancel()
	var theirs int64
	began := d.clock()
	if _, err := one(ctx, d.reader, `SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`, nil, &theirs); err != nil {
		return err
	}
	took := d.clock().Sub(began)
	if took > sameClock {
		return nil
	}
	ahead := time.UnixMilli(theirs).Sub(began.Add(took / 2))
	if ahead.Abs() <= sameClock+took/2 {
		ahead = 0
	}
	d.ahead.Store(int64(ahead))
	return nil
}

// whileBusy is how long an SQLite file is waited for that another process has locked.
const whileBusy = 10 * time.Second

var busyTimeout = fmt.Sprintf("busy_timeout(%d)", whileBusy.Milliseconds())

// openSQLite opens a file. Others can read while one writes (write-ahead logging), and every commit
// is on the disk before it returns (synchronous FULL).
func openSQLite(ctx context.Context, path string) (*database, error) {
	pool, err := openFile(path, url.Values{
		"_pragma": {
			busyTimeout, "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-65536)", "wal_autocheckpoint(8000)", "secure_delete(1)",
		},
		"_txlock": {"immediate"},
	})
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, pool)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), pool.Close())
	}
	readers, err := openFile(path, url.Values{"_pragma": {busyTimeout, "query_only(1)", "cache_size(-16384)"}})
	if err != nil {
		return nil, errors.Join(err, conn.Close(), pool.Close())
	}
	readers.SetMaxOpenConns(4)
	readers.SetMaxIdleConns(4)
	return &database{
		turn: longestTurn, pool: pool, reader: &statements{on: readers, prepared: map[string]*sql.Stmt{}}, serial: `SELECT 1`,
		sqlite: &sqlite{conn: conn, statements: &statements{on: conn, prepared: map[string]*sql.Stmt{}}, readers: readers},
	}, nil
}

// connect opens a connection. While another process opens the file for the first time, or closes it
// for the last time, SQLite says that the file is busy, and does not wait for it.
func connect(ctx context.Context, pool *sql.DB) (*sql.Conn, error) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for until := time.Now().Add(whileBusy); ; {
		conn, err := pool.Conn(ctx)
		var fault *driver.Error
		if !errors.As(err, &fault) || fault.Code()&0xff != sqlitecode.SQLITE_BUSY || time.Now().After(until) {
			return conn, err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

func openFile(path string, options url.Values) (*sql.DB, error) {
	pool, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()+"?"+options.Encode())
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return pool, nil
}

func (d *database) close() error {
	if d.sqlite == nil {
		return d.pool.Close()
	}
	err := d.sqlite.readers.Close()
	_, wiped := d.wipe(context.Background()) // of what was erased last
	return errors.Join(err, wiped, d.sqlite.conn.Close(), d.pool.Close())
}

// wipe brings an SQLite file up to date with its log and empties the log: what was erased is in
// neither then, since the file is written over where something is deleted (secure_delete). It is
// not wiped while somebody reads. PostgreSQL does the like by itself, when it vacuums.
func (d *database) wipe(ctx context.Context) (wiped bool, err error) {
	if d.sqlite == nil {
		return true, nil
	}
	d.sqlite.turn.Lock()
	defer d.sqlite.turn.Unlock()
	var busy, pages, written int
	_, err = one(ctx, d.sqlite.conn, `PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &pages, &written)
	return err == nil && busy == 0, err
}

// inTransaction commits what do does, or nothing of it if do fails.
func (d *database) inTransaction(ctx context.Context, do func(ctx context.Context, on runner) error) error {
	if err := d.ensure(ctx); err != nil {
		return err
	}
	return d.transact(ctx, do)
}

// transact is inTransaction also while the tables are not up to date.
func (d *database) transact(ctx context.Context, do func(ctx context.Context, on runner) error) error {
	if d.patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.patience)
		defer cancel()
	}
	begin := d.pool.BeginTx
	if d.sqlite != nil {
		d.sqlite.turn.Lock()
		defer d.sqlite.turn.Unlock()
		begin = d.sqlite.conn.BeginTx
	}
	tx, err := begin(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing to do after Commit
	var on runner = tx
	if d.sqlite != nil {
		on = d.sqlite.statements // of the connection that the transaction is on
	}
	if err := do(ctx, on); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies the migrations that the database has not seen, all of them or none, once, also
// when several nodes start at the same time.
func (d *database) migrate(ctx context.Context) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	return d.transact(ctx, func(ctx context.Context, on runner) error {
		for _, step := range []string{d.serial, `CREATE TABLE IF NOT EXISTS waitlist_migrations (name TEXT PRIMARY KEY)`} {
			if _, err := on.ExecContext(ctx, step); err != nil {
				return fmt.Errorf("preparing migrations: %w", err)
			}
		}
		for _, file := range files {
			if err := d.apply(ctx, on, file); err != nil {
				return fmt.Errorf("applying %s: %w", file, err)
			}
		}
		return nil
	})
}

func (d *database) apply(ctx context.Context, on runner, file string) error {
	text, err := migrations.ReadFile(file)
	if err != nil {
		return err
	}
	added, err := on.ExecContext(ctx, `INSERT INTO waitlist_migrations (name) VALUES ($1) ON CONFLICT DO NOTHING`, filepath.Base(file))
	if err != nil {
		return err
	}
	if n, err := added.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if d.sqlite != nil {
		on = d.sqlite.conn // a prepared statement is only the first of several
	}
	if _, err = on.ExecContext(ctx, string(text)); err != nil || filepath.Base(file) != respelled {
		return err
	}
	return respell(ctx, on)
}

// respelled is the migration since which mailboxes are what ParseAddress makes of addresses.
const respelled = "0006_mailings.sql"

// respell brings the mailboxes of entries up to date.
func respell(ctx context.Context, on runner) error {
	type mailbox struct{ old, key, new string }
	var changed []mailbox
	err := each(ctx, on, `SELECT mailbox, email_key FROM entries WHERE mailbox IS NOT NULL`, nil, func(scan func(into ...any) error) error {
		var m mailbox
		err := scan(&m.old, &m.key)
		if m.new = (Address{Key: m.key}).alike(); m.new != m.old {
			changed = append(changed, m)
		}
		return err
	})
	for i := 0; i < len(changed) && err == nil; i++ {
		_, err = on.ExecContext(ctx, `UPDATE entries SET mailbox = $3 WHERE mailbox = $1 AND email_key = $2`, changed[i].old, changed[i].key, changed[i].new)
	}
	return err
}
