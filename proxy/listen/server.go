// Package listen is the server that faces the outside: that of net/http, set up for strangers.
//
// It cuts off slow visitors by their lack of progress, and never by one deadline for a whole
// request. So a large download over a slow line completes, and a visitor who stops reading, or
// sends a byte now and then, is cut off:
//
//   - The header of a request has to be there within ReadHeaderTimeout.
//   - While the gate waits for the body of a request, some of it has to come in every
//     ProgressTimeout. That of a gRPC call may stand still from when it is handed on to an origin
//     that takes calls (StandStill): it ends with its connection, which is asked now and then
//     whether it is there.
//   - Of an answer, 64 KiB have to go out every ProgressTimeout, or what was written at once if that is less: on the
//     connection in HTTP/1.1, on each stream in HTTP/2.
//   - What was sent on a TCP connection, also a keep-alive probe, has to be confirmed within ProgressTimeout. So websockets
//     and event streams, on which little is sent, end when their visitor's network is gone.
//
// An answer that takes long, and on which little is sent, may be detached from its request
// (Detach), which saves memory. Connections and streams of those who poll too often are closed
// while the server is late: package flood decides which, and handlers ask it.
//
// HTTP/2 works over TLS, and without where that was asked for. Where TLS is spoken, a request by
// plain HTTP is redirected or told to use https.
//
// Connections of listed balancers begin with a header of the PROXY protocol, and their visitors
// have the addresses that it says. Nobody else's header is believed.
package listen

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/flood"
	"github.com/fairdoor-gate/fairdoor/proxy/netset"
)

// Config says what a Server serves and how patient it is. Only Handler is required.
type Config struct {
	// Handler answers the requests.
	Handler http.Handler
	// Certificates are the pairs of files for TLS. Without any, and without Managed, the server
	// speaks plain HTTP/1.1.
	Certificates []Certificate
	// Managed chooses certificates that somebody else keeps, and answers a certificate authority's
	// questions; nil for none. A client for whom it has none gets one of Certificates.
	Managed func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Plain2 has the server speak HTTP/2 without TLS to those who begin with it, beside HTTP/1.1.
	Plain2 bool
	// Serves says whether a host is served here. Visitors who come for one by plain HTTP where TLS
	// is spoken are redirected. By default they are only told to use https.
	Serves func(host string) bool
	// Balancers are the networks of those whose connections begin with a header of the PROXY
	// protocol, which has to be there within ReadHeaderTimeout. None by default.
	Balancers []netip.Prefix
	// ReadHeaderTimeout bounds the reading of a request's header, and the TLS handshake. It begins
	// when the first byte of a connection has come, or where none comes, some seconds later, as the
	// system decides. 5 s by default.
	ReadHeaderTimeout time.Duration
	// IdleTimeout is how long a connection is kept without a request. 120 s by default.
	IdleTimeout time.Duration
	// ProgressTimeout is how long a visitor may make no progress. 30 s by default; up to a quarter
	// more may pass.
	ProgressTimeout time.Duration
	// MaxHeaderBytes bounds a request's header. The server answers 431 to a larger one. 64 KiB by
	// default.
	MaxHeaderBytes int
	// Late tells how late requests come, which decides whether those who wait are shed; see package
	// flood. By default it is measured.
	Late func() time.Duration
	// Log gets what net/http has to report, a few lines a second at most. Nothing by default.
	Log *zap.Logger
}

// Server serves HTTP on one listener or several. New makes it, and Shutdown ends it.
type Server struct {
	http    *http.Server
	handler http.Handler
	timeout time.Duration
	certs   *certificates // nil without TLS
	tunnels tunnels
	bound   *flood.Bound

	balancers netset.Set
	serves    func(host string) bool

	connections atomic.Int64 // of net/http, without those that are hijacked

	mu        sync.Mutex
	listeners []net.Listener
	accepting sync.WaitGroup // of listeners
	retired   bool
}

// New makes a server of cfg. A certificate that cannot be read is an error.
func New(cfg Config) (*Server, error) {
	if cfg.Handler == nil {
		return nil, errors.New("a server needs a handler")
	}
	cfg = withDefaults(cfg)
	if len(cfg.Balancers) > 0 {
		takeLongHeaders()
	}
	s := &Server{handler: cfg.Handler, timeout: cfg.ProgressTimeout, balancers: netset.New(cfg.Balancers), serves: cfg.Serves,
		bound: flood.New(cfg.Late, cfg.Log)}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(cfg.Plain2)
	s.http = &http.Server{
		Handler:                      http.HandlerFunc(s.serve),
		ReadHeaderTimeout:            cfg.ReadHeaderTimeout,
		IdleTimeout:                  cfg.IdleTimeout,
		MaxHeaderBytes:               cfg.MaxHeaderBytes,
		DisableGeneralOptionsHandler: true,
		Protocols:                    protocols,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 100,
			SendPingTimeout:      cfg.IdleTimeout / 4,
		},
		BaseContext: s.context,
		ConnContext: s.connContext,
		ConnState:   s.watch,
		ErrorLog:    errorLog(cfg.Log),
	}
	if len(cfg.Certificates) > 0 || cfg.Managed != nil {
		certs, err := newCertificates(cfg.Certificates, cfg.Managed)
		if err != nil {
			return nil, err
		}
		s.certs = certs
		s.http.TLSConfig = certs.config()
	}
	return s, nil
}

// Serve answers the requests that come in on l, and closes l in the end. It returns nil after
// Shutdown, and an error if l fails. It may be called for several listeners.
func (s *Server) Serve(l net.Listener) error {
	acceptLater(l, s.http.ReadHeaderTimeout)
	if !s.accept(l) {
		return l.Close()
	}
	defer s.accepting.Done()
	l = &listener{Listener: l, server: s}
	var err error
	if s.certs != nil {
		err = s.http.ServeTLS(l, "", "")
	} else {
		err = s.http.Serve(l)
	}
	if s.isRetired() {
		return nil
	}
	return fmt.Errorf("serving %v: %w", l.Addr(), err)
}

// accept counts a listener, unless no more connections are accepted.
func (s *Server) accept(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.retired {
		s.listeners = append(s.listeners, l)
		s.accepting.Add(1)
	}
	return !s.retired
}

func (s *Server) isRetired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.retired
}

// watch is an http.Server's ConnState.
func (s *Server) watch(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.connections.Add(1)
	case http.StateClosed:
		s.connections.Add(-1)
	case http.StateHijacked:
		s.connections.Add(-1)
		s.tunnels.hijacked(c)
	case http.StateActive, http.StateIdle:
	}
}

// Reload reads the certificate files again. On an error all the old certificates stay in use.
func (s *Server) Reload() error {
	if s.certs == nil {
		return nil
	}
	return s.certs.load()
}

// Certificates are those of files that are in use.
func (s *Server) Certificates() (list []*x509.Certificate) {
	if s.certs == nil {
		return nil
	}
	for _, pair := range *s.certs.now.Load() {
		list = append(list, pair.Leaf)
	}
	return list
}

// Shutdown stops accepting connections, and waits for the open requests and tunnels (hijacked
// connections, as of websockets, and detached answers). When ctx ends it closes those that are
// left. It returns an error if it had to break off requests; tunnels that it had to close are no
// error, because some never end by themselves. When Shutdown returns, the handlers of tunnels have
// returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.retire(ctx)
	s.bound.Close() // streams that are held are requests
	err := s.http.Shutdown(ctx)
	s.tunnels.wait(ctx)
	s.tunnels.close()
	if err != nil {
		// Shutdown of net/http gives up without looking again: it may have counted a tunnel that
		// was just being made as a request.
		err = s.http.Shutdown(ctx)
	}
	if err != nil {
		err = fmt.Errorf("waiting for requests to finish: %w", errors.Join(err, s.http.Close()))
	}
	// The handlers that are left end soon: their connections are closed.
	s.tunnels.wait(context.Background())
	return err
}

// settled is how long connections that were accepted have until their request is being answered.
const settled = 250 * time.Millisecond

// retire has the server accept no more connections, closes those that are idle, and lets the others
// answer their request and end. It waits for that only until they are settled: from the beginning of
// its Shutdown on, net/http drops a connection whose request it has just read.
func (s *Server) retire(ctx context.Context) {
	s.mu.Lock()
	s.retired = true
	for _, l := range s.listeners {
		_ = l.Close() // it may be closed already
	}
	s.mu.Unlock()
	s.accepting.Wait()
	s.http.SetKeepAlivesEnabled(false)
	ctx, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for s.connections.Load() > 0 {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// serve answers one request, and cuts it off if it makes no progress.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == "PRI": // the preface of HTTP/2 without TLS, which net/http passes to handlers
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusHTTPVersionNotSupported)
	case r.ProtoMajor == 2:
		s.serveStream(w, r)
	case r.Header["Upgrade"] != nil:
		if s.tunnels.enter() {
			defer s.tunnels.leave()
		}
		s.serveConn(w, r)
	default:
		s.serveConn(w, r)
	}
}

// connContext is an http.Server's ConnContext.
func (s *Server) connContext(ctx context.Context, c net.Conn) context.Context {
	if ours := connOf(c); ours != nil {
		ctx = s.bound.Context(ctx, ours.shed)
		ours.asks = flood.Of(ctx)
	}
	return ctx
}

func (s *Server) serveConn(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		s.handler.ServeHTTP(w, r)
		return
	}
	b := newConnBody(w, r.Body, s.timeout)
	defer b.finish()
	s.handler.ServeHTTP(w, withBody(r, b))
}

func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) {
	growStack(r.ProtoMajor)
	out := newStreamWriter(w, s.timeout)
	defer out.finish()
	if r.ContentLength != 0 {
		in := newStreamBody(w, r.Body, s.timeout)
		defer in.finish()
		r = withBody(r, in)
	}
	s.handler.ServeHTTP(out, r)
}

func withDefaults(cfg Config) Config {
	cfg.ReadHeaderTimeout = cmp.Or(cfg.ReadHeaderTimeout, 5*time.Second)
	cfg.IdleTimeout = cmp.Or(cfg.IdleTimeout, 120*time.Second)
	cfg.ProgressTimeout = cmp.Or(cfg.ProgressTimeout, 30*time.Second)
	cfg.MaxHeaderBytes = cmp.Or(cfg.MaxHeaderBytes, 64<<10)
	cfg.Log = cmp.Or(cfg.Log, zap.NewNop())
	return cfg
}
