package acme_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/acme"
	"github.com/fairdoor-gate/fairdoor/proxy/acme/acmetest"
	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
)

const patience = 60 * time.Second // what a test waits for at most: a challenge that fails is tried again after pauses

// site is a listener with managed certificates, and one by plain HTTP.
type site struct {
	*acme.Manager
	https, http net.Listener
}

// port is that of a listener.
func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

func newListener(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return l
}

// serve serves a page with the certificates that the authority a gives for the domains.
func (s *site) serve(t *testing.T, a *acmetest.Authority, dir string, domains ...string) {
	t.Helper()
	roots, err := os.ReadFile(a.RootsFile)
	require.NoError(t, err)
	c := acme.Config{Domains: domains, Directory: a.Directory, Roots: roots, Dir: dir, HTTPS: s.https.Addr().String(), Every: 100 * time.Millisecond}
	if s.http != nil {
		c.HTTP = s.http.Addr().String()
	}
	s.Manager, err = acme.New(c)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") })
	listentest.ServeOn(t, s.https, listen.Config{Handler: page, Managed: s.Certificate})
	if s.http != nil {
		listentest.ServeOn(t, s.http, listen.Config{Handler: s.Challenges(page)})
	}
	s.Start()
}

// certificate is what a browser gets for a name that trusts the authority, nil if it refuses that.
func (s *site) certificate(name string, trusted *x509.CertPool) *x509.Certificate {
	d := &tls.Dialer{Config: &tls.Config{ServerName: name, RootCAs: trusted}, NetDialer: &net.Dialer{Timeout: patience}}
	c, err := d.DialContext(context.Background(), "tcp", s.https.Addr().String())
	if err != nil {
		return nil
	}
	defer c.Close()
	return c.(*tls.Conn).ConnectionState().PeerCertificates[0]
}

// await waits for a certificate of a name, other than one before.
func (s *site) await(t *testing.T, name string, trusted *x509.CertPool, before *x509.Certificate) (now *x509.Certificate) {
	t.Helper()
	require.Eventually(t, func() bool {
		now = s.certificate(name, trusted)
		return now != nil && !now.Equal(before)
	}, patience, 50*time.Millisecond)
	return now
}

func TestCertificatesAreRenewedAndKeptWithoutTheAuthority(t *testing.T) {
	s, dir := &site{https: newListener(t)}, t.TempDir()
	a := acmetest.Start(t, 1, port(s.https), 10*time.Second) // asked by TLS alone
	s.serve(t, a, dir, "shop.test", "tickets.test")
	first := s.await(t, "shop.test", a.Issued, nil)
	assert.Equal(t, []string{"shop.test"}, first.DNSNames)
	assert.Equal(t, []string{"tickets.test"}, s.await(t, "tickets.test", a.Issued, nil).DNSNames)
	assert.Nil(t, s.certificate("other.test", a.Issued), "no name of others")
	second := s.await(t, "shop.test", a.Issued, first)
	assert.True(t, second.NotAfter.After(first.NotAfter))
}

func TestProofIsGivenByPlainHTTP(t *testing.T) {
	s, dir := &site{https: newListener(t), http: newListener(t)}, t.TempDir()
	a := acmetest.Start(t, port(s.http), 1, time.Hour) // asked by plain HTTP alone
	s.serve(t, a, dir, "plain.test")
	kept := s.await(t, "plain.test", a.Issued, nil)
	a.Stop()

	again := &site{https: newListener(t)}
	again.serve(t, a, dir, "plain.test")
	assert.Equal(t, kept.SerialNumber, again.await(t, "plain.test", a.Issued, nil).SerialNumber, "the authority is not needed for what is there")
}
