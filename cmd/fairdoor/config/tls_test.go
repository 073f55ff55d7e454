package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

// newPair makes a certificate and its key, in PEM.
func newPair(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"shop.test"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	der2, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der2}))
}

func TestCertificatesHaveToFitTheirKeys(t *testing.T) {
	cert, key := newPair(t)
	_, other := newPair(t)
	files := map[string]string{"/etc/gate/a.pem": cert, "/etc/gate/a.key": key, "/etc/gate/b.key": other}
	pair := config.Certificate{Cert: "/etc/gate/a.pem", Key: "/etc/gate/a.key"}

	inFile := setup{files: files, file: minimal + "tls: {certificates: [{cert: a.pem, key: a.key}]}\n"}
	assert.Equal(t, []config.Certificate{pair}, inFile.mustLoad(t).TLS.Certificates)

	byFlags := setup{files: files, file: minimal, args: []string{"--tls-cert=a.pem", "--tls-key=a.key"}}
	assert.Equal(t, []config.Certificate{pair}, byFlags.mustLoad(t).TLS.Certificates)

	inFile.file = minimal + "tls: {certificates: [{cert: a.pem, key: b.key}]}\n"
	_, _, faults := inFile.load(t)
	require.Len(t, faults, 1)
	assert.Contains(t, faults[0],
		"gate.yaml:6:22: tls.certificates[0]: /etc/gate/a.pem and /etc/gate/b.key are not a certificate and its key: ")

	byFlags.args = byFlags.args[:1]
	_, _, faults = byFlags.load(t)
	assert.Equal(t, []string{"--tls-cert: goes together with --tls-key"}, faults)
}
