package listen

import (
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"
)

// Certificate names the two PEM files of a certificate.
type Certificate struct {
	Cert string // the certificate, followed by its intermediates
	Key  string // its private key
}

// certificates are the pairs that are in use.
type certificates struct {
	files []Certificate
	now   atomic.Pointer[[]tls.Certificate]
}

func newCertificates(files []Certificate) (*certificates, error) {
	c := &certificates{files: files}
	return c, c.load()
}

// load reads all pairs and puts them in use. If any of them is wrong, none is put in use, and the error has all that is
// wrong.
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
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: c.choose}
}

// choose returns the first certificate that suits the client, or the very first if none does.
func (c *certificates) choose(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	pairs := *c.now.Load()
	for i := range pairs {
		if hello.SupportsCertificate(&pairs[i]) == nil {
			return &pairs[i], nil
		}
	}
	return &pairs[0], nil
}
