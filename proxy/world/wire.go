package world

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
)

// wire is the way between a machine and Redis. The zero wire takes as long as its links.
type wire struct {
	world *world
	cut   atomic.Int64 // until when nothing passes, in nanoseconds after the beginning
	slow  atomic.Int64 // how much longer each way takes, in nanoseconds
	lose  atomic.Int64 // how many replies are still to be lost
	late  atomic.Int64 // how many replies are still to be late
	twice atomic.Int64 // how many commands are still to come twice

	broken atomic.Int64 // how often its connections were broken
	down   atomic.Bool  // no connection can be opened
}

// dial opens connections of a process.
func (w *wire) dial(p *process, own string) redisstore.Dial {
	l := newLink(w.world.plan.Seed, own+" redis", 100*time.Microsecond, 900*time.Microsecond)
	return func(context.Context, string, string) (net.Conn, error) {
		p.run()
		switch {
		case p.dead.Load():
			return nil, errDead
		case w.down.Load():
			return nil, errRefused
		}
		near, far := net.Pipe()
		broken := w.broken.Load()
		w.world.wires.Go(func() {
			w.world.redis.Serve(far, func(reply bool) (times int) {
				if !reply {
					p.run()
				}
				times = w.pass(l, reply)
				if reply {
					p.run()
				}
				if p.dead.Load() || broken != w.broken.Load() {
					return 0
				}
				return times
			})
		})
		return near, nil
	}
}

// pass has a command or a reply pass, and says how often it arrives. What is under way as the wire
// is cut arrives later, or never.
func (w *wire) pass(l *link, reply bool) (times int) {
	wait(l.takes() + time.Duration(w.slow.Load()))
	if rest := time.Duration(w.cut.Load()) - w.world.history.now(); rest > 0 {
		took := l.takes()
		wait(rest + took)
		if took%2 == 0 {
			return 0
		}
	}
	switch {
	case reply && take(&w.lose):
		return 0
	case reply && take(&w.late):
		wait(50*time.Millisecond + 40*l.takes()) // a gate waits for a tenth of a second
	case !reply && take(&w.twice):
		return 2
	}
	return 1
}

// take takes one of those that are left, and says whether there was one.
func take(left *atomic.Int64) bool {
	if left.Load() == 0 {
		return false
	}
	left.Add(-1)
	return true
}

// fail breaks all connections, and has none be opened for a time.
func (w *wire) fail(d time.Duration) {
	w.down.Store(true)
	w.broken.Add(1)
	wait(d)
	w.down.Store(false)
}

var errRefused = errors.New("connection refused")
