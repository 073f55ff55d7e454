package origin

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// idlePerOrigin is how many unused connections each of the two transports keeps: a gate has few
// origins and many visitors.
const idlePerOrigin = 1024

// maxResponseHeader bounds the header of an answer, in bytes.
const maxResponseHeader = 1 << 20

// carrier is the round trip to the origin over kept connections, with no proxy in between and no
// compression of its own. By HTTP/1.1 direct carries what it fits, and net/http's transports carry
// the rest. It reports to the breaker and the metrics, and every error it returns is a *fault.
type carrier struct {
	plain  *http.Transport
	single *http.Transport // with a connection for each request
	marked *http.Transport // the same, for the rare targets that net/http cannot spell
	direct *direct         // for short requests; nil for none
	two    *http.Transport // by HTTP/2, of an origin that is spoken to by it; nil for others
	origin *Origin

	overran atomic.Bool // the origin has sent more than its answer
}

func newCarrier(cfg Config, o *Origin) *carrier {
	c := &carrier{origin: o}
	plainly, secure := dialers(cfg)
	framedly, securely := c.framed(plainly), c.framed(secure)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	plain := &http.Transport{
		DialContext:            framedly,
		DialTLSContext:         securely,
		MaxIdleConnsPerHost:    idlePerOrigin,
		IdleConnTimeout:        cfg.IdleTimeout,
		ResponseHeaderTimeout:  cfg.ResponseHeaderTimeout,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxResponseHeader,
		DisableCompression:     true,
		Protocols:              protocols,
	}
	single := plain.Clone()
	single.DisableKeepAlives = true
	marked := single.Clone()
	marked.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return mark(framedly(ctx, network, addr))
	}
	marked.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return mark(securely(ctx, network, addr))
	}
	c.plain, c.single, c.marked = plain, single, marked
	switch {
	case IsTwo(cfg.URL):
		c.two = newTwo(cfg, plain)
	case cfg.Transport == TransportDirect && canPeek:
		dial := plainly
		if cfg.URL.Scheme == "https" {
			dial = secure
		}
		c.direct = newDirect(cfg, c.unasked, dial)
	}
	return c
}

// dialer opens connections, as http.Transport has it.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// dialers returns what opens connections to an origin, without and with TLS. The TLS handshake has
// as long as the connecting.
func dialers(cfg Config) (plainly, secure dialer) {
	d := &net.Dialer{Timeout: cfg.DialTimeout, KeepAlive: 30 * time.Second}
	named := cfg.TLS.Clone()
	named.ServerName = cmp.Or(named.ServerName, cfg.URL.Hostname())
	return d.DialContext, func(ctx context.Context, network, addr string) (net.Conn, error) {
		raw, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, cfg.DialTimeout)
		defer cancel()
		conn := tls.Client(raw, named)
		if err := conn.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(err, raw.Close())
		}
		return conn, nil
	}
}

// framed returns a dialer of connections for net/http.
func (c *carrier) framed(dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return newFramed(conn, c.unasked), nil
	}
}

// unasked reports that an origin has sent something that belongs to no answer, and how it begins.
// What comes of that later could reach a visitor in place of their own answer, so from then on no
// connection is used twice. The status 408 is no fault: some origins say so before they end a
// connection that has been idle for long.
func (c *carrier) unasked(begin []byte) {
	if _, status, _ := bytes.Cut(begin, []byte(" ")); bytes.HasPrefix(status, []byte("408")) {
		return
	}
	if !c.overran.Swap(true) {
		c.origin.log.Warn("origin sent more than its answer: its connections are not used again from now on", zap.ByteString("it begins with", begin))
		c.close()
	}
}

// RoundTrip sends req and waits for the header of the answer.
func (c *carrier) RoundTrip(req *http.Request) (*http.Response, error) {
	start := time.Now()
	resp, err := c.transport(req).RoundTrip(req)
	if err != nil {
		f := c.origin.blame(req, err)
		if f.kind != "" {
			c.origin.failed(req, f)
		}
		return nil, f
	}
	c.origin.answered(req)
	c.origin.cfg.Metrics.Answered(resp.StatusCode, time.Since(start))
	return resp, nil
}

// transport chooses what carries a request. Only HTTP/1.1 switches to websockets. After HEAD a
// connection is not used again: an origin that sends the body nevertheless, late, would have it
// taken for the next answer.
func (c *carrier) transport(req *http.Request) http.RoundTripper {
	switch {
	case c.two != nil && req.Header["Upgrade"] == nil:
		return c.two
	case strings.HasPrefix(req.URL.Opaque, marker):
		return c.marked
	case c.overran.Load(), req.Method == http.MethodHead, req.Body != nil && !expectsBody(req.Method):
		return c.single
	case c.direct != nil && c.direct.fits(req):
		return c.direct
	}
	return c.plain
}

// expectsBody reports whether every origin reads the body of a request with the method. An origin
// that ignores the body of a GET takes it for the next request on the connection: no other
// visitor's request must come on that connection.
func expectsBody(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

func (c *carrier) close() {
	c.plain.CloseIdleConnections()
	c.single.CloseIdleConnections()
	c.marked.CloseIdleConnections()
	if c.two != nil {
		c.two.CloseIdleConnections()
	}
	if c.direct != nil {
		c.direct.pool.close()
	}
}

// marker is put before a target that net/http would spell in another way. No target begins with it,
// and markedConn takes it out again.
const marker = "-"

// markedConn carries one request and drops the first byte of its target, the marker.
type markedConn struct {
	net.Conn
	method, done bool // whether the method has been written, and whether the marker has been dropped
}

func mark(conn net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	return &markedConn{Conn: conn}, nil
}

func (c *markedConn) Write(p []byte) (int, error) {
	if c.done {
		return c.Conn.Write(p)
	}
	at := 0 // where the marker is
	if !c.method {
		at = bytes.IndexByte(p, ' ') + 1
		if c.method = at > 0; !c.method {
			return c.Conn.Write(p)
		}
	}
	if at == len(p) {
		return c.Conn.Write(p)
	}
	c.done = true
	n, err := c.Conn.Write(slices.Concat(p[:at], p[at+1:]))
	if n > at || n == len(p)-1 {
		n++
	}
	return n, err
}

// CloseWrite lets a websocket end in one direction.
func (c *markedConn) CloseWrite() error { return endWrite(c.Conn) }

// buffers lends the buffers that answers are copied through, 32 KiB each.
type buffers struct{ pool sync.Pool }

func newBuffers() *buffers {
	return &buffers{pool: sync.Pool{New: func() any { return new([32 << 10]byte) }}}
}

func (b *buffers) Get() []byte { return b.pool.Get().(*[32 << 10]byte)[:] }

func (b *buffers) Put(p []byte) { b.pool.Put((*[32 << 10]byte)(p)) }
