package origin_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/textproto"
	"runtime"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

func TestWebsocketsPass(t *testing.T) {
	t.Parallel()
	statuses := make(chan int, 1)
	ended := make(chan error, 1)
	back := site(t, func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if !assert.NoError(t, err) {
			return
		}
		defer c.CloseNow()
		for {
			kind, msg, err := c.Read(r.Context())
			if err != nil {
				ended <- err
				return
			}
			assert.NoError(t, c.Write(r.Context(), kind, append([]byte("echo "), msg...)))
		}
	})
	srv, _ := gate(t, back.URL, func(c *origin.Config) {
		c.OnResponse = func(resp *http.Response) { statuses <- resp.StatusCode }
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, path := range []string{"/chat?room=1;2", `//chat\1`} {
		c := websocketTo(ctx, t, srv.URL, path)
		for i := range 100 {
			require.NoError(t, c.Write(ctx, websocket.MessageText, fmt.Append(nil, i)))
			_, msg, err := c.Read(ctx)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint("echo ", i), string(msg))
		}
		require.NoError(t, c.Close(websocket.StatusNormalClosure, "bye"))
		var closed websocket.CloseError
		require.ErrorAs(t, soon(t, ended), &closed)
		assert.Equal(t, "bye", closed.Reason)
		assert.Equal(t, http.StatusSwitchingProtocols, soon(t, statuses))
	}
}

// websocketTo opens a websocket to a target that may not be spelled as URLs are.
func websocketTo(ctx context.Context, t *testing.T, base, target string) *websocket.Conn {
	t.Helper()
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	c, resp, err := websocket.Dial(ctx, base+target, &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	require.NoError(t, err)
	if resp.Body != nil {
		resp.Body.Close()
	}
	return c
}

func TestASwitchOfProtocolsThatNobodyAskedForIsRefused(t *testing.T) {
	t.Parallel()
	for _, up := range []string{"h2c", "websocket", "websocket, h2c"} {
		closed := make(chan struct{})
		address := silent(t, func(c net.Conn) {
			readOnce(c)
			_, err := io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+up+"\r\n\r\n")
			assert.NoError(t, err)
			drain(c)
			close(closed)
		})
		srv, o := gate(t, address)
		resp := raw(t, srv.URL, "GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
		assert.Equal(t, http.StatusBadGateway, resp.StatusCode, up)
		soon(t, closed) // the connection to the origin is not left open
		assert.False(t, o.Failing(), "an origin that answers does not fail")
	}
}

func TestEventStreamsAndAnswersOfUnknownLengthAreFlushedAtOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"text/event-stream", "text/event-stream; charset=utf-8", "application/x-ndjson"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			next := make(chan string)
			back := site(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				for line := range next {
					fmt.Fprintln(w, line)
					assert.NoError(t, http.NewResponseController(w).Flush())
				}
			})
			srv, _ := gate(t, back.URL)
			go func() { next <- "data: first" }()
			resp, err := http.Get(srv.URL)
			require.NoError(t, err)
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			require.True(t, lines.Scan())
			assert.Equal(t, "data: first", lines.Text())
			next <- "data: second"
			require.True(t, lines.Scan())
			assert.Equal(t, "data: second", lines.Text())
			close(next)
			assert.False(t, lines.Scan())
		})
	}
}

func TestTrailersPassBothWays(t *testing.T) {
	t.Parallel()
	trailers := make(chan http.Header, 1)
	back := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		_, err := io.Copy(w, r.Body)
		assert.NoError(t, err)
		w.Header().Set("X-Sum", "out")
		w.Header().Set(http.TrailerPrefix+"X-Late", "late")
		trailers <- r.Trailer
	})
	srv, _ := gate(t, back.URL)
	resp := raw(t, srv.URL, "POST / HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\n"+
		"Trailer: X-Sum, X-Forwarded-For, Fairdoor-Command\r\n\r\n2\r\nok\r\n0\r\n"+
		"X-Sum: in\r\nX-Sum: twice\r\nX-Forwarded-For: 6.6.6.6\r\nFairdoor-Command: revoke\r\nX-Unannounced: 1\r\n\r\n")
	assert.Equal(t, http.Header{"X-Sum": {"in", "twice"}}, soon(t, trailers), "what would be removed as a header is removed here")
	assert.Equal(t, "ok", text(t, resp))
	assert.Equal(t, http.Header{"X-Sum": {"out"}, "X-Late": {"late"}}, resp.Trailer)
}

func TestWhatAHeaderMayNotSayATrailerMayNot(t *testing.T) {
	t.Parallel()
	back := site(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		assert.NoError(t, err)
		assert.Equal(t, http.Header{"X-Sum": {"1"}}, r.Trailer)
		_, _ = io.WriteString(w, "ok")
	})
	srv, _ := gate(t, back.URL, func(c *origin.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	for _, name := range []string{
		"Cookie", "cookie", "Authorization", "Host", "Connection", "Keep-Alive", "Te", "Upgrade", "Proxy-Connection", "Proxy_Authorization", "Expect", "Content-Type", "Range",
		"X-Forwarded-For", "X_Forwarded_For", "Forwarded", "X-Real-Ip", "X-Original-Url", "True-Client-Ip", "Fairdoor-Command", "cf_waiting_room_command", "X-Hop",
	} {
		for _, connection := range []string{"X-Hop", "x-hop, close"} {
			resp := raw(t, srv.URL, "POST / HTTP/1.1\r\nHost: shop.test\r\nConnection: "+connection+"\r\nTransfer-Encoding: chunked\r\n"+
				"Trailer: X-Sum, "+name+"\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n"+name+": 1\r\n\r\n")
			assert.Equal(t, "ok", text(t, resp), name)
		}
	}
}

func TestContinueIsTheOriginsToSay(t *testing.T) {
	t.Parallel()
	back := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refuse" {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		_, err := io.Copy(w, r.Body)
		assert.NoError(t, err)
	})
	srv, _ := gate(t, back.URL)

	t.Run("an origin that refuses is not sent the body", func(t *testing.T) {
		conn := dial(t, srv.URL)
		_, err := io.WriteString(conn, "POST /refuse HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
		require.NoError(t, err)
		assert.Equal(t, http.StatusRequestEntityTooLarge, answer(t, bufio.NewReader(conn)).StatusCode)
	})
	t.Run("an origin that wants the body gets it", func(t *testing.T) {
		conn := dial(t, srv.URL)
		in := bufio.NewReader(conn)
		_, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
		require.NoError(t, err)
		first, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusContinue, first.StatusCode)
		_, err = io.WriteString(conn, "hello")
		require.NoError(t, err)
		resp := answer(t, in)
		assert.Equal(t, http.StatusOK, resp.StatusCode, "100 is said once")
		assert.Equal(t, "hello", text(t, resp))
	})
}

func TestEarlyHintsPass(t *testing.T) {
	t.Parallel()
	back := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Content-Type", "text/plain")
		_, err := io.WriteString(w, "ok")
		assert.NoError(t, err)
	})
	var answers int
	srv, _ := gate(t, back.URL, func(c *origin.Config) { c.OnResponse = func(*http.Response) { answers++ } })
	var hints []string
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
			hints = append(hints, fmt.Sprint(code, " ", h.Get("Link")))
			return nil
		},
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
	require.NoError(t, err)
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	assert.Equal(t, "ok", text(t, resp))
	assert.Equal(t, []string{"103 </a.css>; rel=preload"}, hints)
	assert.Equal(t, 1, answers)
}

const large = 64 << 20

// random is a stream of random bytes that is the same for the same seed.
func random(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }

func sum(r io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

func TestLargeBodiesStreamBothWays(t *testing.T) {
	// Not parallel: it looks at the memory of the process.
	sums := make(chan string, 1)
	back := site(t, func(w http.ResponseWriter, r *http.Request) {
		got, err := sum(r.Body)
		assert.NoError(t, err)
		sums <- got
		w.Header().Set("Content-Length", fmt.Sprint(large))
		_, err = io.CopyN(w, random(2), large)
		assert.NoError(t, err)
	})
	srv, _ := gate(t, back.URL)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	resp, err := http.Post(srv.URL, "application/octet-stream", io.LimitReader(random(1), large))
	require.NoError(t, err)
	defer resp.Body.Close()
	got, err := sum(resp.Body)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	up, err := sum(io.LimitReader(random(1), large))
	require.NoError(t, err)
	down, err := sum(io.LimitReader(random(2), large))
	require.NoError(t, err)
	assert.Equal(t, up, soon(t, sums))
	assert.Equal(t, down, got)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "128 MiB went through without being kept")
}

func TestAWebsocketThatOneSideHasEndedEnds(t *testing.T) {
	t.Parallel()
	for side, ends := range map[string]func(visitor, origin net.Conn) net.Conn{
		"the visitor's": func(visitor, _ net.Conn) net.Conn { return visitor },
		"the origin's":  func(_, origin net.Conn) net.Conn { return origin },
	} {
		t.Run(side, func(t *testing.T) {
			t.Parallel()
			behind := make(chan net.Conn, 1)
			address := silent(t, func(c net.Conn) {
				readOnce(c)
				_, err := io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
				assert.NoError(t, err)
				behind <- c
				<-t.Context().Done()
			})
			ended := make(chan struct{})
			o := newOrigin(t, address)
			srv := site(t, func(w http.ResponseWriter, r *http.Request) {
				defer close(ended)
				o.ServeHTTP(w, r)
			})
			visitor := dial(t, srv.URL)
			_, err := io.WriteString(visitor, "GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			require.NoError(t, err)
			require.Equal(t, http.StatusSwitchingProtocols, answer(t, bufio.NewReader(visitor)).StatusCode)
			first := ends(visitor, soon(t, behind))
			require.NoError(t, first.(*net.TCPConn).CloseWrite())
			soon(t, ended) // though the other side never does
		})
	}
}
