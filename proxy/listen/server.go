// Package listen is the server that faces the outside: net/http's, set up for strangers.
//
// Slow visitors are cut off by lack of progress and never by one deadline for a whole request, so that a large download
// over a slow line completes while a visitor who stops reading, or sends a byte now and then, is let go:
//
//   - a request's header has to be there within ReadHeaderTimeout;
//   - of a request's body something has to come in every ProgressTimeout while it is waited for;
//   - of an answer 64 KiB, or what was written at once if that is less, have to go out every ProgressTimeout: on the
//     connection in HTTP/1.1, on each stream in HTTP/2;
//   - what was sent on a TCP connection, be it only a question whether anybody is there, has to be confirmed within
//     ProgressTimeout: websockets and event streams, over which little goes, end when their visitor's network is gone.
//
// HTTP/2 is spoken over TLS only.
package listen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"
)

// Config says what a Server serves and how patient it is. Only Handler is required.
type Config struct {
	// Handler answers the requests.
	Handler http.Handler
	// Certificates are the pairs of files that TLS is served with. Without any the server speaks plain HTTP/1.1.
	Certificates []Certificate
	// ReadHeaderTimeout bounds the reading of a request's header, and the TLS handshake. 5 s by default.
	ReadHeaderTimeout time.Duration
	// IdleTimeout is how long a connection is kept without a request. 120 s by default.
	IdleTimeout time.Duration
	// ProgressTimeout is how long a visitor may make no progress. 30 s by default; up to a quarter more may pass.
	ProgressTimeout time.Duration
	// MaxHeaderBytes bounds a request's header, which is answered with 431 beyond it. 64 KiB by default.
	MaxHeaderBytes int
	// Log gets what net/http has to report, a few lines a second at most. Nothing by default.
	Log *zap.Logger
}

// Server serves HTTP on the listeners that it is given. It is made by New and ended by Shutdown.
type Server struct {
	http    *http.Server
	handler http.Handler
	timeout time.Duration
	certs   *certificates // nil without TLS
	tunnels tunnels
}

// New makes a server of cfg. A certificate that cannot be read is an error.
func New(cfg Config) (*Server, error) {
	if cfg.Handler == nil {
		return nil, errors.New("a server needs a handler")
	}
	cfg = withDefaults(cfg)
	s := &Server{handler: cfg.Handler, timeout: cfg.ProgressTimeout}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	s.http = &http.Server{
		Handler:                      http.HandlerFunc(s.serve),
		ReadHeaderTimeout:            cfg.ReadHeaderTimeout,
		IdleTimeout:                  cfg.IdleTimeout,
		MaxHeaderBytes:               cfg.MaxHeaderBytes,
		DisableGeneralOptionsHandler: true,
		Protocols:                    protocols,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 100,
			WriteByteTimeout:     cfg.ProgressTimeout,
			SendPingTimeout:      cfg.IdleTimeout / 4,
		},
		ConnState: s.tunnels.watch,
		ErrorLog:  errorLog(cfg.Log),
	}
	if len(cfg.Certificates) > 0 {
		certs, err := newCertificates(cfg.Certificates)
		if err != nil {
			return nil, err
		}
		s.certs = certs
		s.http.TLSConfig = certs.config()
	}
	return s, nil
}

// Serve answers what comes in on l, which it closes in the end. It returns nil after Shutdown, and an error if l fails.
// It may be called for several listeners.
func (s *Server) Serve(l net.Listener) error {
	l = &listener{Listener: l, server: s}
	var err error
	if s.certs != nil {
		err = s.http.ServeTLS(l, "", "")
	} else {
		err = s.http.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serving %v: %w", l.Addr(), err)
}

// Reload reads the certificate files again. On an error the old certificates stay in use, all of them.
func (s *Server) Reload() error {
	if s.certs == nil {
		return nil
	}
	return s.certs.load()
}

// Shutdown stops accepting and waits for the requests and tunnels (hijacked connections, as of websockets) that are open.
// When ctx ends the rest is closed. Tunnels that had to be closed are no error, as they need not ever end; requests that
// had to be broken off are one. Handlers of tunnels have returned when Shutdown returns.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	s.tunnels.wait(ctx)
	s.tunnels.close()
	if err != nil {
		// It gives up without a last look, and would take a tunnel that was still being made for a request.
		err = s.http.Shutdown(ctx)
	}
	if err != nil {
		err = fmt.Errorf("waiting for requests to finish: %w", errors.Join(err, s.http.Close()))
	}
	// What is left of the handlers talks to connections that are closed.
	s.tunnels.wait(context.Background())
	return err
}

// serve watches over the progress of one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == "PRI": // the preface of HTTP/2 without TLS, which net/http leaves to handlers
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusHTTPVersionNotSupported)
	case r.ProtoMajor == 2:
		s.serveStream(w, r)
	case r.Header["Upgrade"] != nil:
		s.tunnels.enter()
		defer s.tunnels.leave()
		s.serveConn(w, r)
	default:
		s.serveConn(w, r)
	}
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
	if cfg.ReadHeaderTimeout == 0 {
		cfg.ReadHeaderTimeout = 5 * time.Second
	}
	if cfg.IdleTimeout == 0 {
		cfg.IdleTimeout = 120 * time.Second
	}
	if cfg.ProgressTimeout == 0 {
		cfg.ProgressTimeout = 30 * time.Second
	}
	if cfg.MaxHeaderBytes == 0 {
		cfg.MaxHeaderBytes = 64 << 10
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	return cfg
}
