package origin_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// tellsProtocol answers with the protocol and the target of a request.
func tellsProtocol(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, r.Proto+" "+r.RequestURI+" "+r.Host)
}

// plainTwo is a site that speaks HTTP/2 without TLS.
func plainTwo(t *testing.T, h http.HandlerFunc, alsoOne bool) string {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Config.Protocols.SetHTTP1(alsoOne)
	srv.Start()
	t.Cleanup(srv.Close)
	return "h2c" + strings.TrimPrefix(srv.URL, "http")
}

// secured is a site of HTTP/2 with TLS, and what trusts it.
func secured(t *testing.T, h http.HandlerFunc) (address string, trusting func(*origin.Config)) {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	return "h2" + strings.TrimPrefix(srv.URL, "https"), func(c *origin.Config) {
		c.TLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
}

func TestAnOriginIsSpokenToByTheProtocolOfItsAddress(t *testing.T) {
	t.Parallel()
	one := site(t, tellsProtocol).URL
	two, trusting := secured(t, tellsProtocol)
	for address, want := range map[string]string{one: "HTTP/1.1", plainTwo(t, tellsProtocol, false): "HTTP/2.0", two: "HTTP/2.0"} {
		for _, target := range []string{"/a%2Fb?c", "//a", "/"} {
			front, _ := gate(t, address, trusting)
			resp, err := http.Get(front.URL + target)
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, want+" "+target+" "+strings.TrimPrefix(front.URL, "http://"), string(body), address)
		}
	}
}

func TestATargetThatHTTP2CannotCarryIsRefused(t *testing.T) {
	t.Parallel()
	front, o := gate(t, plainTwo(t, tellsProtocol, false))
	conn := dial(t, front.URL)
	_, err := io.WriteString(conn, "GET //a%zz\"| HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Regexp(t, `^HTTP/1\.1 400 `, string(answer))
	assert.False(t, o.Failing())
}

func TestAnOriginThatHasNoHTTP2IsNotAskedByAnother(t *testing.T) {
	t.Parallel()
	_, trusting := secured(t, tellsProtocol)
	keys := httptest.NewUnstartedServer(nil)
	keys.StartTLS()
	t.Cleanup(keys.Close)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: keys.TLS.Certificates, MinVersion: tls.VersionTLS12}) // it ignores what is offered
	require.NoError(t, err)
	srv := &http.Server{Handler: http.HandlerFunc(tellsProtocol), ReadHeaderTimeout: patience}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		assert.NoError(t, srv.Close())
		assert.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	core, logs := observer.New(zap.WarnLevel)
	front, _ := gate(t, "h2://"+l.Addr().String(), trusting, func(c *origin.Config) { c.Log = zap.New(core) })
	resp, err := http.Get(front.URL)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusBadGateway, resp.StatusCode)
	require.NotZero(t, logs.Len())
	assert.Contains(t, logs.All()[0].ContextMap()["error"], "does not speak HTTP/2")
}

func TestAnEmbeddersCheckOfConnectionsCountsForHTTP2(t *testing.T) {
	t.Parallel()
	address, trusting := secured(t, tellsProtocol)
	front, _ := gate(t, address, trusting, func(c *origin.Config) {
		c.TLS.VerifyConnection = func(tls.ConnectionState) error { return errors.New("not ours") }
	})
	resp, err := http.Get(front.URL)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusBadGateway, resp.StatusCode)
}

func TestWebsocketsOfAnOriginOfHTTP2GoByHTTP1(t *testing.T) {
	t.Parallel()
	front, _ := gate(t, plainTwo(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		w.WriteHeader(http.StatusSwitchingProtocols)
	}, true))
	conn := dial(t, front.URL)
	_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	require.NoError(t, err)
	line := make([]byte, len("HTTP/1.1 101"))
	_, err = io.ReadFull(conn, line)
	require.NoError(t, err)
	assert.Equal(t, "HTTP/1.1 101", string(line))
}
