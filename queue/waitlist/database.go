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
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	_ "modernc.org/sqlite"             // the driver sqlite
)

// database is an SQLite file or a PostgreSQL database. The queries are the same for both.
type database struct {
	pool     *sql.DB       // for transactions
	reader   runner        // outside of any transaction
	serial   string        // makes the migrations of several nodes follow one another
	patience time.Duration // how long a transaction may take; 0 is without end
	sqlite   *sqlite       // nil with PostgreSQL
}

// sqlite is the one connection of a process that writes to an SQLite file, and those that read beside it.
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

// IsURL reports whether the name of a database is the URL of a PostgreSQL, which several nodes can share; others are paths.
func IsURL(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// CheckURL says what is wrong with the URL of a PostgreSQL, without repeating it: it may have a password.
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
	pool, err := sql.Open("pgx", name)
	if err != nil {
		return nil, fmt.Errorf("opening PostgreSQL: %w", err)
	}
	pool.SetMaxOpenConns(16)
	pool.SetMaxIdleConns(16)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return &database{pool: pool, reader: pool, serial: lock, patience: 30 * time.Second}, nil
}

// openSQLite opens a file. Others can read while one writes (write-ahead logging), and every commit is on the disk before it
// returns (synchronous FULL).
func openSQLite(ctx context.Context, path string) (*database, error) {
	pool, err := openFile(path, url.Values{
		"_pragma": {
			"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-65536)", "wal_autocheckpoint(8000)",
		},
		"_txlock": {"immediate"},
	})
	if err != nil {
		return nil, err
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), pool.Close())
	}
	readers, err := openFile(path, url.Values{"_pragma": {"busy_timeout(10000)", "query_only(1)", "cache_size(-16384)"}})
	if err != nil {
		return nil, errors.Join(err, conn.Close(), pool.Close())
	}
	readers.SetMaxOpenConns(4)
	readers.SetMaxIdleConns(4)
	return &database{
		pool: pool, reader: &statements{on: readers, prepared: map[string]*sql.Stmt{}}, serial: `SELECT 1`,
		sqlite: &sqlite{conn: conn, statements: &statements{on: conn, prepared: map[string]*sql.Stmt{}}, readers: readers},
	}, nil
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
	return errors.Join(d.sqlite.readers.Close(), d.sqlite.conn.Close(), d.pool.Close())
}

// inTransaction commits what do does, or nothing of it if do fails.
func (d *database) inTransaction(ctx context.Context, do func(ctx context.Context, on runner) error) error {
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
		return failed{err}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// failed is an error before the commit: nothing was done.
type failed struct{ error }

func (f failed) Unwrap() error { return f.error }

//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies the migrations that the database has not seen, all of them or none, once, also when several nodes start at
// the same time.
func (d *database) migrate(ctx context.Context) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	return d.inTransaction(ctx, func(ctx context.Context, on runner) error {
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
	_, err = on.ExecContext(ctx, string(text))
	return err
}
