package main

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"reflect"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/docs"
	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/acme"
	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/traces"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// server is a gate with its listeners.
type server struct {
	config   *config.Config
	log      *zap.Logger
	gate     *proxy.Gate
	metrics  *programMetrics
	traces   *traces.Tracer // nil for none
	requests *logFile       // the access log's file; nil for none
	public   *listen.Server
	admin    *http.Server
	insecure *listen.Server                         // redirects plain HTTP; nil if none is to be
	acme     *acme.Manager                          // of certificates; nil if they are files, or there are none
	at       struct{ visitors, operators net.Addr } // where the listeners are
	failed   chan error                             // why a listener has ended before the server is stopped
	tasks    sync.WaitGroup

	listeners []keyed // of visitors, operators and plain HTTP
}

// startServer makes a gate and serves it on the listeners; on an error they are left open.
// Without a record of the rooms' days, the gate keeps one in memory.
func startServer(ctx context.Context, c *config.Config, gc proxy.Config, listeners []keyed, store queue.Store, days *record.Record, log *zap.Logger) (*server, error) {
	requests, file, err := openAccessLog(c.AccessLog)
	if err != nil {
		return nil, err
	}
	tracer, err := traces.FromEnvironment(ctx, releaseName(), log)
	if err != nil {
		return nil, errors.Join(err, file.close())
	}
	tells := new(programMetrics)
	tells.inForce(c, reloads)
	gate, err := proxy.New(ctx, gc, pace(c.Store, proxy.Options{Store: store, Log: log, AdminToken: c.AdminToken, Record: waitlistRecord(c), History: days, StateDir: c.StateDir,
		Docs: docs.Handler(), Metrics: tells.source(), AccessLog: requests, Admissions: c.AdmissionsLog, Traces: tracer, Certificates: tells.listed, Refused: tells.refuses}))
	if err != nil {
		return nil, errors.Join(err, file.close())
	}
	s := &server{config: c, log: log, gate: gate, metrics: tells, requests: file, traces: tracer, failed: make(chan error, 3), listeners: listeners}
	if err := s.makeServers(); err != nil {
		if s.acme != nil {
			s.acme.Close()
		}
		gate.Close()
		return nil, errors.Join(err, file.close())
	}
	s.listen()
	return s, nil
}

func (s *server) listen() {
	visitors, operators := s.listeners[0], s.listeners[1]
	s.at.visitors, s.at.operators = visitors.Addr(), operators.Addr()
	s.tasks.Go(func() { s.ended(s.public.Serve(visitors)) })
	s.tasks.Go(func() { s.ended(s.admin.Serve(operators)) })
	if s.insecure != nil {
		s.tasks.Go(func() { s.ended(s.insecure.Serve(s.listeners[2])) })
	}
	if s.acme != nil {
		s.acme.Start()
	}
	s.log.Info("ready", zap.Stringer("listen", visitors.Addr()), zap.Stringer("admin", operators.Addr()),
		zap.Int("rooms", len(s.config.Rooms)), zap.String("state_dir", s.config.StateDir))
}

// makeServers makes the servers of the listeners, and what keeps certificates.
func (s *server) makeServers() error {
	c := listen.Config{
		Handler: s.gate, Certificates: certificates(s.config), Serves: s.gate.Serves, Balancers: s.config.ProxyProtocol, Plain2: s.config.H2C,
		ProgressTimeout: s.config.ProgressTimeout, Log: s.log,
	}
	insecure := c
	insecure.Certificates, insecure.Plain2, insecure.Handler = nil, false, listen.Redirect(s.config.Listen, s.gate.Serves)
	var err error
	if len(s.config.TLS.ACME.Domains) > 0 {
		if s.acme, err = acme.New(acmeConfig(s.config, s.log)); err != nil {
			return err
		}
		c.Managed, insecure.Handler = s.acme.Certificate, s.acme.Challenges(insecure.Handler)
	}
	if s.public, err = listen.New(c); err != nil {
		return err
	}
	if s.config.TLS.Redirect != "" {
		if s.insecure, err = listen.New(insecure); err != nil {
			return err
		}
	}
	s.metrics.use(s.certificates)
	s.admin = &http.Server{
		Handler: s.gate.Admin(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 30 * time.Second, ErrorLog: zap.NewStdLog(s.log),
	}
	return nil
}

// certificates are those that the server has now.
func (s *server) certificates() []*x509.Certificate {
	list := s.public.Certificates()
	if s.acme != nil {
		list = append(list, s.acme.Certificates()...)
	}
	return list
}

func (s *server) ended(err error) {
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		s.failed <- err
	}
}

// signals are what a gate is told while it runs: by SIGHUP, and to hand over. Of each, one waits.
type signals struct{ hangup, succession chan os.Signal }

// lookEvery is how often it is looked whether lists of networks have changed.
const lookEvery = time.Second

// run serves until ctx ends or a listener fails, and stops. At each hangup it reloads, and opens the
// access log again, which may have been renamed. Every lookEvery it renews lists of networks. When it is
// told to be succeeded, it hands over, with release to let go of its store and state; the successor gets a
// hangup that came meanwhile.
func (s *server) run(ctx context.Context, told signals, reload, renew, release func()) error {
	s.notify(notifyReady)
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	for {
		select {
		case <-told.hangup:
			if err := s.requests.reopen(); err != nil {
				s.log.Error("the access log goes on in the old file", zap.Error(err))
			}
			reload()
		case <-looks.C:
			renew()
		case <-told.succession:
			next, err := s.succeed(ctx)
			if err != nil {
				s.log.Error("not handed over: this gate goes on", zap.Error(err))
				continue
			}
			select {
			case <-told.hangup:
				err = next.cmd.Process.Signal(syscall.SIGHUP)
			default:
			}
			return errors.Join(err, s.handOver(next, release))
		case err := <-s.failed:
			return errors.Join(err, s.stop())
		case <-ctx.Done():
			s.log.Info("stopping", zap.Duration("drain_delay", s.config.DrainDelay), zap.Duration("grace", s.config.ShutdownGrace))
			return errors.Join(s.drain(), s.stop())
		}
	}
}

// reload puts the configuration as it is now in force, or keeps the old one.
func (s *server) reload(ctx context.Context, from *sources, st *state) {
	c, warnings, err := from.load()
	logWarnings(s.log, warnings)
	if err == nil {
		err = s.configure(c, st, func(c proxy.Config) error {
			if err := s.public.Reload(); err != nil {
				return err
			}
			return s.gate.Configure(ctx, c)
		})
	}
	if err != nil {
		s.refuse(reloads, "new configuration refused, the old one stays", err)
		return
	}
	for _, fixed := range changedButFixed(s.config, c) {
		s.log.Warn("this change takes effect at the next start", zap.String("key", fixed))
	}
	from.putInForce()
	s.metrics.inForce(c, reloads)
	s.log.Info("configuration reloaded", zap.Int("rooms", len(c.Rooms)))
}

// renew puts lists of networks in force that have changed, and nothing else of the configuration, or
// keeps the old ones.
func (s *server) renew(ctx context.Context, from *sources, st *state) {
	changed := from.changed()
	if changed == nil {
		return
	}
	c, warnings, err := from.renew()
	logWarnings(s.log, warnings)
	if err == nil {
		err = s.configure(c, st, func(c proxy.Config) error { return s.gate.Renew(ctx, c) })
	}
	if err != nil {
		s.refuse(renewals, "changed list of networks refused, the old one stays", err)
		return
	}
	from.putInForce()
	s.metrics.inForce(c, renewals)
	s.log.Info("networks renewed", zap.Strings("files", changed))
}

// errOpen is why a configuration is refused by which operators would not be asked for anything, though
// it has them be asked.
var errOpen = errors.New("admin_token and admin are read at the start, and without operators nobody would be asked for a token until then: keep one in operators, or start the gate anew")

// configure puts a configuration in force by put, if it can be without a new start.
func (s *server) configure(c *config.Config, st *state, put func(proxy.Config) error) error {
	if s.config.AdminToken == "" && len(c.Operators) == 0 && (c.AdminToken != "" || !listen.IsLoopback(s.config.Admin)) {
		return errOpen
	}
	gate, err := st.gateConfig(c)
	if err != nil {
		return err
	}
	return put(gate)
}

// refuse takes in, and logs in these words, why a configuration is refused, and what it came of.
func (s *server) refuse(of int, words string, err error) {
	s.metrics.refuse(of)
	var faults config.Faults
	if !errors.As(err, &faults) {
		s.log.Error(words, zap.Error(err))
		return
	}
	for _, f := range faults {
		s.log.Error(words, zap.String("at", f.Position.String()), zap.String("fault", f.Message))
	}
}

// changedButFixed returns the keys that have changed but are read at the start only.
func changedButFixed(old, next *config.Config) []string {
	var keys []string
	for _, k := range []struct {
		name     string
		old, new any
	}{
		{"listen", old.Listen, next.Listen},
		{"admin", old.Admin, next.Admin},
		{"admin_token", old.AdminToken, next.AdminToken},
		{"store", old.Store, next.Store},
		{"state_dir", old.StateDir, next.StateDir},
		{"database", old.Database, next.Database},
		{"tls", old.TLS, next.TLS},
		{"log", old.Log, next.Log},
		{"access_log", old.AccessLog, next.AccessLog},
		{"admissions_log", old.AdmissionsLog, next.AdmissionsLog},
		{"progress_timeout", old.ProgressTimeout, next.ProgressTimeout},
		{"drain_delay", old.DrainDelay, next.DrainDelay},
		{"shutdown_grace", old.ShutdownGrace, next.ShutdownGrace},
		{"proxy_protocol", old.ProxyProtocol, next.ProxyProtocol},
		{"h2c", old.H2C, next.H2C},
	} {
		if !reflect.DeepEqual(k.old, k.new) {
			keys = append(keys, k.name)
		}
	}
	return keys
}

// drain makes /readyz say that the gate is not ready, and goes on for as long as load
// balancers need to notice. It ends early if a listener fails.
func (s *server) drain() error {
	s.notify(notifyStopping)
	s.gate.Drain()
	select {
	case <-time.After(s.config.DrainDelay):
		return nil
	case err := <-s.failed:
		return err
	}
}

// finish lets the requests of a listener finish until ctx ends.
func (s *server) finish(ctx context.Context, l *listen.Server) error {
	err := l.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("requests were broken off", zap.Duration("grace", s.config.ShutdownGrace))
		return nil
	}
	return err
}

// finishAll lets the requests of visitors finish until ctx ends.
func (s *server) finishAll(ctx context.Context) error {
	err := s.finish(ctx, s.public)
	if s.insecure != nil {
		err = errors.Join(err, s.finish(ctx, s.insecure))
	}
	return err
}

// stop lets requests finish and ends the server. Some requests never finish, such as a site's event
// streams: that they were broken off is logged, and is no error.
func (s *server) stop() error {
	s.gate.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), s.config.ShutdownGrace)
	defer cancel()
	err := s.finishAll(ctx)
	if s.acme != nil {
		s.acme.Close()
	}
	s.gate.Close()
	return errors.Join(err, s.admin.Close(), s.end())
}

// lastTraces is how long a collector may take that gets the last traces.
const lastTraces = 3 * time.Second

// end waits for the server's tasks, and closes what they tell of requests.
func (s *server) end() error {
	s.tasks.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), lastTraces)
	defer cancel()
	if err := s.traces.Close(ctx); err != nil {
		s.log.Warn("the last traces are lost", zap.Error(err))
	}
	return s.requests.close()
}
