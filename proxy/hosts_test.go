package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// reader is a real server that answers "shop" to what it reads as a request for
// shop.test and "other" to all else.
type reader struct{ address string }

// newReader starts a server with a configuration in which ADDRESS and DIR stand
// for what its names say.
func newReader(t testing.TB, config string, program string, args ...string) reader {
	t.Helper()
	r := reader{address: porttest.Address(t)}

	dir := t.TempDir()
	file := filepath.Join(dir, "conf")
	config = strings.NewReplacer("ADDRESS", r.address, "DIR", dir).Replace(config)
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	cmd := exec.Command(program, append(args, file)...)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s: %s", program, text)
		}
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", r.address)
		return err == nil && conn.Close() == nil
	}, gatetest.Patience, 5*time.Millisecond)
	return r
}

// newNginx reads a host by server_name, and by the expressions that people write.
func newNginx(t testing.TB) reader {
	return newReader(t, `
daemon off;
master_process off;
pid DIR/pid;
events {}
http {
	access_log off;
	client_body_temp_path DIR; proxy_temp_path DIR; fastcgi_temp_path DIR; uwsgi_temp_path DIR; scgi_temp_path DIR;
	keepalive_requests 1000000;
	server {
		listen ADDRESS default_server;
		if ($host = shop.test) { return 200 shop; }
		if ($http_host ~* ^shop\.test\.?(:.*)?$) { return 200 shop; }
		return 200 other;
	}
	server {
		listen ADDRESS;
		server_name shop.test;
		return 200 shop;
	}
}
`, "nginx", "-e", "stderr", "-c")
}

// newHAProxy reads a host in the ways that its manual has for it.
func newHAProxy(t testing.TB) reader {
	return newReader(t, `
defaults
	mode http
	timeout client 20s
	timeout server 20s
	timeout connect 5s
frontend all
	bind ADDRESS
	acl shop hdr(host) -i shop.test
	acl shop req.fhdr(host) -i shop.test
	acl shop req.hdr(host),host_only -i shop.test
	acl shop req.hdr(host),field(1,:),lower -m str shop.test
	http-request return status 200 content-type text/plain string shop if shop
	http-request return status 200 content-type text/plain string other
`, "haproxy", "-f")
}

// asked is a request by the way in which it names its host.
type asked struct{ line, host string }

func (a asked) String() string { return a.line + "\r\n" + a.host }

// ways are those in which a request can name a host.
func ways(host string) []asked {
	return []asked{
		{"GET / HTTP/1.1", "Host: " + host},
		{"GET / HTTP/1.0", "Host: " + host},
		{"GET http://" + host + "/ HTTP/1.1", "Host: other.test"},
		{"GET http://other.test/ HTTP/1.1", "Host: " + host},
		{"GET / HTTP/1.1", "Host: other.test\r\nHost: " + host},
	}
}

// ask returns what an address answers; "" if that is no answer, or a refusal.
func (a asked) ask(t require.TestingT, address string) string {
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(gatetest.Patience)))
	require.NoError(t, conn.(*net.TCPConn).SetLinger(0), "so many connections would use up the ports")
	_, err = fmt.Fprintf(conn, "%s\r\n%s\r\nAccept: application/json\r\n\r\n", a.line, a.host)
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		return ""
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

// doors are the servers, each with a gate in front that guards shop.test, where
// nobody may enter, and passes on what is for other hosts.
type doors map[string]struct {
	reader
	gate *gatetest.Fixture
}

func newDoors(t testing.TB) doors {
	t.Helper()
	all := doors{}
	for name, r := range map[string]reader{"nginx": newNginx(t), "HAProxy": newHAProxy(t)} {
		d := all[name]
		d.reader = r
		d.gate = gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) {
			c.Rooms[0].Routes[0].Host, c.Rooms[0].Settings.QueueAll = "shop.test", true
			c.Origin = &url.URL{Scheme: "http", Host: r.address}
		})
		all[name] = d
	}
	return all
}

// check asks for a host in every way, and returns how many servers read it as the
// shop.
func (d doors) check(t require.TestingT, host string) (read int) {
	for name, door := range d {
		for _, way := range ways(host) {
			through := way.ask(t, door.gate.Public.Listener.Addr().String())
			require.NotEqual(t, "shop", through, "%s was let through, and %s reads it as the shop", way, name)
			if way.ask(t, door.address) == "shop" {
				read++
			}
		}
	}
	return read
}

// shops are hosts that are shop.test to some server, or look like it.
var shops = []string{
	"shop.test", "SHOP.test", "shop.test.", "shop.test:80", "shop.test:", "shop.test.:80", "shop.test.:", "shop.test:80:90", "shop.test.:80:1", "shop.test:x",
	"shop.test..", "shop.test..:80", "shop.test,evil", "evil,shop.test", "shop.test, evil", "evil, shop.test", "shop.test,", ",shop.test", ".shop.test", "shop.test:0", "shop.test:99999",
	"shop.test:80,evil", "shop.test;x", "shop.test@evil", "evil@shop.test", "user:password@shop.test", "shop.test/", "shop.test/x", "shop.test?", "shop.test#x",
	"[shop.test]", "[shop.test", "shop.test]", "shop.test:[::1]", "shop%2etest", "shop.test%00", "shop.test\x00evil", "shop.test\tevil", "shop.test evil",
	"\tshop.test", "shop.test\x0b", "shop.test\xa0", "shop.test\\evil", "shop.test'", "\"shop.test\"", "shop.test!", "shop.test$", "shop.test&evil", "shop.test*",
	"shop.test+", "shop.test=", "shop.test~", "shop.test_", "shop.test-", "shop\xe3\x80\x82test", "\xef\xbd\x93hop.test", "\u212ahop.test", "",
}

func TestNoHostIsTheShopToARealServerAndNotToTheGate(t *testing.T) {
	all, read := newDoors(t), 0
	for _, host := range shops {
		read += all.check(t, host)
	}
	assert.Greater(t, read, 30, "these servers read few of them as the shop: nothing is tested")
	pieces := []string{"shop.test", "shop.test", "SHOP", ".", ".", "test", ":", ":", "80", "0", ",", " ", "\t", "@", "evil", "[", "]", "/", "\\", "#", "?", "%", "%2e", ";", "\x00", "\xff", "-", "_", "é"}
	rapid.Check(t, func(t *rapid.T) {
		all.check(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(t, "pieces"), ""))
	})
}

// FuzzHost asks real servers, and the gate, for hosts.
func FuzzHost(f *testing.F) {
	all := newDoors(f)
	for _, host := range shops {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !strings.ContainsAny(host, "\r\n") { // else it is more than a host
			all.check(t, host)
		}
	})
}

func TestHostsOfHTTP2AreReadAlike(t *testing.T) {
	s := gatetest.NewSite(t)
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) {
		c.Rooms[0].Routes[0].Host, c.Rooms[0].Settings.QueueAll, c.Origin = "shop.test", true, s.Address(t)
	})
	secure := httptest.NewUnstartedServer(f.Gate)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	v := f.Visitor()
	v.Base, v.Client = secure.URL, secure.Client()
	for _, host := range []string{"shop.test:80:90", "shop.test.:80:1", "shop.test..", "shop.test,evil", ".shop.test", "shop.test:", "[shop.test]"} {
		v.Host = host
		assert.Equal(t, http.StatusBadRequest, v.Get("/").Status, host)
		assert.Equal(t, http.StatusBadRequest, v.Get("/.fairdoor/session").Status, host)
	}
	v.Host = "SHOP.test.:80"
	assert.NotNil(t, v.Get("/", gatetest.AsJSON).Room, "gated")
	assert.Empty(t, s.Requests())
	v.Host = "other.test"
	assert.True(t, v.Get("/").In())
}

func TestHostsThatCannotBeReadAreRefusedWhateverElseWouldHold(t *testing.T) {
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) { c.Rooms[0].Settings.Suspended = true })
	for request, status := range map[string]int{
		"GET / HTTP/1.1\r\nHost: shop.test:80:90\r\n\r\n":                                                                http.StatusBadRequest,
		"GET /.fairdoor/session HTTP/1.1\r\nHost: .shop.test\r\n\r\n":                                                    http.StatusBadRequest,
		"GET http://shop.test../ HTTP/1.1\r\nHost: shop.test\r\n\r\n":                                                    http.StatusBadRequest,
		"OPTIONS / HTTP/1.1\r\nHost: shop.test,x\r\nOrigin: http://a.test\r\nAccess-Control-Request-Method: PUT\r\n\r\n": http.StatusBadRequest,
		"GET / HTTP/1.1\r\nHost: \r\n\r\n":                                                                               http.StatusBadRequest,
		"GET / HTTP/1.0\r\n\r\n":                                                                                         http.StatusOK,
		"GET / HTTP/1.0\r\nHost: shop.test:1:2\r\n\r\n":                                                                  http.StatusBadRequest,
		"GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n":                                                                     http.StatusOK,
	} {
		assert.Equal(t, status, raw(f, "GET", request).StatusCode, request)
	}
	assert.Len(t, f.Site.Requests(), 2)
}

// Without a Host net/http names the origin's own, which is a room's here.
func TestRequestsWithoutAHostDoNotGoAroundTheRoomOfTheOriginsHost(t *testing.T) {
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) {
		c.Rooms[0].Routes[0].Host, c.Rooms[0].Settings.QueueAll, c.Origin = "127.0.0.1", true, c.Rooms[0].Origin
	})
	assert.NotEqual(t, http.StatusBadRequest, raw(f, "GET", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").StatusCode)
	assert.Equal(t, http.StatusMisdirectedRequest, raw(f, "GET", "GET / HTTP/1.0\r\n\r\n").StatusCode)
	assert.Empty(t, f.Site.Requests())
}
