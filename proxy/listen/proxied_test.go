package listen_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/pires/go-proxyproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
)

// addressed answers with the address that a request came from.
func addressed(balancers ...string) listen.Config {
	cfg := handler(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr) })
	for _, b := range balancers {
		cfg.Balancers = append(cfg.Balancers, netip.MustParsePrefix(b))
	}
	return cfg
}

const plainRequest = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// header is one of the PROXY protocol, of a visitor at 203.0.113.9.
func header(t *testing.T, version byte, fields ...proxyproto.TLV) string {
	t.Helper()
	h := proxyproto.HeaderProxyFromAddrs(version, &net.TCPAddr{IP: net.IPv4(203, 0, 113, 9), Port: 4321}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 443})
	require.NoError(t, h.SetTLVs(fields))
	text, err := h.Format()
	require.NoError(t, err)
	return string(text)
}

// exchange writes to a connection, and returns the status and the body of the answer, 0 if there is
// none.
func exchange(t *testing.T, c net.Conn, text string) (status int, body string) {
	t.Helper()
	_, err := io.WriteString(c, text)
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(all)
}

func TestABalancerSaysWhereAVisitorIs(t *testing.T) {
	t.Parallel()
	address, _ := listentest.Serve(t, addressed("10.0.0.0/8", "127.0.0.1/32"))
	for _, version := range []byte{1, 2} {
		c := dial(t, address)
		status, body := exchange(t, c, header(t, version)+plainRequest)
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, "203.0.113.9:4321", body)
		_, body = exchange(t, c, plainRequest)
		assert.Equal(t, "203.0.113.9:4321", body, "for the whole connection")
	}
	c := dial(t, address)
	_, body := exchange(t, c, "PROXY UNKNOWN\r\n"+plainRequest)
	assert.Equal(t, c.LocalAddr().String(), body, "the balancer itself")
}

func TestABalancerHasToSayWhereAVisitorIs(t *testing.T) {
	t.Parallel()
	cfg := addressed("127.0.0.1/32")
	cfg.ReadHeaderTimeout = short
	address, _ := listentest.Serve(t, cfg)
	for name, text := range map[string]string{"a request": plainRequest, "a header that is none": "PROXY TCP4 203.0.113.9\r\n" + plainRequest, "the half of one": "PROXY TC", "nothing": ""} {
		status, _ := exchange(t, dial(t, address), text)
		assert.Zero(t, status, "%s is not answered", name)
	}
}

func TestNobodyElseIsBelieved(t *testing.T) {
	t.Parallel()
	address, _ := listentest.Serve(t, addressed("192.0.2.0/24"))
	for _, version := range []byte{1, 2} {
		status, body := exchange(t, dial(t, address), header(t, version)+plainRequest)
		assert.NotEqual(t, http.StatusOK, status, body)
	}
	c := dial(t, address)
	_, body := exchange(t, c, plainRequest)
	assert.Equal(t, c.LocalAddr().String(), body)
}

func TestABalancerInFrontOfTLS(t *testing.T) {
	t.Parallel()
	cfg := addressed("127.0.0.1/32")
	cfg.Certificates = []listen.Certificate{certificate(t, t.TempDir(), "shop.test")}
	address, _ := listentest.Serve(t, cfg)
	for _, text := range []string{header(t, 2), header(t, 2, long)} {
		raw := dial(t, address)
		_, err := io.WriteString(raw, text)
		require.NoError(t, err)
		_, body := exchange(t, tls.Client(raw, anyone("shop.test")), plainRequest)
		assert.Equal(t, "203.0.113.9:4321", body)
	}
}

// long is a field that makes a header of version 2 with addresses of IPv4 as long as one can be.
var long = proxyproto.TLV{Type: proxyproto.PP2_TYPE_NOOP, Value: make([]byte, math.MaxUint16-12-3)}

func TestABalancerMaySayAsMuchAsTheProtocolAllows(t *testing.T) {
	t.Parallel()
	address, _ := listentest.Serve(t, addressed("127.0.0.1/32"))
	c := dial(t, address)
	status, body := exchange(t, c, header(t, 2, long)+plainRequest)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "203.0.113.9:4321", body)
}
