package listen_test

import (
	"net"
	"net/http"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
)

// TestADeadConnectionIsNoticed looks at what the system was told: no test can pull
// a cable.
func TestADeadConnectionIsNoticed(t *testing.T) {
	t.Parallel()
	options := make(chan map[int]int, 1)
	cfg := handler(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		defer c.Close()
		tcp := reflect.ValueOf(c).Elem().FieldByName("Conn").Interface().(*net.TCPConn)
		raw, err := tcp.SyscallConn()
		assert.NoError(t, err)
		told := map[int]int{}
		assert.NoError(t, raw.Control(func(fd uintptr) {
			for _, option := range []int{syscall.TCP_KEEPIDLE, syscall.TCP_KEEPINTVL, syscall.TCP_KEEPCNT, tcpUserTimeout} {
				told[option], err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, option)
				assert.NoError(t, err)
			}
		}))
		options <- told
	})
	cfg.ProgressTimeout = 30 * time.Second
	address, _ := listentest.Serve(t, cfg)
	_, err := dial(t, address).Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	require.NoError(t, err)
	assert.Equal(t, map[int]int{syscall.TCP_KEEPIDLE: 15, syscall.TCP_KEEPINTVL: 5, syscall.TCP_KEEPCNT: 3, tcpUserTimeout: 30_000}, soon(t, options))
}

const tcpUserTimeout = 0x12
