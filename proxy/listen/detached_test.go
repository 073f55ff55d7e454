package listen_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
)

// detaching is a handler that detaches its answer for serve.
func detaching(serve func(*listen.Detached)) listen.Config {
	return handler(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusOK)
		if !listen.Detach(w, r, serve) {
			fmt.Fprint(w, "attached")
		}
	})
}

// overTLS has a server speak TLS.
func overTLS(t *testing.T, cfg listen.Config) listen.Config {
	cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
	return cfg
}

// ask sends a request of HTTP/1.1 and returns the connection.
func ask(t *testing.T, address string, secure bool, version string) net.Conn {
	t.Helper()
	conn := dial(t, address)
	if secure {
		conn = tls.Client(conn, anyone("shop.test", "http/1.1"))
	}
	_, err := io.WriteString(conn, "GET / "+version+"\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	return conn
}

// bothWays runs a test of a server without TLS, and of one with it.
func bothWays(t *testing.T, test func(t *testing.T, cfg func(listen.Config) listen.Config, secure bool)) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("secure ", secure), func(t *testing.T) {
			t.Parallel()
			test(t, func(cfg listen.Config) listen.Config {
				if secure {
					return overTLS(t, cfg)
				}
				return cfg
			}, secure)
		})
	}
}

func TestADetachedAnswerIsWhatItWouldBeOtherwise(t *testing.T) {
	bothWays(t, func(t *testing.T, cfg func(listen.Config) listen.Config, secure bool) {
		parts := []string{"one", "two", "three"}
		detached, _ := listentest.Serve(t, cfg(detaching(func(d *listen.Detached) {
			for _, part := range parts {
				n, err := io.WriteString(d, part)
				assert.NoError(t, err)
				assert.Equal(t, len(part), n)
			}
			_ = d.Close() // who has read it all may close it first
		})))
		attached, _ := listentest.Serve(t, cfg(handler(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			for _, part := range parts {
				fmt.Fprint(w, part)
				assert.NoError(t, http.NewResponseController(w).Flush())
			}
		})))
		for _, version := range []string{"HTTP/1.0", "HTTP/1.1"} {
			var answers [2]*http.Response
			for i, address := range []string{attached, detached} {
				resp, err := http.ReadResponse(bufio.NewReader(ask(t, address, secure, version)), nil)
				require.NoError(t, err)
				body, err := io.ReadAll(resp.Body)
				require.NoError(t, err, "the body is whole")
				require.NoError(t, resp.Body.Close())
				assert.Equal(t, "onetwothree", string(body))
				assert.NotEmpty(t, resp.Header.Get("Date"))
				resp.Header.Del("Date")
				resp.Header.Del("Content-Type") // net/http makes one up
				answers[i] = resp
			}
			assert.Equal(t, answers[0].Header, answers[1].Header)
			assert.Equal(t, answers[0].TransferEncoding, answers[1].TransferEncoding)
			assert.Equal(t, answers[0].Close, answers[1].Close)
		}
	})
}

func TestAnAnswerThatSharesItsConnectionOrItsServerIsNotDetached(t *testing.T) {
	t.Parallel()
	cfg := detaching(func(*listen.Detached) { assert.Fail(t, "it was detached") })
	address, _ := listentest.Serve(t, overTLS(t, cfg))
	other := httptest.NewServer(cfg.Handler)
	t.Cleanup(other.Close)
	for url, client := range map[string]*http.Client{"https://" + address: overHTTP2(t), other.URL: other.Client()} {
		resp, err := client.Get(url)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, "attached", string(body))
	}
}

func TestAVisitorWhoGoesEndsTheirDetachedAnswer(t *testing.T) {
	bothWays(t, func(t *testing.T, cfg func(listen.Config) listen.Config, secure bool) {
		waited, failed := make(chan struct{}), make(chan error, 1)
		address, _ := listentest.Serve(t, cfg(detaching(func(d *listen.Detached) {
			d.Wait()
			close(waited)
			_, err := d.Write([]byte("anybody?"))
			failed <- err
		})))
		conn := ask(t, address, secure, "HTTP/1.1")
		line, err := bufio.NewReader(conn).ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, "HTTP/1.1 200 OK\r\n", line)
		_, err = io.WriteString(conn, "GET /again HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		select {
		case <-waited:
			assert.Fail(t, "what they send is not the end")
		case <-time.After(short / 4):
		}
		require.NoError(t, conn.Close())
		soon(t, waited)
		assert.Error(t, soon(t, failed))
	})
}

func TestAVisitorWhoDoesNotReadTheirDetachedAnswerIsCutOff(t *testing.T) {
	bothWays(t, func(t *testing.T, cfg func(listen.Config) listen.Config, secure bool) {
		ended := make(chan error, 1)
		c := cfg(detaching(func(d *listen.Detached) {
			_, err := io.Copy(d, endless{})
			ended <- err
		}))
		c.ProgressTimeout = short
		address, _ := listentest.Serve(t, c)
		ask(t, address, secure, "HTTP/1.1")
		var fault net.Error // of the deadline, or of the system if that finds it first
		require.ErrorAs(t, soon(t, ended), &fault)
		assert.True(t, fault.Timeout(), fault)
	})
}

func TestShutdownWaitsForDetachedAnswers(t *testing.T) {
	bothWays(t, func(t *testing.T, cfg func(listen.Config) listen.Config, secure bool) {
		begun, end := make(chan struct{}), make(chan struct{})
		address, s := listentest.Serve(t, cfg(detaching(func(d *listen.Detached) {
			close(begun)
			<-end
			_, err := io.WriteString(d, "goodbye")
			assert.NoError(t, errors.Join(err, d.Close()))
		})))
		conn := ask(t, address, secure, "HTTP/1.1")
		soon(t, begun)
		down := make(chan error, 1)
		go func() { down <- s.Shutdown(context.Background()) }()
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		defer resp.Body.Close()
		assert.Empty(t, down)
		close(end)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "goodbye", string(body))
		assert.NoError(t, soon(t, down))
	})
}

func TestShutdownBreaksOffDetachedAnswersAtItsEnd(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}), make(chan struct{})
	address, s := listentest.Serve(t, detaching(func(d *listen.Detached) {
		defer close(ended)
		close(begun)
		d.Wait()
	}))
	ask(t, address, false, "HTTP/1.1")
	soon(t, begun)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.NoError(t, s.Shutdown(ctx))
	select {
	case <-ended:
	default:
		assert.Fail(t, "the handler has not returned")
	}
}
