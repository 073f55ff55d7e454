//go:build !race

package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// inUse is how much memory the process uses: its heap and its stacks, in bytes.
func inUse() float64 {
	var m runtime.MemStats
	for range 3 { // a collection halves a stack at most
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// TestWhatAnEventStreamTakes has both ends of the connections in the process. What the
// clients take is little, and counts too.
func TestWhatAnEventStreamTakes(t *testing.T) {
	const people, most = 500, 12 << 10
	f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) {
		s.RefreshInterval, s.QueueTicketTTL, s.SessionDuration = time.Hour, 24*time.Hour, 24*time.Hour
	}))
	f.Full()
	address := serve(t, f)
	tickets := make([]string, people)
	for i := range tickets {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		tickets[i], _, _ = strings.Cut(w.Header().Get("Set-Cookie"), ";")
	}
	without := inUse()
	for _, ticket := range tickets {
		conn := dialGate(t, address)
		_, err := fmt.Fprintf(conn, "GET /.fairdoor/events HTTP/1.1\r\nHost: x\r\nCookie: %s\r\n\r\n", ticket)
		require.NoError(t, err)
		var said strings.Builder
		for part := make([]byte, 4<<10); !strings.Contains(said.String(), "event: numbers"); {
			n, err := conn.Read(part)
			require.NoError(t, err)
			said.Write(part[:n])
		}
	}
	require.Equal(t, float64(people), f.Streams())
	each := (inUse() - without) / people
	t.Logf("%.1f KiB a stream", each/1024)
	assert.Less(t, each, float64(most))
}

func TestAConnectionWithoutARequestTakesLittleMoreThanNetHTTP(t *testing.T) {
	const people, most = 500, 8 << 10
	f := gatetest.Start(t)
	f.Full()
	v := f.Waits()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "wait") }))
	t.Cleanup(plain.Close)
	takes := func(address string) float64 {
		without := inUse()
		for range people {
			conn := dialGate(t, address)
			_, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\nCookie: fairdoor_shop=%s\r\n\r\n", v.Cookies["fairdoor_shop"])
			require.NoError(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
		}
		return (inUse() - without) / people
	}
	gate := takes(serve(t, f))
	netHTTP := takes(plain.Listener.Addr().String())
	t.Logf("%.1f KiB a connection, %.1f KiB with net/http", gate/1024, netHTTP/1024)
	assert.Less(t, gate, netHTTP+most)
}

// dialGate returns a connection that lasts as long as the test.
func dialGate(t *testing.T, address string) net.Conn {
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(gatetest.Patience)))
	return conn
}
