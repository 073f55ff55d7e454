//go:build !linux

package porttest

import "net"

// bind takes a port and gives it back at once: elsewhere nobody may listen at one that is taken.
func bind() (port, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return closed{l}, l.Close()
}

// closed is a listener that is closed.
type closed struct{ net.Listener }

func (closed) Close() error { return nil }
