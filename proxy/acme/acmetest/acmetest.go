// Package acmetest runs a certificate authority that speaks ACME on this machine, for tests:
// Pebble, that of Let's Encrypt for tests.
package acmetest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/queue/certtest"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

const (
	program  = "github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.1"
	patience = 30 * time.Second // what is waited for the authority
)

// build builds Pebble, which is quick if that was done before.
var build = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "fairdoor-tests")
	cmd := exec.Command("go", "install", program)
	cmd.Dir, cmd.Env = os.TempDir(), append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		return "", &buildError{out.String(), err}
	}
	return filepath.Join(dir, "pebble"), nil
})

type buildError struct {
	output string
	err    error
}

func (e *buildError) Error() string {
	return "building " + program + ": " + e.err.Error() + "\n" + e.output
}

// Authority is a certificate authority that runs.
type Authority struct {
	Directory string         // the URL of its directory
	RootsFile string         // a PEM file with the root of the directory's own certificate
	Issued    *x509.CertPool // the root of the certificates that it gives

	t      testing.TB
	config string
	cmd    *exec.Cmd
	client *http.Client
	manage string
}

// Start starts an authority that asks for its proofs at the ports of this machine, whatever the
// name, and gives certificates that are valid for so long. It ends with its test.
func Start(t testing.TB, httpPort, tlsPort int, validity time.Duration) *Authority {
	t.Helper()
	dir := t.TempDir()
	at, manage := porttest.Address(t), porttest.Address(t)
	a := &Authority{t: t, Directory: "https://" + at + "/dir", RootsFile: filepath.Join(dir, "root.pem"), config: filepath.Join(dir, "pebble.json"), manage: "https://" + manage}
	key := filepath.Join(dir, "key.pem")
	require.NoError(t, certtest.Write(a.RootsFile, key, "127.0.0.1"))
	root, err := os.ReadFile(a.RootsFile)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(root)
	a.client = &http.Client{Timeout: patience, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
	text, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": at, "managementListenAddress": manage, "certificate": a.RootsFile, "privateKey": key,
		"httpPort": httpPort, "tlsPort": tlsPort, "retryAfter": map[string]any{"authz": 1, "order": 1}, "keyAlgorithm": "ecdsa",
		"profiles": map[string]any{"default": map[string]any{"description": "for tests", "validityPeriod": int(validity.Seconds())}},
	}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(a.config, text, 0o600))
	a.run(serveNames(t))
	t.Cleanup(a.Stop)
	return a
}

// run starts the program, and waits until it answers.
func (a *Authority) run(names string) {
	a.t.Helper()
	path, err := build()
	require.NoError(a.t, err)
	a.cmd = exec.Command(path, "-config", a.config, "-dnsserver", names)
	a.cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
	require.NoError(a.t, a.cmd.Start())
	a.Issued = x509.NewCertPool()
	require.Eventually(a.t, func() bool { return a.Issued.AppendCertsFromPEM(a.get("/roots/0")) }, patience, 20*time.Millisecond, "the authority answers")
}

// get reads what the authority tells its operators.
func (a *Authority) get(path string) []byte {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, a.manage+path, nil)
	require.NoError(a.t, err)
	resp, err := a.client.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil
	}
	return body
}

// Stop ends the authority. It is asked in vain from then on.
func (a *Authority) Stop() {
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait()
}
