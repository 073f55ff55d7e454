package origin_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// careless is an origin that reads no body: what follows a request's header is the
// next request to it. It ends a connection where it is asked to.
type careless struct {
	net.Listener
	conns sync.WaitGroup
	mu    sync.Mutex
	lines []string // the request lines that it has seen
}

func newCareless(t *testing.T) *careless {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	o := &careless{Listener: l}
	o.conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			o.conns.Go(func() { o.serve(c) })
		}
	})
	t.Cleanup(func() { l.Close() })
	return o
}

func (o *careless) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		o.mu.Lock()
		o.lines = append(o.lines, strings.TrimSpace(line))
		o.mu.Unlock()
		last := false
		for header := ""; header != "\r\n"; last = last || strings.EqualFold(header, "Connection: close\r\n") {
			if header, err = in.ReadString('\n'); err != nil {
				return
			}
		}
		if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); err != nil || last {
			return
		}
	}
}

func TestABodyThatTheOriginIgnoresIsNoRequestOfTheNextVisitors(t *testing.T) {
	t.Parallel()
	for _, request := range []string{
		"GET / HTTP/1.1\r\nContent-Length: %d", "HEAD / HTTP/1.1\r\nContent-Length: %d", "OPTIONS / HTTP/1.1\r\nContent-Length: %d",
		"DELETE / HTTP/1.1\r\nContent-Length: %d", "get / HTTP/1.1\r\nContent-Length: %d", "QUERY / HTTP/1.1\r\nContent-Length: %d",
		"GET //x\\ HTTP/1.1\r\nContent-Length: %d", "GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: %d",
		"GET / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: %d",
	} {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			back := newCareless(t)
			srv, o := gate(t, "http://"+back.Addr().String())
			body := "GET /smuggled HTTP/1.1\r\nX-Rest: "
			for range 3 {
				resp := raw(t, srv.URL, fmt.Sprintf(request, len(body))+"\r\nHost: shop.test\r\n\r\n"+body)
				assert.Equal(t, http.StatusOK, resp.StatusCode)
				resp = raw(t, srv.URL, "GET /next HTTP/1.1\r\nHost: shop.test\r\n\r\n")
				assert.Equal(t, http.StatusOK, resp.StatusCode)
			}
			srv.Close()
			o.Close()
			back.Close()
			back.conns.Wait()
			next := 0
			for _, line := range back.lines {
				assert.NotContains(t, line, "smuggled", "it ends the connection as it is asked to")
				if line == "GET /next HTTP/1.1" {
					next++
				}
			}
			assert.Equal(t, 3, next, back.lines)
		})
	}
}
