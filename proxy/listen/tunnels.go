package listen

import (
	"context"
	"net"
	"sync"
)

// tunnels are the hijacked connections, which http.Server forgets, and the handlers that may hijack
// one or serve one.
type tunnels struct {
	mu       sync.Mutex
	open     map[*conn]struct{}
	handlers int
	closing  bool          // hijacked connections are closed at once
	idle     chan struct{} // closed when no handler is left; nil while nobody waits
}

// hijacked keeps a connection that net/http forgets.
func (t *tunnels) hijacked(c net.Conn) {
	ours := connOf(c)
	if ours == nil {
		return
	}
	t.mu.Lock()
	closing := t.closing
	if !closing {
		if t.open == nil {
			t.open = make(map[*conn]struct{})
		}
		t.open[ours] = struct{}{}
	}
	t.mu.Unlock()
	if closing {
		ours.Conn.Close()
	}
}

func (t *tunnels) forget(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, c)
}

// enter counts a handler, unless tunnels are closed at once.
func (t *tunnels) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closing {
		return false
	}
	t.handlers++
	return true
}

func (t *tunnels) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handlers--
	if t.handlers == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

// wait waits until no handler is left or ctx ends.
func (t *tunnels) wait(ctx context.Context) {
	t.mu.Lock()
	if t.handlers == 0 {
		t.mu.Unlock()
		return
	}
	if t.idle == nil {
		t.idle = make(chan struct{})
	}
	idle := t.idle
	t.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// close closes the open tunnels, and those that are still to come.
func (t *tunnels) close() {
	t.mu.Lock()
	t.closing = true
	open := t.open
	t.open = nil
	t.mu.Unlock()
	for c := range open {
		c.Conn.Close()
	}
}
