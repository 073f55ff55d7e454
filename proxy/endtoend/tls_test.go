package endtoend_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/acme/acmetest"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// balancer starts an HAProxy that leads connections on, and says in the PROXY protocol where they
// come from.
func balancer(t *testing.T, leads map[string]string) {
	t.Helper()
	config := "defaults\n\tmode tcp\n\ttimeout connect 5s\n\ttimeout client 30s\n\ttimeout server 30s\n"
	for from, to := range leads {
		config += fmt.Sprintf("listen %s\n\tbind %s\n\tserver gate %s send-proxy-v2\n", from, from, to)
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	cmd := exec.Command("haproxy", "-f", file)
	log := &output{}
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	for from := range leads {
		require.Eventually(t, func() bool {
			c, err := net.Dial("tcp", from)
			return err == nil && c.Close() == nil
		}, patience, 10*time.Millisecond)
	}
}

// Behind a balancer that knows nothing of HTTP, the gate gets its certificates, and the site sees
// its visitors' addresses.
func TestTLSBehindABalancer(t *testing.T) {
	t.Parallel()
	https, http80 := porttest.Address(t), porttest.Address(t)
	a := acmetest.Start(t, int(netip.MustParseAddrPort(http80).Port()), int(netip.MustParseAddrPort(https).Port()), time.Hour)
	origin := site(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("X-Forwarded-For")+" "+r.Header.Get("X-Forwarded-Proto"))
	})
	redirect := porttest.Address(t)
	g := newGate(t, nil, "--origin", origin, "--total-active-users", "5", "--new-users-per-minute", "50", "--host", "shop.test", "--proxy-protocol", "127.0.0.1",
		"--tls-acme-domains", "shop.test", "--tls-acme-agree", "--tls-acme-directory", a.Directory, "--tls-acme-roots-file", a.RootsFile, "--tls-redirect", redirect)
	balancer(t, map[string]string{https: g.args[2], http80: redirect})
	g.start()

	near := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: a.Issued},
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				if address == "shop.test:443" {
					address = https
				} else {
					address = http80
				}
				return near.DialContext(ctx, network, address)
			},
		},
	}
	get := func(url string) (*http.Response, string) {
		resp, err := client.Get(url)
		if err != nil {
			return nil, ""
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp, string(body)
	}
	page := func() bool {
		_, body := get("https://shop.test/")
		return body == "127.0.0.2 https"
	}
	g.until("the certificate is there, and the site sees where its visitor is", page)
	assert.Regexp(t, `\nfairdoor_certificate_end_timestamp_seconds\{name="[a-z.]+"\} 1\.\d+e\+09\n`, g.metrics())
	resp, _ := get("http://shop.test/a?b=c")
	require.NotNil(t, resp)
	assert.Equal(t, http.StatusMovedPermanently, resp.StatusCode)
	assert.Equal(t, "https://shop.test/a?b=c", resp.Header.Get("Location"))
	resp, _ = get("http://evil.test/")
	require.NotNil(t, resp)
	assert.Equal(t, "https://evil.test/", resp.Header.Get("Location"), "the top-level origin is for every host")

	direct, err := near.Dial("tcp", g.args[2])
	require.NoError(t, err)
	defer direct.Close()
	_, err = io.WriteString(direct, "PROXY TCP4 203.0.113.9 127.0.0.1 1234 443\r\nGET / HTTP/1.1\r\nHost: shop.test\r\n\r\n")
	require.NoError(t, err)
	answer, err := io.ReadAll(direct)
	require.NoError(t, err)
	assert.Contains(t, string(answer), "400 Bad Request", "who is no balancer has nothing to say")

	a.Stop()
	g.kill()
	g.start()
	g.until("it serves without the authority", page)
}
