package flood

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
)

// patience is how many requests of a kind a connection may bring, since the last that came as told,
// until the next are of the kind Again. A page that is loaded again by hand is one that came too
// soon, and a page may have some parts.
var patience = [kinds]int32{Aside: 8, Early: 2}

// mostHeld is how many streams of a connection of HTTP/2 are held at most, where nobody who is in
// has ever come on it. With one more the connection is shed: it would bring a new request for each
// stream that is reset.
const mostHeld = 16

// Conn is a connection, as its requests find it.
type Conn struct {
	bound *Bound
	shed  func()
	kept  atomic.Bool         // somebody who is in has come on it
	in    atomic.Bool         // and nobody too soon again and again since
	held  atomic.Int32        // streams of it that are held
	soon  [kinds]atomic.Int32 // requests of each kind for which there is patience, since the last that came as told

	mu    sync.Mutex
	over  bool          // it is closed
	ended chan struct{} // closed with it; nil while nobody waits for that
}

type connKey struct{}

// Context returns the context for the requests of a connection. Shed ends the connection without an
// answer, and has Hold keep it until it is closed.
func (b *Bound) Context(ctx context.Context, shed func()) context.Context {
	return context.WithValue(ctx, connKey{}, &Conn{bound: b, shed: shed})
}

// Of returns the connection of a request; nil if its server has no bound.
func Of(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}

// Keep notes that somebody who is in has come on the connection. Nothing on it is shed, unless
// others ask on it too soon again and again.
func (c *Conn) Keep() {
	if c != nil && !c.in.Load() {
		c.kept.Store(true)
		c.in.Store(true)
	}
}

// Presses says whether any requests are shed now.
func (c *Conn) Presses() bool { return c != nil && c.bound.pressure.now() > 0 }

// Sheds counts a request of somebody who is not in, and says whether it is to be shed.
func (c *Conn) Sheds(k Kind) bool {
	if c == nil {
		return false
	}
	k = c.again(k)
	if !c.bound.sheds(k) || c.in.Load() {
		return false
	}
	c.bound.shed[k].Add(1)
	return true
}

// Shed ends the request without an answer, and does not return: it panics with
// http.ErrAbortHandler. In HTTP/1 the connection ends with it. In HTTP/2 only its stream does,
// which is held first, unless too many of the connection's streams are held already.
func (c *Conn) Shed(r *http.Request) {
	switch {
	case r.ProtoMajor < 2:
		c.shed()
	case c.held.Add(1) > mostHeld && !c.kept.Load():
		c.shed()
	default:
		c.bound.holdStream(c.end())
		c.held.Add(-1)
	}
	panic(http.ErrAbortHandler)
}

// Closed notes that the connection is closed: none of its streams is held any more.
func (c *Conn) Closed() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over && c.ended != nil {
		close(c.ended)
	}
	c.over = true
}

// end returns a channel that is closed when the connection is.
func (c *Conn) end() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		c.ended = make(chan struct{})
		if c.over {
			close(c.ended)
		}
	}
	return c.ended
}

// again is the kind of a request, given those that have come on the same connection.
func (c *Conn) again(k Kind) Kind {
	switch k {
	case Due:
		for i := range c.soon {
			c.soon[i].Store(0)
		}
	case Aside, Early:
		if c.soon[k].Add(1) > patience[k] {
			c.in.Store(false)
			return Again
		}
	default:
	}
	return k
}
