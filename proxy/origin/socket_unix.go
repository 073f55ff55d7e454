//go:build unix

package origin

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// canPeek reports whether a socket can be looked at without waiting.
const canPeek = true

// socket is what a connection's bytes come from.
type socket struct {
	raw   syscall.RawConn
	peek  func(fd uintptr)
	ahead [lookahead]byte
	n     int   // how much of ahead peek has filled
	err   error // of peek
}

func socketOf(wire net.Conn) (*socket, error) {
	of, ok := wire.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("looking for the socket of %T: %w", wire, errors.ErrUnsupported)
	}
	raw, err := of.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("looking for the socket: %w", err)
	}
	s := &socket{raw: raw}
	s.peek = func(fd uintptr) {
		s.n, _, s.err = syscall.Recvfrom(int(fd), s.ahead[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	}
	return s, nil
}

// look returns how what has come in begins, and whether the socket is quiet: open, with nothing
// come in.
func (s *socket) look() (came []byte, quiet bool) {
	if s.raw.Control(s.peek) != nil {
		return nil, false
	}
	return s.ahead[:max(0, s.n)], errors.Is(s.err, syscall.EAGAIN)
}
