package flood

import (
	"io"
	"net"
	"sync"
	"time"
)

const (
	// holdFor is for how long a connection or a stream is held at least, on average.
	holdFor = 5 * time.Second
	// mostClosed is how many are closed a second at most. Their clients come back at once, and have
	// to be shed again.
	mostClosed = 500
	// closeEvery is how often some are closed.
	closeEvery = 4 * time.Millisecond
	// mostConns is how many connections are held at most, and no more than half of the files that
	// may be open: the oldest makes room for a new one.
	mostConns = 32768
	// mostStreams is how many streams are held at most. A stream takes about 20 KiB, many times
	// what a connection of HTTP/1 does.
	mostStreams = 8192
)

// pen holds connections or streams that were shed until they are closed. It closes the oldest
// first, and steadily, so that a crowd that was shed in one moment comes back bit by bit.
type pen struct {
	mu     sync.Mutex
	held   []io.Closer
	owed   float64 // how many are to be closed; less than 1 after each time
	closed bool
	most   int            // that are held; if it is 0, the first connection sets it
	closes bool           // run goes on
	tasks  sync.WaitGroup // run, while any is held
}

// stream is one of HTTP/2 whose request was shed: a channel that is closed when the stream is to
// end.
type stream chan struct{}

// Close ends the stream.
func (s stream) Close() error {
	close(s)
	return nil
}

// hold holds a connection or a stream, or closes it if the pen is closed.
func (p *pen) hold(c io.Closer) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return c.Close()
	}
	if p.most == 0 {
		p.most = min(mostConns, openFiles()/2)
	}
	if !p.closes {
		p.closes = true
		p.tasks.Go(p.run)
	}
	p.held = append(p.held, c)
	var oldest []io.Closer
	if len(p.held) > p.most {
		oldest = p.oldest(1)
	}
	p.mu.Unlock()
	closeAll(oldest)
	return nil
}

// size is how many are held.
func (p *pen) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held)
}

// run closes what is held until nothing is left.
func (p *pen) run() {
	ticker := time.NewTicker(closeEvery)
	defer ticker.Stop()
	for range ticker.C {
		p.mu.Lock()
		p.owed += min(float64(len(p.held))/holdFor.Seconds(), mostClosed) * closeEvery.Seconds()
		due := p.oldest(int(p.owed))
		p.owed -= float64(len(due))
		p.closes = len(p.held) > 0
		over := !p.closes
		p.mu.Unlock()
		closeAll(due)
		if over {
			return
		}
	}
}

// oldest takes out as many, with mu held.
func (p *pen) oldest(n int) []io.Closer {
	n = min(n, len(p.held))
	out := p.held[:n:n]
	if p.held = p.held[n:]; len(p.held) == 0 {
		p.held = nil
	}
	return out
}

// makeRoom closes half of them.
func (p *pen) makeRoom() {
	p.mu.Lock()
	out := p.oldest((len(p.held) + 1) / 2)
	p.mu.Unlock()
	closeAll(out)
}

// close closes all of them, and from now on each at once.
func (p *pen) close() {
	p.mu.Lock()
	p.closed = true
	out := p.oldest(len(p.held))
	p.mu.Unlock()
	closeAll(out)
	p.tasks.Wait()
}

func closeAll(all []io.Closer) {
	for i, c := range all {
		_ = c.Close()
		all[i] = nil
	}
}

// reset has the system forget a TCP connection when it is closed, and tell the other side so: there
// is nothing that it should still deliver.
func reset(c net.Conn) {
	if tcp, ok := c.(interface{ SetLinger(sec int) error }); ok {
		_ = tcp.SetLinger(0)
	}
}
