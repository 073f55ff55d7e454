package config_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

const rooms = "rooms:\n  - name: shop\n    total_active_users: 20\n    new_users_per_minute: 10\n"

func TestSeveralOrigins(t *testing.T) {
	c := setup{file: "origins: [http://a:1, http://b:2]\nhost_header: origin\nproxy_protocol: [10.0.0.7]\n" + rooms}.mustLoad(t)
	both := []string{"http://a:1", "http://b:2"}
	assert.Equal(t, both, c.Origins)
	assert.Equal(t, "http://a:1", c.Origin, "the first stands for all of them")
	assert.Equal(t, both, c.Rooms[0].Origins)
	assert.Equal(t, "http://a:1", c.Rooms[0].Origin)
	assert.Equal(t, "origin", c.Rooms[0].HostHeader)
	assert.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.0.0.7/32")}, c.ProxyProtocol)

	c = setup{file: "origins: [http://a:1, http://b:2]\nhost_header: shop.internal\n" + rooms + "    origin: http://c:3\n    host_header: visitor\n"}.mustLoad(t)
	assert.Empty(t, c.Rooms[0].Origins, "the room has one of its own")
	assert.Equal(t, "http://c:3", c.Rooms[0].Origin)
	assert.Equal(t, "shop.internal", c.HostHeader)
	assert.Empty(t, c.Rooms[0].HostHeader)

	c = setup{file: rooms + "    origins: [http://a:1, http://b:2]\n", args: []string{"--origin=http://c:3"}}.mustLoad(t)
	assert.Empty(t, c.Rooms[0].Origins)
	assert.Equal(t, "http://c:3", c.Rooms[0].Origin, "a flag goes before the file")
	c = setup{file: rooms + "    origin: http://c:3\n", args: []string{"--origins=http://a:1,http://b:2"}}.mustLoad(t)
	assert.Equal(t, both, c.Rooms[0].Origins)
}

func TestFaultsOfOriginsAndOfTLS(t *testing.T) {
	for name, tt := range map[string]struct {
		file string
		want []string
	}{
		"one origin and several": {"origin: http://a\norigins: [http://b]\n" + rooms, []string{"2:10: origins: there is origin as well: give one of them"}},
		"no origin":              {"origins: []\n" + rooms, []string{"3:5: rooms[0].origin: is required: here, or at the top of the file for all rooms"}},
		"a circle":               {"listen: :8080\norigins: [http://a:1, 'http://localhost:8080']\n" + rooms, []string{"2:10: origins: is the address that this gate listens on: requests would go round in circles"}},
		"an origin with a path":  {"origins: [http://a:1, http://b/x]\n" + rooms, []string{`1:23: origins[1]: "http://b/x" has a path, a query or a fragment: requests go to the origin under the path they came for`}},
		"no host":                {minimal + "host_header: a b\n", []string{`6:14: host_header: "a b" is neither visitor, nor origin, nor a host such as shop.internal`}},
		"HTTP/2 without TLS, and TLS": {minimal + "h2c: true\ntls: {acme: {domains: [a.test], agree: true}}\n", []string{
			"6:6: h2c: is HTTP/2 without TLS, and with tls visitors have HTTP/2 without it"}},
		"a health path that is none": {"origin: h2c://a\n" + rooms + "    health_path: healthz\n", []string{
			`6:18: rooms[0].health_path: "healthz" is no path such as /healthz, with or without a query`}},
		"two health paths of one origin": {"origin: http://a\n" + rooms + "  - {name: b, path: /b, health_path: /b, total_active_users: 20, new_users_per_minute: 10}\n", []string{
			`6:38: rooms[1].health_path: http://a is the origin of room "shop", too, whose health_path is "": rooms of one origin have the same`}},
		"the health check of gRPC of an origin that does not speak it": {"origins: [h2c://a, 'https://b']\n" + rooms + "    health_path: /grpc.health.v1.Health/Check\n", []string{
			`6:18: rooms[0].health_path: is gRPC's health check, which https://b cannot answer: only origins of h2:// and h2c:// speak gRPC`}},
		"two origins that are none": {rooms + "    origin: 'a b'\n    health_path: /a\n  - {name: b, path: /b, origin: 'c d', total_active_users: 20, new_users_per_minute: 10}\n", []string{
			`5:13: rooms[0].origin: "a b" has no scheme`, `7:33: rooms[1].origin: "c d" has no scheme`}},
		"terms that nobody agrees to": {minimal + "tls: {acme: {domains: [a.test]}}\n", []string{
			"6:23: tls.acme.domains: needs tls.acme.agree: true says that you agree to the terms of the certificate authority"}},
		"a wildcard": {minimal + "tls: {acme: {domains: ['*.a.test'], agree: true}}\n", []string{
			`6:24: tls.acme.domains[0]: "*.a.test" is a wildcard, for which authorities want to see an entry in DNS: name each host, or use tls.certificates`}},
		"a redirect to nowhere":     {minimal + "tls: {redirect: ':80'}\n", []string{"6:17: tls.redirect: redirects to https, and there is neither tls.certificates nor tls.acme.domains"}},
		"a redirect to where it is": {minimal + "listen: :443\ntls: {redirect: ':443', acme: {domains: [a.test], agree: true}}\n", []string{`7:17: tls.redirect: cannot share the address of listen: ":443" and ":443"`}},
		"a redirect elsewhere": {minimal + "listen: 10.0.0.1:443\ntls: {redirect: '127.0.0.1:80', acme: {domains: [a.test], agree: true}}\n", []string{
			`7:17: tls.redirect: needs the host of listen where certificates come by tls.acme: "10.0.0.1:443" and "127.0.0.1:80"`}},
		"a redirect at the same host": {minimal + "listen: 10.0.0.1:443\ntls: {redirect: '10.0.0.1:80', acme: {domains: [a.test], agree: true}}\n", nil},
		"a redirect at all hosts":     {minimal + "listen: 10.0.0.1:443\ntls: {redirect: ':80', acme: {domains: [a.test], agree: true}}\n", nil},
		"roots that are none":         {minimal + "tls: {acme: {roots_file: empty}}\n", []string{"6:26: tls.acme.roots_file: /etc/gate/empty holds no certificate: expects them in PEM"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, faults := setup{file: tt.file, files: map[string]string{"/etc/gate/empty": "\n"}}.load(t)
			for i := range tt.want {
				tt.want[i] = "gate.yaml:" + tt.want[i]
			}
			assert.Equal(t, tt.want, faults)
		})
	}
}
