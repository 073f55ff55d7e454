package origin

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/fairdoor-gate/fairdoor/proxy/rpc"
)

// Config says where an origin is and how it is treated. Only URL is required.
type Config struct {
	// URL is the origin's address: a scheme, a host, and nothing else. Paths are never rewritten, so
	// a base path is refused. The schemes http and https mean HTTP/1.1, and h2 and h2c HTTP/2 with
	// TLS and without.
	URL *url.URL
	// TrustedProxies are the networks of the proxies whose forwarding headers count. None by
	// default.
	TrustedProxies []netip.Prefix
	// TLS is used for origins of https and h2; nil verifies against the system's roots.
	TLS *tls.Config

	// Transport is how requests are carried by HTTP/1.1: TransportDirect, the default, or
	// TransportStandard.
	Transport Transport
	// DialTimeout bounds connecting to the origin, and the TLS handshake with it. 5 s by default.
	DialTimeout time.Duration
	// ResponseHeaderTimeout is how long the origin may take until the header of its answer: since
	// the request has been sent, or, of a short one, since its sending has begun. 60 s by default;
	// up to 0.05 s more may pass.
	ResponseHeaderTimeout time.Duration
	// IdleTimeout is how long an unused connection to the origin is kept. 90 s by default. If the
	// origin closes the connection at the moment when it is used again, a request is sent once more
	// if nothing of it was sent, or if it has no body and is a GET, HEAD or OPTIONS or has an
	// Idempotency-Key. Others are answered 502. So keep this below the origin's own keep-alive
	// where that is short.
	IdleTimeout time.Duration
	// ProbeInterval is the least time between two probes. The origin is probed while it fails, and
	// after requests have failed. 1 s by default.
	ProbeInterval time.Duration
	// ProbeTimeout bounds one probe. 5 s by default.
	ProbeTimeout time.Duration

	// Health has a path that is asked for every ProbeInterval, from Watch on, instead of other
	// probes: the origin fails from the second time in a row on that it does not answer within
	// HealthTimeout, or with a status below 200 or from 400, until it has answered well twice.
	Health Health

	// ErrorHandler writes the answer to a request that the origin did not answer, or that cannot be
	// passed on. The status is 400, 405, 408, 502 or 504. r has the visitor's context. It is the
	// visitor's request, or after a failed round trip the request that was made for the origin. By
	// default only the status is written.
	ErrorHandler func(w http.ResponseWriter, r *http.Request, status int)
	// OnResponse is called with every answer of the origin before anything of it is sent: also with
	// 101, but with no other 1xx answer. It may change the headers. Headers that are set on the
	// ResponseWriter before ServeHTTP do not survive a 1xx answer, so what has to be added belongs
	// here. resp.Request.Context() is the visitor's.
	OnResponse func(resp *http.Response)
	// OnChange is called when the origin begins to fail, and when it answers again, one call at a
	// time. It must not call Close.
	OnChange func(failing bool)
	// Metrics are called with every answer and every failure.
	Metrics Metrics
	// Log gets every change between failing and answering, and single failures, at most one a
	// second. Nothing by default.
	Log *zap.Logger
}

// Metrics are functions that count what the origin does; each may be nil. They are called while a
// visitor waits, and must not block.
type Metrics struct {
	// Answered gets the status of an answer and the time from sending the request to its header.
	Answered func(status int, latency time.Duration)
	// Failed gets the kind of each failure to answer. A visitor who leaves is no failure.
	Failed func(kind Failure)
}

// Origin is the reverse proxy to one origin. It is an http.Handler, made by New and ended by Close.
type Origin struct {
	cfg     Config
	trust   Trust
	carrier *carrier
	hosts   hosts
	breaker *breaker
	proxy   *httputil.ReverseProxy
	log     *zap.Logger // single failures, at most one a second
}

// New makes the proxy to the origin of cfg. It opens no connection. An unusable URL is an error.
func New(cfg Config) (*Origin, error) {
	if err := checkURL(cfg.URL); err != nil {
		return nil, fmt.Errorf("reading the origin's address: %w", err)
	}
	cfg = withDefaults(cfg)
	if cfg.Transport != TransportDirect && cfg.Transport != TransportStandard {
		return nil, fmt.Errorf("there is no transport %q: it is %q or %q", cfg.Transport, TransportDirect, TransportStandard)
	}
	log := cfg.Log.With(zap.String("origin", cfg.URL.Redacted()))
	o := &Origin{cfg: cfg, trust: NewTrust(cfg.TrustedProxies), log: oncePerSecond(log)}
	broken, err := zap.NewStdLogAt(o.log, zap.WarnLevel) // for answers that break off
	if err != nil {
		return nil, fmt.Errorf("making the origin's log: %w", err)
	}
	o.carrier = newCarrier(cfg, o)
	o.breaker = newBreaker(o.probe, cfg.ProbeInterval, func(failing bool, err error) {
		if failing {
			log.Error("origin failing", zap.Error(err))
		} else {
			log.Info("origin answers again")
		}
		cfg.OnChange(failing)
	})
	o.proxy = &httputil.ReverseProxy{
		Rewrite:        o.rewrite,
		Transport:      o.carrier,
		BufferPool:     newBuffers(),
		ModifyResponse: o.respond,
		ErrorHandler:   o.explain,
		ErrorLog:       broken,
	}
	return o, nil
}

// ServeHTTP passes r to the origin and its answer to w. Like httputil.ReverseProxy it panics with
// http.ErrAbortHandler where an answer cannot be finished, which net/http takes as the order to
// break off the connection.
func (o *Origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect || r.Method == http.MethodTrace:
		o.cfg.ErrorHandler(w, r, http.StatusMethodNotAllowed)
		return
	case !passable(r), IsTwo(o.cfg.URL) && needsMarker(r, target(r)):
		o.cfg.ErrorHandler(w, r, http.StatusBadRequest)
		return
	}
	if _, ok := r.Header["Upgrade"]; ok { // a request with a body is not upgraded: the body could be read as what comes after
		if asksForWebsocket(r.Header) && r.ContentLength == 0 {
			w = partingWriter{w}
		} else {
			r = withoutUpgrade(r)
		}
	}
	if r.ContentLength != 0 { // else net/http would wait for the end of the body before it sends an answer
		_ = http.NewResponseController(w).EnableFullDuplex() // a server that knows nothing of it waits for nothing
		if r.Header.Get("Expect") != "" {
			w = continuedOnce{w}
		}
	}
	if call, ok := r.Body.(interface{ StandStill() }); ok && IsTwo(o.cfg.URL) && rpc.Calls(r) {
		call.StandStill()
	}
	// An answer without a Content-Type stays without: a key with no values keeps net/http from
	// guessing one.
	w.Header()["Content-Type"] = nil
	o.proxy.ServeHTTP(w, r)
	if r.ContentLength != 0 {
		leave(w, r)
	}
}

// Failing reports whether the origin fails: it does not answer the gate's own probe, or most of its
// visitors (see Counted). An answer with a 5xx status is an answer.
func (o *Origin) Failing() bool { return o.breaker.failing.Load() }

// Watch begins to ask for the health path, if there is one, until Close.
func (o *Origin) Watch() {
	if o.cfg.Health.Path != "" {
		o.breaker.check(o.askHealth)
	}
}

// Health is that of the origin's configuration.
func (o *Origin) Health() Health { return o.cfg.Health }

// Close ends the probing, waits for its end, and closes the connections that are not in use. It
// leaves requests that are under way alone: call it after the server has been shut down.
func (o *Origin) Close() {
	o.breaker.close()
	o.carrier.close()
}

// respond checks an answer before it goes to the visitor. It refuses a switch of protocols that
// nobody asked for: ReverseProxy would refuse it, too, but leave the connection open. And it
// refuses a status that is none, at which ReverseProxy would panic.
func (o *Origin) respond(resp *http.Response) error {
	switched := resp.StatusCode == http.StatusSwitchingProtocols
	if switched && !(asksForWebsocket(resp.Request.Header) && asksForWebsocket(resp.Header)) {
		return errUnasked
	}
	if resp.StatusCode < 100 {
		return errNoStatus
	}
	o.cfg.OnResponse(resp)
	endEarly(resp.Header, resp.Request)
	if body, ok := resp.Body.(io.ReadWriteCloser); ok && switched {
		resp.Body = partingBody{body}
	}
	return nil
}

var (
	errUnasked  = errors.New("the origin switched to a protocol that was not asked for")
	errNoStatus = errors.New("the origin answered with a status below 100")
)

func checkURL(u *url.URL) error {
	if u == nil {
		return errors.New("an origin needs a URL")
	}
	if _, problem := ParseURL(u.String()); problem != "" {
		return fmt.Errorf("%q %s", u.Redacted(), problem)
	}
	return nil
}

func withDefaults(cfg Config) Config {
	cfg.Transport = cmp.Or(cfg.Transport, TransportDirect)
	cfg.DialTimeout = cmp.Or(cfg.DialTimeout, 5*time.Second)
	cfg.ResponseHeaderTimeout = cmp.Or(cfg.ResponseHeaderTimeout, 60*time.Second)
	cfg.IdleTimeout = cmp.Or(cfg.IdleTimeout, 90*time.Second)
	cfg.ProbeInterval = cmp.Or(cfg.ProbeInterval, time.Second)
	cfg.ProbeTimeout = cmp.Or(cfg.ProbeTimeout, 5*time.Second)
	if cfg.TLS = cfg.TLS.Clone(); cfg.TLS == nil {
		cfg.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	cfg.TLS.NextProtos = []string{"http/1.1"}
	cfg.Log = cmp.Or(cfg.Log, zap.NewNop())
	if cfg.ErrorHandler == nil {
		cfg.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, status int) { w.WriteHeader(status) }
	}
	if cfg.OnResponse == nil {
		cfg.OnResponse = func(*http.Response) {}
	}
	if cfg.OnChange == nil {
		cfg.OnChange = func(bool) {}
	}
	if cfg.Metrics.Answered == nil {
		cfg.Metrics.Answered = func(int, time.Duration) {}
	}
	if cfg.Metrics.Failed == nil {
		cfg.Metrics.Failed = func(Failure) {}
	}
	return cfg
}

func oncePerSecond(log *zap.Logger) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(c, time.Second, 1, 0)
	}))
}
