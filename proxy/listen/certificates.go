package listen

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
)

// Certificate names the two PEM files of a certificate.
type Certificate struct {
	Cert string // the certificate, followed by its intermediates
	Key  string // its private key
}

// certificates are the pairs that are in use.
type certificates struct {
	files   []Certificate
	managed func(*tls.ClientHelloInfo) (*tls.Certificate, error) // nil for none
	now     atomic.Pointer[[]tls.Certificate]
}

func newCertificates(files []Certificate, managed func(*tls.ClientHelloInfo) (*tls.Certificate, error)) (*certificates, error) {
	c := &certificates{files: files, managed: managed}
	return c, c.load()
}

// load reads all pairs and puts them in use. If any of them is wrong, none is put in use, and the
// error has all that is wrong.
func (c *certificates) load() error {
	var (
		pairs []tls.Certificate
		fault error
	)
	for _, f := range c.files {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			fault = errors.Join(fault, fmt.Errorf("reading certificate %s with key %s: %w", f.Cert, f.Key, err))
		}
		pairs = append(pairs, pair)
	}
	if fault == nil {
		c.now.Store(&pairs)
	}
	return fault
}

func (c *certificates) config() *tls.Config {
	protocols := []string{"h2", "http/1.1"}
	if c.managed != nil {
		protocols = append(protocols, challenge)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: protocols, GetCertificate: c.choose}
}

// challenge is the protocol by which certificate authorities ask for proof (RFC 8737).
const challenge = "acme-tls/1"

// choose returns the certificate of a file that suits the client, a managed one, or the first of a
// file if neither does. A certificate authority is always answered by who manages certificates.
func (c *certificates) choose(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	pairs := *c.now.Load()
	if c.managed != nil && slices.Contains(hello.SupportedProtos, challenge) {
		return c.managed(hello)
	}
	for i := range pairs {
		if hello.SupportsCertificate(&pairs[i]) == nil {
			return &pairs[i], nil
		}
	}
	if c.managed != nil {
		if found, err := c.managed(hello); err == nil || len(pairs) == 0 {
			return found, err
		}
	}
	return &pairs[0], nil
}
