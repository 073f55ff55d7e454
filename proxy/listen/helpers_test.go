package listen_test

import (
	"bufio"
	"crypto/tls"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/queue/certtest"
)

const (
	patience = 10 * time.Second       // what a test waits for at most
	short    = 200 * time.Millisecond // the timeouts that tests wait for
)

func handler(f http.HandlerFunc) listen.Config { return listen.Config{Handler: f} }

// dial connects to an address of TCP, or to a socket in the file system.
func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	network := "tcp"
	if filepath.IsAbs(address) {
		network = "unix"
	}
	c, err := net.Dial(network, address)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	return c
}

// status reads one answer and returns its status.
func status(t *testing.T, c net.Conn) int {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// soon waits for a value of a channel.
func soon[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		assert.Fail(t, "nothing came")
		var zero T
		return zero
	}
}

// certificate writes a certificate for the name into dir and returns its files.
func certificate(t *testing.T, dir, name string) listen.Certificate {
	t.Helper()
	pair := listen.Certificate{Cert: filepath.Join(dir, name+".crt"), Key: filepath.Join(dir, name+".key")}
	require.NoError(t, certtest.Write(pair.Cert, pair.Key, name))
	return pair
}

// anyone is a TLS configuration that trusts everybody.
func anyone(name string, protocols ...string) *tls.Config {
	return &tls.Config{ServerName: name, NextProtos: protocols, InsecureSkipVerify: true}
}

// overHTTP2 is a client that speaks HTTP/2 and nothing else.
func overHTTP2(t *testing.T) *http.Client {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	transport := &http.Transport{TLSClientConfig: anyone(""), Protocols: protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}
