// Package postgrestest starts a real PostgreSQL server for tests. It needs Debian's package
// postgresql, or another one with initdb and postgres in the PATH, and fails, rather than skips,
// where there is none. The server listens on a socket in a directory of its own.
package postgrestest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	"github.com/stretchr/testify/require"
)

// patience is how long the server may take to start.
const patience = 30 * time.Second

// Server is a PostgreSQL server.
type Server struct {
	dir   string
	cmd   *exec.Cmd
	ended chan struct{}
	log   bytes.Buffer // written until ended is closed
	made  atomic.Int64
}

// Start starts a server and waits until it answers. Whoever starts it has to Stop it.
func Start() (*Server, error) {
	dir, err := os.MkdirTemp("", "pg") // a short path: that of a socket has 107 bytes at most
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, ended: make(chan struct{})}
	if err := s.start(); err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("starting PostgreSQL: %w", err)
	}
	return s, nil
}

func (s *Server) start() error {
	if err := own(s.dir); err != nil {
		return err
	}
	data := filepath.Join(s.dir, "data")
	initdb, err := command("initdb", "-D", data, "-U", "postgres", "--auth", "trust", "--no-sync", "--locale", "C", "--encoding", "UTF8")
	if err != nil {
		return err
	}
	initdb.Dir = s.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	s.cmd, err = command("postgres", "-D", data, "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200")
	if err != nil {
		return err
	}
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = s.dir, &s.log, &s.log
	started := make(chan error, 1)
	go s.live(started)
	if err := <-started; err != nil {
		return err
	}
	return s.answers()
}

// command is a program of PostgreSQL, which refuses to run as root.
func command(name string, args ...string) (*exec.Cmd, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
		if len(found) == 0 {
			return nil, errors.New("these tests need " + name + ": apt-get install postgresql")
		}
		path = found[len(found)-1]
	}
	cmd := exec.Command(path, args...)
	return cmd, asOther(cmd)
}

func (s *Server) answers() error {
	db, err := sql.Open("pgx", s.url(""))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for deadline := time.Now().Add(patience); ; {
		if err = db.PingContext(context.Background()); err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("it ended: %s", s.log.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return errors.Join(err, s.Stop())
		}
	}
}

func (s *Server) url(schema string) string {
	options := url.Values{"host": {s.dir}, "user": {"postgres"}}
	if schema != "" {
		options.Set("search_path", schema)
	}
	return "postgres:///postgres?" + options.Encode()
}

// Database returns the URL of a database, as far as a test can see, with nothing in it.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	schema := "test" + strconv.FormatInt(s.made.Add(1), 10)
	db, err := sql.Open("pgx", s.url(""))
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(context.Background(), "CREATE SCHEMA "+schema)
	require.NoError(t, err)
	return s.url(schema)
}

// Stop ends the server and removes its files.
func (s *Server) Stop() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-s.ended
	return os.RemoveAll(s.dir)
}

// wait starts the process and waits for its end.
func (s *Server) wait(started chan<- error) {
	defer close(s.ended)
	err := s.cmd.Start()
	started <- err
	if err == nil {
		_ = s.cmd.Wait() // interrupted, as a rule
	}
}
