package origin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// Transport names a way in which requests are carried to an origin.
type Transport string

// The ways in which requests are carried. TransportDirect, the default, writes requests and reads
// their answers on the goroutine that serves the visitor, for the requests that this fits; all
// others are carried as by TransportStandard, which is net/http's own transport: it hands each
// request to two goroutines of the connection, and back.
const (
	TransportDirect   Transport = "direct"
	TransportStandard Transport = "standard"
)

// shortBody is the length in bytes up to which a request's body is read whole before the origin is
// asked. A visitor who sends it slowly then holds no connection of the origin's.
const shortBody = 16 << 10

// lookahead is how much is looked at of what an origin has sent unasked, in bytes: as much as a
// status line has up to the status.
const lookahead = len("HTTP/1.1 408")

// direct is a round trip on the caller's goroutine, for requests without a body or with a short
// one: one connection, one request at a time. The standard library writes the request and parses
// the answer. What is left to do here is the pool of connections, which also ends the requests that
// take too long, and those whose visitor leaves.
type direct struct {
	dial    dialer
	address string // host and port
	pool    *pool
	unasked func(begin []byte) // is called with how begins what belongs to no answer
}

func newDirect(cfg Config, unasked func([]byte), dial dialer) *direct {
	port := cmp.Or(cfg.URL.Port(), DefaultPort(cfg.URL.Scheme))
	return &direct{
		dial: dial, address: net.JoinHostPort(cfg.URL.Hostname(), port),
		pool: &pool{timeout: cfg.ResponseHeaderTimeout, idleTimeout: cfg.IdleTimeout}, unasked: unasked,
	}
}

// fits reports whether direct carries the request. A body's length has to be known and short, and
// nothing may follow the body. The answers to Upgrade and Expect are more than one answer to one
// request.
func (d *direct) fits(req *http.Request) bool {
	if req.Header["Upgrade"] != nil || req.Header["Expect"] != nil {
		return false
	}
	return req.Body == nil || 0 < req.ContentLength && req.ContentLength <= shortBody && len(req.Trailer) == 0
}

// RoundTrip sends req and waits for the header of the answer. If the origin has ended an idle
// connection at the moment when it was used again, the request is sent once more, over a new
// connection: see [conn.mayRepeat].
func (d *direct) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil { // an idle connection would be lost
		return nil, err
	}
	c, reused := d.pool.take(req.Context()), true
	for {
		if c == nil {
			reused = false
			if c, err = d.connect(req.Context()); err != nil {
				return nil, err
			}
		}
		resp, err := c.roundTrip(req, body)
		if err == nil || !reused || !c.mayRepeat(req, err) {
			return resp, err
		}
		c = nil
	}
}

// readBody reads a short body, and closes it.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer req.Body.Close()
	body := make([]byte, req.ContentLength)
	if _, err := io.ReadFull(req.Body, body); err != nil {
		return nil, fmt.Errorf("reading the visitor's body: %w", err)
	}
	return body, nil
}

func (d *direct) connect(ctx context.Context) (*conn, error) {
	stream, err := d.dial(ctx, "tcp", d.address)
	if err != nil {
		return nil, err
	}
	c, err := newConn(stream, d)
	if err == nil {
		d.pool.enter(ctx, c)
	}
	return c, err
}

// ended is called when a connection has served a request, and nobody has said that it ends with it.
func (d *direct) ended(c *conn) {
	more, err := c.in.Peek(min(lookahead, c.in.Buffered()))
	if len(more) > 0 || err != nil || c.heading.liesInWait() {
		_ = d.pool.drop(c)
	} else {
		d.pool.put(c)
	}
	if len(more) > 0 {
		d.unasked(more)
	}
}

// mayRepeat reports whether a request that has failed with err on a kept connection may be sent
// again: nothing of an answer has come, and nothing of the request was sent, or the request changes
// nothing (RFC 9110, section 9.2.2).
func (c *conn) mayRepeat(req *http.Request, err error) bool {
	if c.received || errors.Is(err, errLate) || req.Context().Err() != nil {
		return false
	}
	return !c.sent || req.Body == nil && changesNothing(req)
}

// changesNothing reports whether an origin may get the request twice.
func changesNothing(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return req.Header["Idempotency-Key"] != nil || req.Header["X-Idempotency-Key"] != nil
}
