package redistest

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// Proxy passes connections on to a server. Its methods, which may be called concurrently,
// disturb them.
type Proxy struct {
	Addr string

	t      testing.TB
	target string
	group  sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	delay    time.Duration
	hole     bool
	thawed   *sync.Cond // of mu: hole has ended
	lose     int        // replies to scripts until one is lost; 0 for none
	scripts  int
	closed   bool
}

// NewProxy returns a proxy in front of the server at addr.
func NewProxy(t testing.TB, addr string) *Proxy {
	t.Helper()
	p := &Proxy{t: t, target: addr, Addr: porttest.Address(t), conns: map[net.Conn]bool{}}
	p.thawed = sync.NewCond(&p.mu)
	p.Accept()
	t.Cleanup(func() {
		p.Refuse()
		p.mu.Lock()
		p.closed = true
		p.thawed.Broadcast()
		p.mu.Unlock()
		p.group.Wait()
	})
	return p
}

// URL is the proxy's address as the store's setting has it.
func (p *Proxy) URL() string { return "redis://" + p.Addr }

// Refuse cuts all connections and refuses new ones.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	p.mu.Unlock()
	p.Cut()
}

// Accept takes connections again.
func (p *Proxy) Accept() {
	p.t.Helper()
	l, err := net.Listen("tcp", p.Addr)
	require.NoError(p.t, err)
	p.mu.Lock()
	p.listener = l
	p.mu.Unlock()
	p.group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.group.Go(func() { p.serve(conn) })
		}
	})
}

// Cut ends all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
}

// Swallow has the proxy pass on nothing, and keep the connections. Swallow(false) has it pass
// on what has gathered.
func (p *Proxy) Swallow(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hole = on
	p.thawed.Broadcast()
}

// Delay holds every reply back for a time.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// LoseReply loses the reply to the kth script from now, 1 being the next: the
// server has run it, and the connection ends instead of an answer.
func (p *Proxy) LoseReply(k int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose = k
}

// Scripts is how many scripts were sent through the proxy.
func (p *Proxy) Scripts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.scripts
}

func (p *Proxy) serve(near net.Conn) {
	defer func() { _ = near.Close() }()
	far, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer func() { _ = far.Close() }()
	p.mu.Lock()
	p.conns[near], p.conns[far] = true, true
	p.mu.Unlock()

	asked := make(chan struct{}, 1<<16) // a script whose reply has not come
	p.group.Go(func() {
		p.pass(near, far, func(b []byte) bool {
			if bytes.Contains(b, []byte("evalsha")) || bytes.Contains(b, []byte("eval\r\n")) {
				asked <- struct{}{}
			}
			return true
		})
	})
	p.pass(far, near, func([]byte) bool {
		select {
		case <-asked:
			return p.mayReply()
		default:
			return true
		}
	})
	p.mu.Lock()
	delete(p.conns, near)
	delete(p.conns, far)
	p.mu.Unlock()
}

// pass copies what comes, until either side ends or may returns false.
func (p *Proxy) pass(from, to net.Conn, may func([]byte) bool) {
	defer func() { _, _ = from.Close(), to.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		for p.hole && !p.closed {
			p.thawed.Wait()
		}
		delay := p.delay
		p.mu.Unlock()
		ok := may(buffer[:n])
		if delay > 0 {
			<-time.After(delay / 2) // either way
		}
		if !ok {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// mayReply counts replies to scripts, and reports whether this one arrives.
func (p *Proxy) mayReply() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts++
	if p.lose == 0 {
		return true
	}
	p.lose--
	return p.lose > 0
}
