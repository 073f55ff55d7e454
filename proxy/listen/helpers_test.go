package listen_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/listen"
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
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	pair := listen.Certificate{Cert: filepath.Join(dir, name+".crt"), Key: filepath.Join(dir, name+".key")}
	write := func(file, kind string, b []byte) {
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600))
	}
	write(pair.Cert, "CERTIFICATE", der)
	write(pair.Key, "PRIVATE KEY", secret)
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
