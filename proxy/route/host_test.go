package route_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

func TestHostsThatEverybodyReadsAlike(t *testing.T) {
	for host, want := range map[string]string{
		"shop.test": "shop.test", "SHOP.Test": "shop.test", "shop.test.": "shop.test", "shop.test:80": "shop.test",
		"shop.test.:65535": "shop.test", "shop.test:00080": "shop.test", "localhost": "localhost", "a_b-c.xn--bcher-kva.test": "a_b-c.xn--bcher-kva.test",
		"127.0.0.1": "127.0.0.1", "127.0.0.1:8080": "127.0.0.1", "[::1]": "::1", "[::1]:8080": "::1", "[0:0:0:0:0:0:0:1]": "::1",
		"[2001:DB8::A]:1": "2001:db8::a", strings.Repeat("a", 253): strings.Repeat("a", 253),
	} {
		got, ok := route.ParseHost(host)
		assert.True(t, ok, host)
		assert.Equal(t, want, got, host)
	}
}

var noHosts = []string{
	"", ".", "..", ".shop.test", "shop..test", "shop.test..", "shop.test..:80", ":80", ".:80", "shop.test:", "shop.test.:", "shop.test:0", "shop.test:65536",
	"shop.test:000080", "shop.test:80:90", "shop.test.:80:1", "shop.test:80.", "shop.test: 80", "shop.test:+80", "shop.test:-1", "shop.test:http", "shop.test:80,",
	"shop.test,evil", "evil,shop.test", "shop.test, shop.test", "shop.test;x", "shop.test/", "shop.test?", "shop.test#", `shop.test\`, "user@shop.test",
	"shop.test@evil", "shop.test%00", "shop%2etest", "*.test", "shop.test\x00", "shop.test\t", " shop.test", "shop.test ", "shop test", "bücher.test",
	"(shop.test)", "shop.test!", "'shop.test'", "\"shop.test\"", "::1", "[::1", "::1]", "[]", "[]:80", "[shop.test]", "[127.0.0.1]", "[::1]x", "[::1].", "[::1]:",
	"[::1]80", "[::1]:80:90", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[[::1]]", "[[::1]", "[::1", strings.Repeat("a", 254),
}

func TestHostsThatServersReadDifferently(t *testing.T) {
	for _, host := range noHosts {
		_, ok := route.ParseHost(host)
		assert.False(t, ok, "%q", host)
	}
}

// What is read as a host has one name, whatever port is added to it.
func FuzzParseHost(f *testing.F) {
	for _, host := range noHosts {
		f.Add(host)
	}
	f.Add("Shop.test.:8080")
	f.Add("[2001:DB8::1]:8080")
	f.Fuzz(func(t *testing.T, host string) {
		name, ok := route.ParseHost(host)
		if !ok {
			return
		}
		written := name
		if strings.Contains(name, ":") {
			written = "[" + name + "]"
		}
		for _, same := range []string{written, strings.ToUpper(written), written + ":443"} {
			again, ok := route.ParseHost(same)
			require.True(t, ok, same)
			require.Equal(t, name, again, same)
		}
		if host[0] != '[' {
			require.True(t, strings.HasPrefix(strings.ToLower(host), name), "%q", host)
			return
		}
		_, err := netip.ParseAddr(host[1:strings.IndexByte(host, ']')])
		require.NoError(t, err, "%q", host)
	})
}
