package listen

import (
	"errors"
	"net"
	"runtime"
	"syscall"
	"time"
)

// Of a crowd, a batch of connections is accepted at a time for each processor. A batch is a part of
// a crowd if the connections come faster than one a millisecond.
const (
	batch     = 16
	unhurried = time.Millisecond
	breath    = 50 * time.Microsecond
)

// listener makes every connection one that has to make progress.
type listener struct {
	net.Listener
	server   *Server
	accepted int       // of the batch
	begun    time.Time // when the batch began
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	l.breathe()
	c, err := l.Listener.Accept()
	s := l.server
	if err != nil {
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			s.bound.MakeRoom()
		}
		return nil, err // net/http looks at the error's type
	}
	missDead(c, s.timeout)
	of := &conn{Conn: unproxied(c, s.balancers, s.http.ReadHeaderTimeout), timeout: s.timeout, tunnels: &s.tunnels, bound: s.bound}
	if s.certs != nil {
		of.secure, of.serves, of.maxHeader = true, s.serves, int64(s.http.MaxHeaderBytes)
	}
	if s.http.Protocols.UnencryptedHTTP2() { // net/http waits for the first bytes without a deadline of its own
		_ = of.SetReadDeadline(time.Now().Add(s.http.ReadHeaderTimeout)) // a connection that is gone fails later
	}
	return of, nil
}

// breathe lets requests of the connections that are there already have their turn between two
// batches. Go looks for what has come on these only when nothing else can run, and while a crowd
// comes, accepting can always run.
func (l *listener) breathe() {
	size := batch * runtime.GOMAXPROCS(0)
	if l.accepted++; l.accepted < size {
		return
	}
	if now := time.Now(); now.Sub(l.begun) < time.Duration(size)*unhurried {
		runtime.Gosched()    // to those who were accepted
		<-time.After(breath) // to those who were there before
	}
	l.accepted, l.begun = 0, time.Now()
}
