package origin

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// watchInterval is how often the connections with a request are looked at. So much later, at
	// most, the pool notices that a visitor has left or that an answer is late.
	watchInterval = 50 * time.Millisecond

	// sweepInterval is how often connections without a request are looked at, and sweptAtOnce how
	// many of them: those that the origin has ended are closed here, too.
	sweepInterval = 5 * time.Second
	sweptAtOnce   = idlePerOrigin / 16
)

// errLate is why a connection is cut off whose answer does not come in time.
var errLate = fmt.Errorf("the header of the answer did not come in time: %w", os.ErrDeadlineExceeded)

// pool has the connections to an origin. Of those without a request, the one that has rested
// longest is used next: what the origin has sent on it late, after its answer, is seen before.
// Those with a request are cut off when their visitor leaves, and when the header of their answer
// does not come in time. The pool looks at all of them now and then: this costs less than to set a
// deadline, and to be told of the end of a context, for each request.
type pool struct {
	timeout     time.Duration // from the beginning of a request to the header of its answer
	idleTimeout time.Duration // how long a connection is kept without a request

	mu      sync.Mutex
	idle    []*conn // first the one that has rested longest
	busy    []*conn // with a request; each knows its place
	sweep   *time.Timer
	watched bool // cutOff comes again
	closed  bool
}

// take returns a kept connection for a request whose context is ctx, or nil.
func (p *pool) take(ctx context.Context) *conn {
	for now := time.Now(); ; {
		c := p.pop(ctx, now)
		if c == nil || p.usable(c, now) {
			return c
		}
		_ = p.drop(c)
	}
}

func (p *pool) pop(ctx context.Context, now time.Time) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	c := p.idle[0]
	p.idle = slices.Delete(p.idle, 0, 1)
	p.begin(ctx, c, now)
	return c
}

// enter takes in a new connection for a request whose context is ctx.
func (p *pool) enter(ctx context.Context, c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin(ctx, c, time.Now())
}

// begin has a connection begin a request. mu is held.
func (p *pool) begin(ctx context.Context, c *conn, now time.Time) {
	c.ctx, c.began, c.place = ctx, now, len(p.busy)
	c.settled.Store(false)
	p.busy = append(p.busy, c)
	if !p.watched {
		p.watched = true
		time.AfterFunc(watchInterval, p.cutOff)
	}
}

// takeOut takes out a connection that has a request, and returns why it was cut off, if it was. mu
// is held.
func (p *pool) takeOut(c *conn) error {
	if c.cut == nil {
		last := len(p.busy) - 1
		p.busy[c.place] = p.busy[last]
		p.busy[c.place].place = c.place
		p.busy[last] = nil
		p.busy = p.busy[:last]
		c.ctx = nil
	}
	return c.cut
}

// cutOff ends the connections whose request has come to nothing, and comes again while there are
// others with a request.
func (p *pool) cutOff() {
	for _, c := range p.takeHopeless(time.Now()) {
		_ = c.wire.Close() // TLS would say goodbye, and wait for that
	}
}

// takeHopeless takes out the connections whose request has come to nothing. Also a request whose
// handler has panicked ends here: net/http ends its context.
func (p *pool) takeHopeless(now time.Time) (hopeless []*conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.busy) - 1; i >= 0; i-- { // takeOut puts the last one in the place of another
		c := p.busy[i]
		why := c.ctx.Err()
		if why == nil && now.Sub(c.began) > p.timeout && c.settled.CompareAndSwap(false, true) {
			why = errLate
		}
		if why != nil {
			_ = p.takeOut(c)
			c.cut = why
			hopeless = append(hopeless, c)
		}
	}
	if p.watched = len(p.busy) > 0; p.watched {
		time.AfterFunc(watchInterval, p.cutOff)
	}
	return hopeless
}

// drop closes a connection that has a request, and returns why it was cut off, if it was.
func (p *pool) drop(c *conn) error {
	p.mu.Lock()
	why := p.takeOut(c)
	p.mu.Unlock()
	c.close()
	return why
}

// put keeps a connection whose request has ended, or closes it if it was cut off or enough are
// kept.
func (p *pool) put(c *conn) {
	if !p.keep(c) {
		c.close()
	}
}

func (p *pool) keep(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.takeOut(c) != nil || p.closed || len(p.idle) == idlePerOrigin {
		return false
	}
	c.idleSince = time.Now()
	p.idle = append(p.idle, c)
	if p.sweep == nil {
		p.sweep = time.AfterFunc(min(sweepInterval, p.idleTimeout), p.clean)
	}
	return true
}

// usable reports whether a connection can be used again at now, when somebody began to look for
// one.
func (p *pool) usable(c *conn, now time.Time) bool {
	return now.Sub(c.idleSince) < p.idleTimeout && c.quiet(now)
}

// clean closes the connections that cannot be used any more, of those that were not used for
// longest, and comes again while there are others.
func (p *pool) clean() {
	oldest := p.takeOldest()
	now := time.Now()
	usable := slices.DeleteFunc(oldest, func(c *conn) bool {
		gone := !p.usable(c, now)
		if gone {
			c.close()
		}
		return gone
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		closeAll(usable)
		return
	}
	p.idle = slices.Insert(p.idle, 0, usable...)
	if p.sweep = nil; len(p.idle) > 0 {
		p.sweep = time.AfterFunc(min(sweepInterval, p.idleTimeout), p.clean)
	}
}

// takeOldest takes some of the connections without a request, while nobody has to wait until they
// have been looked at.
func (p *pool) takeOldest() []*conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(sweptAtOnce, len(p.idle))
	oldest := slices.Clone(p.idle[:n])
	p.idle = slices.Delete(p.idle, 0, n)
	return oldest
}

// close closes the connections without a request, and those whose request ends later.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.sweep != nil {
		p.sweep.Stop()
	}
	closeAll(p.idle)
	p.idle = nil
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		c.close()
	}
}
