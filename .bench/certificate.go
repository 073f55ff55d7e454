package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificate is one for the loopback address, signed by itself.
type certificate struct {
	cert, key string // files
	roots     *x509.CertPool
}

// newCertificate makes a certificate in a directory.
func newCertificate(dir string) (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	der, err := x509.CreateCertificate(rand.Reader, loopback(), loopback(), key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("writing a key: %w", err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading a certificate: %w", err)
	}
	c := &certificate{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), roots: x509.NewCertPool()}
	c.roots.AddCert(made)
	for file, block := range map[string]*pem.Block{c.cert: {Type: "CERTIFICATE", Bytes: der}, c.key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			return nil, fmt.Errorf("writing a certificate: %w", err)
		}
	}
	return c, nil
}

func loopback() *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
}

// trust has clients come to the server by TLS, if it has a certificate.
func (p *process) trust(c *certificate) {
	if c != nil {
		p.roots = c.roots
	}
}
