// Package certtest makes certificates for tests and measurements.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// New returns a certificate for hosts, which are names and IP addresses, and its key, both in PEM.
// It is its own authority, and is valid for a day.
func New(hosts ...string) (cert, key []byte, err error) {
	private, keyErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	serial, serialErr := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err := errors.Join(keyErr, serialErr); err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: hosts[0]},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, certErr := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	secret, keyErr := x509.MarshalPKCS8PrivateKey(private)
	if err := errors.Join(certErr, keyErr); err != nil {
		return nil, nil, fmt.Errorf("making a certificate: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil
}

// Write writes a certificate for hosts, as New makes it, and its key.
func Write(certFile, keyFile string, hosts ...string) error {
	cert, key, err := New(hosts...)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(certFile, cert, 0o600), os.WriteFile(keyFile, key, 0o600))
}
