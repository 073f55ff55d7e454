package listen

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// chunk is how much is written under one deadline, in bytes.
const chunk = 64 << 10

// listener makes every connection one that has to make progress.
type listener struct {
	net.Listener
	server *Server
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err // net/http looks at the error's type
	}
	missDead(c, l.server.timeout)
	return &conn{Conn: c, timeout: l.server.timeout, tunnels: &l.server.tunnels}, nil
}

// conn is a connection whose writes have to make progress. With TLS it is below the tls.Conn. Its read deadline is net/http's
// alone. A write deadline that net/http sets holds besides ours.
//
// Only net.Conn is embedded, so that there is no ReadFrom: a websocket's data goes through Write.
type conn struct {
	net.Conn
	timeout time.Duration
	tunnels *tunnels

	mu      sync.Mutex
	limit   time.Time // the write deadline that net/http has set, if any
	renewed time.Time // when ours was last set
}

// Write writes p in chunks. Each of them has its own time to go out.
func (c *conn) Write(p []byte) (int, error) {
	written := 0
	for {
		if err := c.renew(); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(p[written:min(written+chunk, len(p))])
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// renew gives the next write its time. It moves the deadline only when a quarter of the time has passed. For that the deadline
// is a quarter later.
func (c *conn) renew() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.renewed) < c.timeout/4 {
		return nil
	}
	deadline := now.Add(c.timeout + c.timeout/4)
	if !c.limit.IsZero() && c.limit.Before(deadline) {
		deadline = c.limit
	}
	if err := c.Conn.SetWriteDeadline(deadline); err != nil {
		return fmt.Errorf("setting the write deadline: %w", err)
	}
	c.renewed = now
	return nil
}

// SetWriteDeadline sets a deadline that holds besides the one for progress. Where there is none, it does nothing to take it
// away, as net/http asks after every request.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.IsZero() && c.limit.IsZero() {
		return nil
	}
	c.limit, c.renewed = t, time.Time{}
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline sets both deadlines.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// CloseWrite closes one direction, as net/http does before it closes a connection on which somebody may still be sending,
// and as websockets do.
func (c *conn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return fmt.Errorf("closing one direction: %w", errors.ErrUnsupported)
	}
	return half.CloseWrite()
}

// Close closes the connection.
func (c *conn) Close() error {
	c.tunnels.forget(c)
	return c.Conn.Close()
}
