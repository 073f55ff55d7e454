package origin

import (
	"slices"
	"sync"
	"time"
)

// sweepInterval is how often idle connections are looked at, and sweptAtOnce how many of them: those that the origin has ended are
// closed here, too.
const (
	sweepInterval = 5 * time.Second
	sweptAtOnce   = idlePerOrigin / 16
)

// idleConns are kept connections without a request. The one that was used last is used next.
type idleConns struct {
	timeout time.Duration // how long a connection is kept

	mu     sync.Mutex
	conns  []*conn // by when they were used last
	sweep  *time.Timer
	closed bool
}

// take returns a connection that can carry a request, or nil.
func (i *idleConns) take() *conn {
	for {
		c := i.pop()
		if c == nil || i.usable(c, time.Now()) {
			return c
		}
		c.close()
	}
}

func (i *idleConns) pop() *conn {
	i.mu.Lock()
	defer i.mu.Unlock()
	last := len(i.conns) - 1
	if last < 0 {
		return nil
	}
	c := i.conns[last]
	i.conns[last] = nil
	i.conns = i.conns[:last]
	return c
}

func (i *idleConns) usable(c *conn, now time.Time) bool {
	return now.Sub(c.idleSince) < i.timeout && c.quiet()
}

// put keeps a connection, or closes it if enough are kept.
func (i *idleConns) put(c *conn) {
	c.idleSince = time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed || len(i.conns) == idlePerOrigin {
		c.close()
		return
	}
	i.conns = append(i.conns, c)
	if i.sweep == nil {
		i.sweep = time.AfterFunc(min(sweepInterval, i.timeout), i.clean)
	}
}

// clean closes the connections that cannot be used any more, of those that were not used for longest, and comes again while there are others.
func (i *idleConns) clean() {
	oldest := i.takeOldest()
	now := time.Now()
	usable := slices.DeleteFunc(oldest, func(c *conn) bool {
		gone := !i.usable(c, now)
		if gone {
			c.close()
		}
		return gone
	})
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		closeAll(usable)
		return
	}
	i.conns = slices.Insert(i.conns, 0, usable...)
	if i.sweep = nil; len(i.conns) > 0 {
		i.sweep = time.AfterFunc(min(sweepInterval, i.timeout), i.clean)
	}
}

// takeOldest takes some of the connections, while nobody has to wait until they have been looked at.
func (i *idleConns) takeOldest() []*conn {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := min(sweptAtOnce, len(i.conns))
	oldest := slices.Clone(i.conns[:n])
	i.conns = slices.Delete(i.conns, 0, n)
	return oldest
}

// close closes the connections, and those that are put here later.
func (i *idleConns) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	closeAll(i.conns)
	i.conns = nil
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		c.close()
	}
}
