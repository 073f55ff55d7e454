package listen

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/flood"
)

// chunk is how much is written under one deadline, in bytes.
const chunk = 64 << 10

// conn is a connection whose writes have to make progress. With TLS it is below the tls.Conn. Its
// read deadline is net/http's alone. A write deadline that net/http sets holds besides ours.
//
// Only net.Conn is embedded, so that there is no ReadFrom: a websocket's data goes through Write.
type conn struct {
	net.Conn
	timeout time.Duration
	tunnels *tunnels
	bound   *flood.Bound
	asks    *flood.Conn  // what its requests find; nil until net/http has it
	state   atomic.Int32 // whether it was shed

	secure    bool                   // nothing has been read, and TLS is spoken here
	serves    func(host string) bool // whether a request by plain HTTP is redirected; nil for never
	maxHeader int64                  // of such a request, in bytes

	mu      sync.Mutex
	limit   time.Time // the write deadline that net/http has set, if any
	renewed time.Time // when ours was last set
}

// What becomes of a connection that is shed, as package flood has it.
const (
	inUse int32 = iota
	shed
	held
)

// connOf is the connection below what net/http has of it; nil if it is none of ours.
func connOf(c net.Conn) *conn {
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secure.NetConn()
	}
	ours, _ := c.(*conn)
	return ours
}

// shed ends the connection without another byte. When net/http closes it, it is held, and closed
// later.
func (c *conn) shed() {
	if c.state.CompareAndSwap(inUse, shed) {
		_ = c.Conn.SetReadDeadline(time.Unix(1, 0)) // net/http is reading what may come next
	}
}

// Read reads what came in. A visitor who speaks plain HTTP where TLS is spoken is told so.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.secure || n == 0 {
		return n, err
	}
	c.secure = false
	if isInsecure(p[0]) {
		c.answerInsecure(p[:n])
		return 0, errInsecure
	}
	return n, err
}

// Write writes p in chunks. Each of them has its own time to go out.
func (c *conn) Write(p []byte) (int, error) {
	if c.state.Load() != inUse {
		return 0, net.ErrClosed // TLS would tell the visitor at once
	}
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

// renew gives the next write its time. It moves the deadline only when a quarter of the time has
// passed. For that the deadline is a quarter later.
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

// SetWriteDeadline sets a deadline that holds besides the one for progress. Where there is none, it
// does nothing to take it away, as net/http asks after every request.
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

// CloseWrite closes one direction, as net/http does before it closes a connection on which somebody
// may still be sending, and as websockets do.
func (c *conn) CloseWrite() error { return closeWrite(c.Conn) }

// Close closes the connection, later if it was shed.
func (c *conn) Close() error {
	c.tunnels.forget(c)
	c.asks.Closed()
	switch {
	case c.state.CompareAndSwap(shed, held):
		return c.bound.Hold(c.Conn)
	case c.state.Load() == held:
		return nil
	}
	return c.Conn.Close()
}
