// Package porttest has addresses for tests that start programs which have to be told where to
// listen.
package porttest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// Address returns an address on this machine, 127.0.0.1 and a port, at which nobody listens and
// which nobody else is given until the test ends. A program that the test starts may listen there,
// and again once it has ended.
func Address(t testing.TB) string {
	t.Helper()
	bound, err := bind()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bound.Close()) })
	return bound.Addr().String()
}

// port is one that is taken.
type port interface {
	Addr() net.Addr
	Close() error
}
