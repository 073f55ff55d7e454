package flood

import (
	"context"
	"sync/atomic"
)

// patience is how many requests on a connection may come too soon, or without a ticket, until the next are of the kind Again. A
// page that is loaded again by hand is one.
const patience = 2

// Conn is a connection, as its requests find it.
type Conn struct {
	bound *Bound
	shed  func()
	in    atomic.Bool  // somebody who is in has come on it, and nobody too soon again and again since
	soon  atomic.Int32 // requests that came too soon or without a ticket, since the last that came as told
}

type connKey struct{}

// Context returns the context for the requests of a connection. Shed ends the connection without an answer, and has Hold keep it until
// it is closed.
func (b *Bound) Context(ctx context.Context, shed func()) context.Context {
	return context.WithValue(ctx, connKey{}, &Conn{bound: b, shed: shed})
}

// Of returns the connection of a request; nil if its server has no bound.
func Of(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}

// Keep notes that somebody who is in has come on the connection. It is not shed, unless others ask on it too soon again and again.
func (c *Conn) Keep() {
	if c != nil && !c.in.Load() {
		c.in.Store(true)
	}
}

// Shed says whether the request of somebody who has to wait is shed. If so, the connection has been shed, and the handler panics
// with http.ErrAbortHandler.
func (c *Conn) Shed(k Kind) bool {
	if c == nil {
		return false
	}
	k = c.again(k)
	if !c.bound.sheds(k) || c.in.Load() {
		return false
	}
	c.bound.shed[k].Add(1)
	c.shed()
	return true
}

// again is the kind of a request, given those that have come on the same connection.
func (c *Conn) again(k Kind) Kind {
	switch k {
	case Due:
		c.soon.Store(0)
	case Early:
		if c.soon.Add(1) > patience {
			c.in.Store(false)
			return Again
		}
	}
	return k
}
