package redistest

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/certtest"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// patience is how long a test waits for a server.
const patience = time.Minute

// Options are what a server is started with. The zero value is a server without
// a password that keeps nothing on disk.
type Options struct {
	MaxMemory  string // as in redis.conf; "" for no limit
	Policy     string // maxmemory-policy; "" for noeviction
	AppendOnly bool   // every write is on disk before it is answered
	Password   string // of the default user

	// User and what they may, as in ACL SETUSER, beside the default user.
	User, UserPassword, Rules string

	TLS     bool     // TLS only, with a certificate for 127.0.0.1 and localhost
	Cluster bool     // to be a node of a Cluster
	Args    []string // more arguments of redis-server
}

// Server is a redis-server process.
type Server struct {
	Addr string // 127.0.0.1 and the port
	CA   string // PEM file of the certificate authority; "" without TLS

	t       testing.TB
	options Options
	dir     string
	args    []string
	cmd     *exec.Cmd
	ended   chan struct{}
	admin   *redis.Client
}

// Start starts a server and waits until it answers.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	args := o.args()
	if o.Cluster {
		// By itself a server listens for its peers 10000 above its port, which may be too high.
		_, bus, _ := strings.Cut(porttest.Address(t), ":")
		args = append(args, "--cluster-enabled", "yes", "--cluster-port", bus)
	}
	s := prepare(t, o, args...)
	s.run()
	return s
}

func (o Options) args() []string {
	args := []string{"--save", "", "--appendonly", "no"}
	if o.AppendOnly {
		args = []string{"--save", "", "--appendonly", "yes", "--appendfsync", "always"}
	}
	if o.MaxMemory != "" {
		args = append(args, "--maxmemory", o.MaxMemory)
	}
	if o.Policy != "" {
		args = append(args, "--maxmemory-policy", o.Policy)
	}
	if o.Password != "" {
		args = append(args, "--requirepass", o.Password)
	}
	return append(args, o.Args...)
}

func prepare(t testing.TB, o Options, args ...string) *Server {
	t.Helper()
	_, err := exec.LookPath("redis-server")
	require.NoError(t, err, "these tests need redis-server: apt-get install redis-server")
	s := &Server{t: t, options: o, dir: t.TempDir(), args: args, Addr: porttest.Address(t)}
	config := &redis.Options{
		Addr: s.Addr, Password: o.Password, DisableIdentity: true, DialerRetries: 1, MaxRetries: -1, PoolSize: 2,
		DialTimeout: time.Second, ReadTimeout: patience,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if o.TLS {
		s.CA = filepath.Join(s.dir, "cert.pem")
		require.NoError(t, certtest.Write(s.CA, filepath.Join(s.dir, "key.pem"), "localhost", "127.0.0.1"))
		config.TLSConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the test's own server
	}
	s.admin = redis.NewClient(config)
	t.Cleanup(func() {
		s.Kill()
		_ = s.admin.Close()
	})
	return s
}

func (s *Server) port() string {
	_, port, _ := net.SplitHostPort(s.Addr)
	return port
}

// command is the command line, without what is different for a Sentinel.
func (s *Server) command() []string {
	listen := []string{"--port", s.port()}
	if s.options.TLS {
		listen = []string{
			"--port", "0", "--tls-port", s.port(), "--tls-auth-clients", "no", "--tls-ca-cert-file", s.CA,
			"--tls-cert-file", s.CA, "--tls-key-file", filepath.Join(s.dir, "key.pem"),
		}
	}
	return append(append(listen, "--bind", "127.0.0.1", "--dir", s.dir, "--daemonize", "no"), s.args...)
}

// run starts the process and waits until it answers.
func (s *Server) run() {
	s.t.Helper()
	s.runWith(s.command()...)
	if o := s.options; o.User != "" {
		s.Do(append([]any{"ACL", "SETUSER", o.User, "on", ">" + o.UserPassword}, words(o.Rules)...)...)
	}
}

func words(text string) []any {
	var list []any
	for word := range strings.FieldsSeq(text) {
		list = append(list, word)
	}
	return list
}

func (s *Server) runWith(args ...string) {
	s.t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(s.t, err)
	s.cmd = exec.Command("redis-server", args...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.ended = make(chan struct{})
	started := make(chan error, 1)
	go s.live(started, log)
	require.NoError(s.t, <-started, "starting redis-server")
	Until(s.t, "redis-server answers", func() bool {
		select {
		case <-s.ended:
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			require.FailNow(s.t, "redis-server ended", string(text))
		default:
		}
		conn, err := net.Dial("tcp", s.Addr)
		if err != nil {
			return false
		}
		_ = conn.Close()
		return s.admin.Ping(context.Background()).Err() == nil
	})
}

// URL is the server's address as the store's setting has it, with the ACL user
// if there is one, else with the password.
func (s *Server) URL() string {
	u := url.URL{Scheme: "redis", Host: s.Addr}
	switch {
	case s.options.User != "":
		u.User = url.UserPassword(s.options.User, s.options.UserPassword)
	case s.options.Password != "":
		u.User = url.UserPassword("", s.options.Password)
	}
	if s.options.TLS {
		u.Scheme = "rediss"
		u.RawQuery = url.Values{"ca": {s.CA}}.Encode()
	}
	return u.String()
}

// Client returns a client of the server for the test itself, which the Server
// closes.
func (s *Server) Client() *redis.Client { return s.admin }

// Do runs a command and returns its reply.
func (s *Server) Do(args ...any) any {
	s.t.Helper()
	reply, err := s.admin.Do(context.Background(), args...).Result()
	if err != redis.Nil { //nolint:errorlint // Do returns it bare
		require.NoError(s.t, err, "%v", args)
	}
	return reply
}

// Info returns a field of INFO; "" where the server does not tell it now.
func (s *Server) Info(section, field string) string {
	text, _ := s.admin.Info(context.Background(), section).Result()
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Kill ends the process as kill -9 does. It does nothing if it has ended.
func (s *Server) Kill() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}

// Stop freezes the process: connections stay, and nothing is answered.
func (s *Server) Stop() { s.signal(syscall.SIGSTOP) }

// Cont lets a frozen process go on.
func (s *Server) Cont() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(sig))
}

// Restart kills the process and starts it again, with what it had on disk or
// without.
func (s *Server) Restart(empty bool) {
	s.t.Helper()
	s.Kill()
	if empty {
		require.NoError(s.t, os.RemoveAll(filepath.Join(s.dir, "appendonlydir")))
	}
	s.run()
}

// Until waits for a condition that takes real time.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			require.FailNow(t, "this does not happen: "+what)
		}
		<-time.After(5 * time.Millisecond)
	}
}
func (s *Server) wait(started chan<- error, log *os.File) {
	defer close(s.ended)
	defer func() { _ = log.Close() }()
	err := s.cmd.Start()
	started <- err
	if err == nil {
		_ = s.cmd.Wait() // killed, as a rule
	}
}
