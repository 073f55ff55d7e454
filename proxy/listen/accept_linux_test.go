package listen_test

import (
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
)

func TestConnectionsComeOnceSomethingWasSentOnThem(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listentest.ServeOn(t, l, handler(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	raw, err := l.(syscall.Conn).SyscallConn()
	require.NoError(t, err)
	deferred := func() bool {
		var seconds int
		err := raw.Control(func(fd uintptr) {
			seconds, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_DEFER_ACCEPT)
		})
		return err == nil && seconds >= 5
	}
	require.Eventually(t, deferred, patience, time.Millisecond)
	conn := dial(t, l.Addr().String())
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, status(t, conn))
}
