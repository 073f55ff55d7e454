package origin_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

var proxies = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("::ffff:192.0.2.0/120"),
}

func request(peer string, header http.Header) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://shop.test/", nil)
	r.RemoteAddr = peer
	r.Header = header
	return r
}

func TestClientAddr(t *testing.T) {
	t.Parallel()
	xff := func(lines ...string) http.Header { return http.Header{"X-Forwarded-For": lines} }
	fwd := func(lines ...string) http.Header { return http.Header{"Forwarded": lines} }
	for _, c := range []struct {
		name, peer string
		header     http.Header
		want       string
	}{
		{"a stranger is who they are", "203.0.113.7:1", nil, "203.0.113.7"},
		{"a stranger is not believed", "203.0.113.7:1", xff("1.2.3.4"), "203.0.113.7"},
		{"a stranger is not believed in Forwarded", "203.0.113.7:1", fwd("for=1.2.3.4"), "203.0.113.7"},
		{"a trusted proxy is believed", "10.1.2.3:1", xff("1.2.3.4"), "1.2.3.4"},
		{"the rightmost stranger counts", "10.1.2.3:1", xff("6.6.6.6, 1.2.3.4"), "1.2.3.4"},
		{"trusted proxies are passed over", "10.1.2.3:1", xff("6.6.6.6, 1.2.3.4, 10.9.9.9"), "1.2.3.4"},
		{"lines are one list", "10.1.2.3:1", xff("6.6.6.6", "1.2.3.4, 10.9.9.9", "10.8.8.8"), "1.2.3.4"},
		{"if all are trusted the leftmost counts", "10.1.2.3:1", xff("10.5.5.5, 10.6.6.6"), "10.5.5.5"},
		{"rubbish ends the search at the proxy that passed it on", "10.1.2.3:1", xff("1.2.3.4, rubbish, 10.9.9.9"), "10.9.9.9"},
		{"rubbish alone leaves the peer", "10.1.2.3:1", xff("unknown"), "10.1.2.3"},
		{"an empty header leaves the peer", "10.1.2.3:1", xff(""), "10.1.2.3"},
		{"a proxy without headers is the visitor", "10.1.2.3:1", nil, "10.1.2.3"},
		{"ports are cut off", "10.1.2.3:1", xff("1.2.3.4:567"), "1.2.3.4"},
		{"IPv6 is read bare", "[2001:db8::1]:1", xff("2a00::5"), "2a00::5"},
		{"IPv6 is read in brackets", "[2001:db8::1]:1", xff("[2a00::5]"), "2a00::5"},
		{"IPv6 is read with a port", "[2001:db8::1]:1", xff("[2a00::5]:80"), "2a00::5"},
		{"an IPv4-mapped peer is an IPv4 peer", "[::ffff:10.1.2.3]:1", xff("1.2.3.4"), "1.2.3.4"},
		{"an IPv4-mapped element is IPv4", "10.1.2.3:1", xff("::ffff:1.2.3.4"), "1.2.3.4"},
		{"an IPv4-mapped network is an IPv4 network", "192.0.2.9:1", xff("1.2.3.4"), "1.2.3.4"},
		{"a zone does not hide a trusted proxy", "[2001:db8::1%eth0]:1", xff("1.2.3.4"), "1.2.3.4"},
		{"Forwarded is read where it stands alone", "10.1.2.3:1", fwd("for=1.2.3.4;proto=https, for=10.9.9.9"), "1.2.3.4"},
		{"Forwarded is read with quotes, case and spaces", "10.1.2.3:1", fwd(`proto=http; FOR="[2a00::5]:80" , for="10.9.9.9"`), "2a00::5"},
		{"a comma in quotes is no element", "10.1.2.3:1", fwd(`for="1.1.1.1, for=6.6.6.6", for=1.2.3.4`), "1.2.3.4"},
		{"a hidden node ends the search", "10.1.2.3:1", fwd("for=1.2.3.4, for=_hidden"), "10.1.2.3"},
		{"an unreadable Forwarded is as good as none", "10.1.2.3:1", fwd(`for="1.2.3.4, for=5.5.5.5`), "10.1.2.3"},
		{"an element without for ends the search", "10.1.2.3:1", fwd("for=1.2.3.4, proto=https"), "10.1.2.3"},
		{"Forwarded does not count beside X-Forwarded-For", "10.1.2.3:1",
			http.Header{"X-Forwarded-For": {"1.2.3.4"}, "Forwarded": {"for=6.6.6.6"}}, "1.2.3.4"},
		{"Forwarded does not count beside X-Forwarded-Proto", "10.1.2.3:1",
			http.Header{"X-Forwarded-Proto": {"https"}, "Forwarded": {"for=6.6.6.6"}}, "10.1.2.3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := origin.NewTrust(proxies).ClientAddr(request(c.peer, c.header))
			assert.Equal(t, c.want, got.String())
		})
	}
	assert.False(t, origin.NewTrust(proxies).ClientAddr(request("@", nil)).IsValid(), "a Unix socket has no address")
}

func TestScheme(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, peer string
		header     http.Header
		tls        bool
		want       string
	}{
		{"a plain connection is http", "203.0.113.7:1", nil, false, "http"},
		{"a TLS connection is https", "203.0.113.7:1", nil, true, "https"},
		{"a stranger is not believed", "203.0.113.7:1", http.Header{"X-Forwarded-Proto": {"https"}}, false, "http"},
		{"a trusted proxy is believed", "10.1.2.3:1", http.Header{"X-Forwarded-Proto": {"HTTPS"}}, false, "https"},
		{"a trusted proxy is believed over TLS", "10.1.2.3:1", http.Header{"X-Forwarded-Proto": {"http"}}, true, "http"},
		{"the nearest proxy is believed", "10.1.2.3:1", http.Header{"X-Forwarded-Proto": {"https, http"}}, false, "http"},
		{"a secure websocket is https", "10.1.2.3:1", http.Header{"X-Forwarded-Proto": {"wss"}}, false, "https"},
		{"rubbish does not count", "10.1.2.3:1", http.Header{"X-Forwarded-Proto": {"gopher"}}, true, "https"},
		{"Forwarded is believed of the visitor's element", "10.1.2.3:1",
			http.Header{"Forwarded": {"for=1.2.3.4;proto=https, for=10.2.2.2;proto=http"}}, false, "https"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := request(c.peer, c.header)
			r.TLS = nil
			if c.tls {
				r.TLS = new(tls.ConnectionState)
			}
			assert.Equal(t, c.want, origin.NewTrust(proxies).Scheme(r))
		})
	}
}

// spoofs are fields that would tell an origin lies.
var spoofs = []string{
	"Forwarded", "X-Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port",
	"X-Forwarded-Prefix", "X-Forwarded-Server", "X-Forwarded-Uri", "X-Forwarded-Ssl", "X-Forwarded-Scheme", "X-Real-Ip",
	"X-Client-Ip", "X-Cluster-Client-Ip", "X-Remote-Ip", "X-Remote-Addr", "X-Originating-Ip", "X-Original-Url",
	"X-Original-Host", "X-Original-Forwarded-For", "X-Rewrite-Url", "X-Host", "X-Http-Host-Override", "X-Scheme",
	"X-Url-Scheme", "Front-End-Https", "True-Client-Ip", "Client-Ip", "Cf-Connecting-Ip", "Cf-Connecting-Ipv6",
	"Cf-Visitor", "Fastly-Client-Ip", "Fly-Client-Ip", "X-Envoy-External-Address", "X-Azure-Clientip", "Proxy",
}

var gates = []string{"Fairdoor-Visibility", "Fairdoor-Command", "Fairdoor-X", "Cf-Waiting-Room-Command", "Http2-Settings"}

var spellings = map[string]func(string) string{
	"as it is":                   func(s string) string { return s },
	"in lower case":              strings.ToLower,
	"in upper case":              strings.ToUpper,
	"with underscores":           func(s string) string { return strings.ReplaceAll(s, "-", "_") },
	"lower with underscores":     func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "_")) },
	"upper with underscores":     func(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "-", "_")) },
	"with the first dash turned": func(s string) string { return strings.Replace(s, "-", "_", 1) },
}

func TestForwardingFieldsOfStrangersAreRemoved(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t)
	srv, _ := gate(t, rec.url())
	for how, spell := range spellings {
		for _, name := range append(spoofs, gates...) {
			raw(t, srv.URL, "GET / HTTP/1.1\r\nHost: shop.test\r\n"+spell(name)+": spoofed\r\n\r\n")
			text, _ := rec.take()
			assert.NotContains(t, text, "spoofed", "%s %s", name, how)
			assert.Contains(t, text, "X-Forwarded-For: 127.0.0.1\r\n")
			assert.Contains(t, text, "X-Forwarded-Host: shop.test\r\n")
			assert.Contains(t, text, "X-Forwarded-Proto: http\r\n")
			assert.Equal(t, 3, strings.Count(text, "Forwarded"), text)
		}
	}
}

func TestForwardingFieldsOfTrustedProxiesPass(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t)
	srv, _ := gate(t, rec.url(), func(c *origin.Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	for _, c := range []struct {
		name, sent string
		want, not  []string
	}{
		{"the peer is appended", "X-Forwarded-For: 1.2.3.4\r\n", []string{"X-Forwarded-For: 1.2.3.4, 127.0.0.1\r\n"}, nil},
		{"lines are joined", "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 5.6.7.8\r\n",
			[]string{"X-Forwarded-For: 1.2.3.4, 5.6.7.8, 127.0.0.1\r\n"}, nil},
		{"host and scheme stay", "X-Forwarded-Host: a.test\r\nX-Forwarded-Proto: https\r\n",
			[]string{"X-Forwarded-Host: a.test\r\n", "X-Forwarded-Proto: https\r\n"}, []string{"X-Forwarded-Host: shop"}},
		{"host and scheme are added", "", []string{"X-Forwarded-For: 127.0.0.1\r\n", "X-Forwarded-Host: shop.test\r\n",
			"X-Forwarded-Proto: http\r\n"}, []string{"\r\nForwarded:"}},
		{"other fields stay", "X-Real-Ip: 1.2.3.4\r\nCf-Connecting-Ip: 1.2.3.4\r\n",
			[]string{"X-Real-Ip: 1.2.3.4\r\n", "Cf-Connecting-Ip: 1.2.3.4\r\n"}, nil},
		{"underscores are nobody's", "X_Real_Ip: 6.6.6.6\r\nx_forwarded_for: 6.6.6.6\r\n", nil, []string{"6.6.6.6"}},
		{"the gate's fields are nobody's", "Fairdoor-Command: revoke\r\nCf_Waiting-Room_command: revoke\r\n", nil, []string{"revoke"}},
		{"Forwarded alone is continued and translated", "Forwarded: for=1.2.3.4;proto=https\r\n",
			[]string{"Forwarded: for=1.2.3.4;proto=https, for=127.0.0.1\r\n", "X-Forwarded-For: 1.2.3.4, 127.0.0.1\r\n",
				"X-Forwarded-Proto: https\r\n"}, nil},
		{"Forwarded beside the others is dropped", "Forwarded: for=6.6.6.6\r\nX-Forwarded-For: 1.2.3.4\r\n",
			[]string{"X-Forwarded-For: 1.2.3.4, 127.0.0.1\r\n"}, []string{"6.6.6.6"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw(t, srv.URL, "GET / HTTP/1.1\r\nHost: shop.test\r\n"+c.sent+"\r\n")
			text, _ := rec.take()
			for _, want := range c.want {
				assert.Contains(t, text, want)
			}
			for _, not := range c.not {
				assert.NotContains(t, text, not)
			}
		})
	}
}

func TestAddressesOfStrangersCostNoAllocation(t *testing.T) {
	r := request("203.0.113.7:1", http.Header{"X-Forwarded-For": {"1.2.3.4"}})
	var trust origin.Trust
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_ = trust.ClientAddr(r)
		_ = trust.Scheme(r)
	}))
}

// Whatever a trusted proxy passes on, reading it neither panics nor invents an address.
func FuzzForwarded(f *testing.F) {
	f.Add("1.2.3.4, 10.0.0.1", `for=1.2.3.4;proto="ht\tps", for="[::1]:80"`)
	f.Add(",,", `for="`)
	f.Add("[::1", `="\`)
	trust := origin.NewTrust(proxies)
	f.Fuzz(func(t *testing.T, xff, fwd string) {
		for _, h := range []http.Header{{"X-Forwarded-For": {xff}}, {"Forwarded": {fwd}}, {"Forwarded": {fwd, fwd}}} {
			r := request("10.1.2.3:1", h)
			assert.True(t, trust.ClientAddr(r).IsValid())
			assert.Contains(t, []string{"http", "https"}, trust.Scheme(r))
			out := h.Clone()
			trust.Forward(out, r)
			assert.True(t, strings.HasSuffix(out.Get("X-Forwarded-For"), "10.1.2.3"))
		}
	})
}
