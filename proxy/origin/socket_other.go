//go:build !unix

package origin

import (
	"errors"
	"net"
)

// canPeek reports whether a socket can be looked at without waiting.
const canPeek = false

// socket is what a connection's bytes come from.
type socket struct{}

func socketOf(net.Conn) (*socket, error) { return nil, errors.ErrUnsupported }

func (*socket) look() (came []byte, quiet bool) { return nil, false }
