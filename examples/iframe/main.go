// Command iframe runs a shop behind a gate, over https, and another site that
// shows the shop in a frame.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
)

func main() {
	at := stage.Usual()
	at.Gate = "127.0.0.1:8443"
	os.Exit(stage.Main(func(ctx context.Context, out io.Writer) error { return run(ctx, out, at, "127.0.0.1:8444") }))
}

// run serves the other site at partner. Browsers tell sites apart by host, not by
// port: so the shop is opened as localhost, and the partner as 127.0.0.1.
func run(ctx context.Context, out io.Writer, at stage.Addresses, partner string) error {
	dir, err := os.MkdirTemp("", "fairdoor-iframe-")
	if err != nil {
		return fmt.Errorf("making a directory for the certificate: %w", err)
	}
	defer os.RemoveAll(dir)
	certificate, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := selfSigned(certificate, key); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(at.Gate)
	if err != nil {
		return fmt.Errorf("reading the gate's address: %w", err)
	}
	shop := "https://localhost:" + port
	fmt.Fprintf(out, "The shop is %s, and the other site https://%s\n", shop, partner)
	return stage.WithTLSSite(partner, certificate, key, framing(shop), func() error {
		return stage.Run(ctx, out, at,
			"--origin", "http://"+at.Shop,
			"--tls-cert", certificate, "--tls-key", key,
			"--total-active-users", "1",
			"--new-users-per-minute", "60",
			"--session-duration", "1m",
			"--refresh-interval", "2s",
			"--enabled-origin-commands", "revoke",
			"--listen", at.Gate,
			"--admin", at.Admin,
		)
	})
}

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Another site</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark }
body { max-width: 48rem; margin: 3rem auto; padding: 0 1.5rem; font: 1.0625rem/1.6 system-ui, sans-serif }
iframe { width: 100%%; height: 42rem; margin-top: 1rem; border: 1px solid #8888; border-radius: .75rem }
</style>
<main>
<h1>Another site</h1>
<p>In the frame is the shop at <a href="%[1]s">%[1]s</a>, or its waiting room.</p>
<iframe src="%[1]s" title="The shop"></iframe>
</main>
`

// framing is a site that shows the shop in a frame.
func framing(shop string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		// Whoever does not read the answer has gone.
		_, _ = fmt.Fprintf(w, page, shop)
	})
}

// selfSigned writes a certificate for this machine, valid for a day, and its key.
func selfSigned(certificate, key string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return fmt.Errorf("making a certificate: %w", err)
	}
	names := x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "localhost"},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, &names, &names, &private.PublicKey, private)
	if err != nil {
		return fmt.Errorf("making a certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return fmt.Errorf("writing the key: %w", err)
	}
	return errors.Join(
		os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
}
