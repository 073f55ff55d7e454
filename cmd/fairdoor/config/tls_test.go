package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
	"github.com/fairdoor-gate/fairdoor/queue/certtest"
)

func TestCertificatesHaveToFitTheirKeys(t *testing.T) {
	cert, key, err := certtest.New("shop.test")
	require.NoError(t, err)
	_, other, err := certtest.New("shop.test")
	require.NoError(t, err)
	files := map[string]string{"/etc/gate/a.pem": string(cert), "/etc/gate/a.key": string(key), "/etc/gate/b.key": string(other)}
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
