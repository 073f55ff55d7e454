// Package listentest runs servers of package listen for tests.
package listentest

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/listen"
)

// Serve has a server of cfg serve at a free port of this machine, and returns its address. What the
// test leaves open is broken off when the test ends.
func Serve(t testing.TB, cfg listen.Config) (address string, s *listen.Server) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return l.Addr().String(), ServeOn(t, l, cfg)
}

// ServeOn is Serve on a listener.
func ServeOn(t testing.TB, l net.Listener, cfg listen.Config) *listen.Server {
	t.Helper()
	s, err := listen.New(cfg)
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Shutdown(now)
		assert.NoError(t, <-served)
	})
	return s
}
