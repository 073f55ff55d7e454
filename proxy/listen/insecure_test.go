package listen_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
)

func isShop(host string) bool {
	return strings.HasPrefix(host, "shop.test") || strings.HasPrefix(host, "[")
}

func TestPlainHTTPWhereTLSIsSpoken(t *testing.T) {
	t.Parallel()
	cfg := handler(func(http.ResponseWriter, *http.Request) {})
	cfg.Certificates, cfg.Serves = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}, isShop
	address, _ := listentest.Serve(t, cfg)
	for name, c := range map[string]struct {
		request, location string
		status            int
		says              string
	}{
		"a page":               {"GET /a?b=c HTTP/1.1\r\nHost: shop.test:8443\r\n\r\n", "https://shop.test:8443/a?b=c", http.StatusMovedPermanently, "https://shop.test:8443/a?b=c"},
		"a page, byte by byte": {"G", "", 0, ""},
		"a long header":        {"GET / HTTP/1.1\r\nHost: shop.test\r\nX: " + strings.Repeat("x", 9000) + "\r\n\r\n", "https://shop.test/", http.StatusMovedPermanently, "https://shop.test/"},
		"a form":               {"POST /a HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 3\r\n\r\na=b", "", http.StatusBadRequest, "Use https://shop.test/a"},
		"a host of others":     {"GET /a HTTP/1.1\r\nHost: evil.test\r\n\r\n", "", http.StatusBadRequest, "https"},
		"a host in disguise":   {"GET /a HTTP/1.1\r\nHost: shop.test@evil.test\r\n\r\n", "", http.StatusBadRequest, "https"},
		"an absolute target":   {"GET http://evil.test/a HTTP/1.1\r\nHost: shop.test\r\n\r\n", "", http.StatusBadRequest, "https"},
		"no request":           {"HELO x\r\n\r\n", "", http.StatusBadRequest, "https"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, address)
			if c.status == 0 { // the rest comes later
				_, err := conn.Write([]byte(c.request))
				assert.NoError(t, err)
				c.request, c.status, c.says = "ET / HTTP/1.1\r\nHost: shop.test\r\n\r\n", http.StatusMovedPermanently, "https://shop.test/"
			}
			status, body := exchange(t, conn, c.request)
			assert.Equal(t, c.status, status)
			assert.Contains(t, body, c.says)
		})
	}
	conn := tls.Client(dial(t, address), anyone("shop.test"))
	status, _ := exchange(t, conn, plainRequest)
	assert.Equal(t, http.StatusOK, status, "and TLS is spoken as ever")
}

func TestRedirectsLeadToHTTPSOnTheSameHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		address, method, url, host string
		status                     int
		to                         string
	}{
		"a page":                 {":443", "GET", "/a?b=%zz", "shop.test", http.StatusMovedPermanently, "https://shop.test/a?b=%zz"},
		"a form":                 {":443", "POST", "/a", "shop.test", http.StatusPermanentRedirect, "https://shop.test/a"},
		"the standard port":      {":8443", "GET", "/", "shop.test:80", http.StatusMovedPermanently, "https://shop.test/"},
		"a port of one's own":    {":8443", "HEAD", "/", "shop.test:8080", http.StatusMovedPermanently, "https://shop.test:8443/"},
		"an address":             {":8443", "GET", "/", "[2001:DB8::1]:8080", http.StatusMovedPermanently, "https://[2001:db8::1]:8443/"},
		"two slashes":            {":443", "GET", "//evil.test/", "shop.test", http.StatusMovedPermanently, "https://shop.test//evil.test/"},
		"a host of others":       {":443", "GET", "/", "evil.test", http.StatusMisdirectedRequest, ""},
		"a host that is no host": {":443", "GET", "/", "shop.test@evil.test", http.StatusMisdirectedRequest, ""},
		"a host in two ways":     {":443", "GET", "/", "shop.test,evil.test", http.StatusMisdirectedRequest, ""},
		"no host":                {":443", "GET", "/", "", http.StatusMisdirectedRequest, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.url, nil)
			r.Host = c.host
			w := httptest.NewRecorder()
			listen.Redirect(c.address, isShop).ServeHTTP(w, r)
			assert.Equal(t, c.status, w.Code)
			assert.Equal(t, c.to, w.Header().Get("Location"))
		})
	}
}
