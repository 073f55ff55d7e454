package listen_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
)

func ok(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, r.Proto, " ", r.RequestURI)
}

func TestAServerNeedsAHandler(t *testing.T) {
	t.Parallel()
	_, err := listen.New(listen.Config{})
	assert.ErrorContains(t, err, "needs a handler")
}

func TestHeadersHaveLimits(t *testing.T) {
	t.Parallel()
	address, _ := listentest.Serve(t, handler(ok))
	for _, c := range []struct {
		name   string
		size   int
		status int
	}{
		{"60 KiB pass", 60 << 10, http.StatusOK},
		{"70 KiB do not", 70 << 10, http.StatusRequestHeaderFieldsTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, address)
			_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-Long: "+strings.Repeat("a", c.size)+"\r\n\r\n")
			require.NoError(t, err)
			assert.Equal(t, c.status, status(t, conn))
		})
	}
}

func TestOptionsOfTheServerReachTheHandler(t *testing.T) {
	t.Parallel()
	address, _ := listentest.Serve(t, handler(ok))
	conn := dial(t, address)
	_, err := io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Contains(t, string(answer), "HTTP/1.1 *")
}

func TestHTTP2IsSpokenOverTLSOnly(t *testing.T) {
	t.Parallel()
	t.Run("it is chosen over TLS", func(t *testing.T) {
		t.Parallel()
		cfg := handler(ok)
		cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
		address, _ := listentest.Serve(t, cfg)
		resp, err := overHTTP2(t).Get("https://" + address + "/a")
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "HTTP/2.0 /a", string(body))
	})
	t.Run("HTTP/1.1 is still there over TLS", func(t *testing.T) {
		t.Parallel()
		cfg := handler(ok)
		cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
		address, _ := listentest.Serve(t, cfg)
		conn := tls.Client(dial(t, address), anyone("shop.test", "http/1.1"))
		_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, status(t, conn))
	})
	t.Run("prior knowledge is refused", func(t *testing.T) {
		t.Parallel()
		address, _ := listentest.Serve(t, handler(ok))
		conn := dial(t, address)
		_, err := io.WriteString(conn, http2.ClientPreface)
		require.NoError(t, err)
		require.NoError(t, http2.NewFramer(conn, nil).WriteSettings())
		assert.Equal(t, http.StatusHTTPVersionNotSupported, status(t, conn), "in HTTP/1.1")
	})
	t.Run("an upgrade to it is left alone", func(t *testing.T) {
		t.Parallel()
		address, _ := listentest.Serve(t, handler(ok))
		conn := dial(t, address)
		_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\n"+
			"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, status(t, conn))
	})
}

func TestAConnectionOfHTTP2HasAHundredStreamsAtMost(t *testing.T) {
	t.Parallel()
	began, end := make(chan struct{}, 200), make(chan struct{})
	defer close(end)
	cfg := handler(func(http.ResponseWriter, *http.Request) {
		began <- struct{}{}
		<-end
	})
	cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
	address, _ := listentest.Serve(t, cfg)
	conn := tls.Client(dial(t, address), anyone("shop.test", "h2"))
	_, err := io.WriteString(conn, http2.ClientPreface)
	require.NoError(t, err)
	framer := http2.NewFramer(conn, conn)
	require.NoError(t, framer.WriteSettings())
	var header bytes.Buffer
	fields := hpack.NewEncoder(&header)
	// A stream that is given up at once leaves its handler running.
	for stream := uint32(1); stream < 400; stream += 2 {
		header.Reset()
		for _, f := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "shop.test"}, {":path", "/"}} {
			require.NoError(t, fields.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}))
		}
		require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: header.Bytes(), EndStream: true, EndHeaders: true}))
		require.NoError(t, framer.WriteRSTStream(stream, http2.ErrCodeCancel))
	}
	for range 100 {
		soon(t, began)
	}
	require.NoError(t, framer.WritePing(false, [8]byte{}))
	for answered := false; !answered; {
		frame, err := framer.ReadFrame()
		require.NoError(t, err)
		ping, ok := frame.(*http2.PingFrame)
		answered = ok && ping.IsAck()
	}
	assert.Empty(t, began, "no more are started while these go on")
}

// nameServed is the name of the certificate that the server shows to somebody who asks for another.
func nameServed(t *testing.T, address, asked string) string {
	t.Helper()
	conn := tls.Client(dial(t, address), anyone(asked))
	require.NoError(t, conn.Handshake())
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestCertificatesAreChosenByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := handler(ok)
	cfg.Certificates = []listen.Certificate{certificate(t, dir, "a.test"), certificate(t, dir, "b.test")}
	address, _ := listentest.Serve(t, cfg)
	assert.Equal(t, "a.test", nameServed(t, address, "a.test"))
	assert.Equal(t, "b.test", nameServed(t, address, "b.test"))
	assert.Equal(t, "a.test", nameServed(t, address, "c.test"), "the first stands in")
	old := anyone("a.test")
	old.MaxVersion = tls.VersionTLS11
	assert.Error(t, tls.Client(dial(t, address), old).Handshake())
}

func TestCertificatesAreReloaded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := handler(ok)
	cfg.Certificates = []listen.Certificate{certificate(t, dir, "a.test"), certificate(t, dir, "b.test")}
	address, s := listentest.Serve(t, cfg)
	serial := func() string {
		conn := tls.Client(dial(t, address), anyone("a.test"))
		require.NoError(t, conn.Handshake())
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	first := serial()
	require.Equal(t, first, serial())
	certificate(t, dir, "a.test")
	require.NoError(t, s.Reload())
	second := serial()
	assert.NotEqual(t, first, second)

	certificate(t, dir, "a.test")
	require.NoError(t, os.WriteFile(cfg.Certificates[1].Key, []byte("rubbish"), 0o600))
	assert.ErrorContains(t, s.Reload(), "b.test.key")
	assert.Equal(t, second, serial(), "all of the old ones stay")
}

func TestUnreadableCertificatesAreReportedTogether(t *testing.T) {
	t.Parallel()
	cfg := handler(ok)
	cfg.Certificates = []listen.Certificate{{Cert: "one.crt", Key: "one.key"}, {Cert: "two.crt", Key: "two.key"}}
	_, err := listen.New(cfg)
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "one.crt")
	assert.ErrorContains(t, err, "two.crt")
}

func TestReloadWithoutTLSDoesNothing(t *testing.T) {
	t.Parallel()
	_, s := listentest.Serve(t, handler(ok))
	assert.NoError(t, s.Reload())
}

func TestShutdownLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	started, finish := make(chan struct{}), make(chan struct{})
	address, s := listentest.Serve(t, handler(func(w http.ResponseWriter, _ *http.Request) {
		close(started)
		<-finish
		w.WriteHeader(http.StatusTeapot)
	}))
	conn := dial(t, address)
	_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	soon(t, started)
	down := make(chan error, 1)
	go func() { down <- s.Shutdown(context.Background()) }()
	assert.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err != nil
	}, patience, time.Millisecond, "nobody new is let in")
	close(finish)
	assert.Equal(t, http.StatusTeapot, status(t, conn))
	assert.NoError(t, soon(t, down))
}

// accepts tells when a connection has been accepted.
type accepts struct {
	net.Listener
	told chan struct{}
}

func (a accepts) Accept() (net.Conn, error) {
	c, err := a.Listener.Accept()
	if err == nil {
		close(a.told)
	}
	return c, err
}

func TestShutdownAnswersRequestsThatAreBeingRead(t *testing.T) {
	t.Parallel()
	s, err := listen.New(handler(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served, accepted := make(chan error, 1), make(chan struct{})
	go func() { served <- s.Serve(accepts{l, accepted}) }()
	conn := dial(t, l.Addr().String())
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\n")
	require.NoError(t, err)
	soon(t, accepted)
	down := make(chan error, 1)
	go func() { down <- s.Shutdown(context.Background()) }()
	assert.NoError(t, soon(t, served), "nobody new is let in")
	_, err = io.WriteString(conn, "Host: x\r\n\r\n")
	require.NoError(t, err)
	assert.Equal(t, http.StatusTeapot, status(t, conn))
	assert.NoError(t, soon(t, down))
}

func TestShutdownBreaksOffRequestsAtItsEnd(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	address, s := listentest.Serve(t, handler(func(_ http.ResponseWriter, r *http.Request) {
		close(started)
		<-r.Context().Done()
	}))
	conn := dial(t, address)
	_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	soon(t, started)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, s.Shutdown(ctx), context.DeadlineExceeded)
	_, err = conn.Read(make([]byte, 1))
	assert.ErrorIs(t, err, io.EOF)
}

func TestShutdownClosesWebsockets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, scheme string }{{"over a plain connection", "ws"}, {"over TLS", "wss"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan struct{})
			cfg := handler(func(w http.ResponseWriter, r *http.Request) {
				defer close(ended)
				ws, err := websocket.Accept(w, r, nil)
				if !assert.NoError(t, err) {
					return
				}
				defer ws.CloseNow()
				for {
					kind, msg, err := ws.Read(context.Background())
					if err != nil {
						return
					}
					assert.NoError(t, ws.Write(context.Background(), kind, msg))
				}
			})
			if c.scheme == "wss" {
				cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
			}
			address, s := listentest.Serve(t, cfg)
			transport := &http.Transport{TLSClientConfig: anyone("")}
			defer transport.CloseIdleConnections()
			ws, _, err := websocket.Dial(t.Context(), c.scheme+"://"+address, //nolint:bodyclose // a websocket has none
				&websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
			require.NoError(t, err)
			defer ws.CloseNow()

			ctx, cancel := context.WithCancel(t.Context())
			down := make(chan error, 1)
			go func() { down <- s.Shutdown(ctx) }()
			for range 3 { // it goes on while others finish
				require.NoError(t, ws.Write(t.Context(), websocket.MessageText, []byte("still here")))
				_, msg, err := ws.Read(t.Context())
				require.NoError(t, err)
				assert.Equal(t, "still here", string(msg))
			}
			cancel()
			_, _, err = ws.Read(t.Context())
			require.Error(t, err)
			assert.NoError(t, soon(t, down))
			select {
			case <-ended:
			default:
				assert.Fail(t, "the handler has not returned")
			}
		})
	}
}

func TestShutdownDoesNotWaitForATunnelThatHasEnded(t *testing.T) {
	t.Parallel()
	address, s := listentest.Serve(t, handler(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if assert.NoError(t, err) {
			assert.NoError(t, conn.Close())
		}
	}))
	conn := dial(t, address)
	_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	require.NoError(t, err)
	_, err = bufio.NewReader(conn).ReadByte()
	require.ErrorIs(t, err, io.EOF)
	assert.NoError(t, s.Shutdown(t.Context()))
}

func TestAConnectionThatOnlyLooksIsNoWarning(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.DebugLevel)
	cfg := handler(func(http.ResponseWriter, *http.Request) {})
	cfg.Log = zap.New(core)
	cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
	address, _ := listentest.Serve(t, cfg)
	for _, sent := range []string{"", "\x16\x03", "SSH-2.0-scan\r\n"} {
		conn := dial(t, address)
		_, err := io.WriteString(conn, sent)
		require.NoError(t, err)
		require.NoError(t, conn.(*net.TCPConn).CloseWrite())
		_, _ = io.ReadAll(conn)
	}
	assert.Eventually(t, func() bool { return logs.FilterMessage("connection without a TLS handshake").Len() > 0 }, patience, time.Millisecond)
	assert.Empty(t, logs.FilterLevelExact(zap.WarnLevel).All())
}

func TestTheLogIsKeptShortButForPanics(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.DebugLevel)
	cfg := handler(func(http.ResponseWriter, *http.Request) { panic("oops") })
	cfg.Log = zap.New(core)
	cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
	address, _ := listentest.Serve(t, cfg)
	for range 50 { // clients that do not trust the certificate
		require.Error(t, tls.Client(dial(t, address), &tls.Config{ServerName: "shop.test"}).Handshake())
	}
	assert.Eventually(t, func() bool { return logs.FilterMessage("http server reports").Len() > 0 }, patience, time.Millisecond)
	assert.Less(t, logs.FilterMessage("http server reports").Len(), 40)
	for range 10 {
		_, err := overHTTP2(t).Get("https://" + address) //nolint:bodyclose // there is no answer
		require.Error(t, err)
	}
	assert.Eventually(t, func() bool { return logs.FilterMessage("a handler panicked").Len() == 10 }, patience, time.Millisecond)
}
