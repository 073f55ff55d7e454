package origin_test

import (
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// sentTarget sends a request with the target to the gate and returns the target that the recorder
// got, "" for none.
func sentTarget(t *testing.T, gateURL string, rec *recorder, method, target string) (string, int) {
	t.Helper()
	resp := raw(t, gateURL, method+" "+target+" HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n")
	text, _ := rec.take()
	line, _, _ := strings.Cut(text, "\r\n")
	_, line, _ = strings.Cut(line, " ")
	return strings.TrimSuffix(line, " HTTP/1.1"), resp.StatusCode
}

func TestTarget(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t)
	srv, _ := gate(t, rec.url())
	for _, c := range []struct{ name, method, target, want string }{
		{"a plain path stays", "GET", "/a/b", "/a/b"},
		{"a query stays with its semicolons and bad escapes", "GET", "/a?x=1;y=2&z=%zz&%", "/a?x=1;y=2&z=%zz&%"},
		{"an empty query stays", "GET", "/a?", "/a?"},
		{"two question marks stay", "GET", "/a??", "/a??"},
		{"an encoded slash stays", "GET", "/a%2fb%2Fc", "/a%2fb%2Fc"},
		{"needless escapes stay", "GET", "/%61%7e", "/%61%7e"},
		{"dot segments stay", "GET", "/./a/../b/%2e%2e/c", "/./a/../b/%2e%2e/c"},
		{"a backslash stays", "GET", `/a\b`, `/a\b`},
		{"a number sign stays", "GET", "/a#b", "/a#b"},
		{"odd characters stay", "GET", "/\"<>^`{|}[]", "/\"<>^`{|}[]"},
		{"bytes beyond ASCII stay", "GET", "/caf\xc3\xa9\xff?\xff", "/caf\xc3\xa9\xff?\xff"},
		{"two slashes stay", "GET", "//a?b", "//a?b"},
		{"two slashes and an empty query stay", "GET", "//a?", "//a?"},
		{"two slashes alone stay", "GET", "//", "//"},
		{"three slashes stay", "GET", "///a//b", "///a//b"},
		{"two slashes and a backslash stay", "GET", `//a\b?c;d`, `//a\b?c;d`},
		{"many slashes and a backslash stay", "GET", `/////a\b`, `/////a\b`},
		{"two slashes and a long query stay", "GET", `//\?` + strings.Repeat("q", 9000), `//\?` + strings.Repeat("q", 9000)},
		{"a long method before odd slashes stays", strings.Repeat("M", 4095), `//\`, `//\`},
		{"a longer method before odd slashes stays", strings.Repeat("M", 9000), `//\`, `//\`},
		{"a method that fills a buffer stays", strings.Repeat("M", 4094), `//\`, `//\`},
		{"an asterisk stays", "OPTIONS", "*", "*"},
		{"the absolute form becomes the origin form", "GET", "http://shop.test/a%2f?b;c", "/a%2f?b;c"},
		{"the absolute form with two slashes keeps them", "GET", `http://shop.test//a\b`, `//a\b`},
		{"the absolute form without a path gets one", "GET", "http://shop.test", "/"},
		{"the absolute form with a query only gets a path", "GET", "HTTP://shop.test?a", "/?a"},
		{"the absolute form of an asterisk becomes one", "OPTIONS", "http://shop.test", "*"},
		{"a user in the absolute form is dropped", "GET", "https://me@shop.test/a", "/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, status := sentTarget(t, srv.URL, rec, c.method, c.target)
			assert.Equal(t, http.StatusOK, status)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestTargetThatCannotBePassedOn(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t)
	srv, _ := gate(t, rec.url())
	for _, c := range []struct {
		name, method, target string
		status               int
	}{
		{"an asterisk is for OPTIONS only", "GET", "*", 400},
		{"another scheme is refused", "GET", "ftp://shop.test/a", 400},
		{"a scheme without slashes is refused", "GET", "http:a", 400},
		{"an absolute form without a host is refused", "GET", "http:///a", 400},
		{"CONNECT is refused", "CONNECT", "shop.test:80", 405},
		{"TRACE is refused", "TRACE", "/", 405},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, status := sentTarget(t, srv.URL, rec, c.method, c.target)
			assert.Equal(t, c.status, status)
			assert.Empty(t, got)
		})
	}
}

func TestAThousandRandomTargetsAreSentByteForByte(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t)
	srv, _ := gate(t, rec.url())
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"/", "//", "/.", "/..", "%2f", "%2F", "%5c", "%00", "%0d%0a", `\`, ";", ";a=b", "a", "Z", "~", "'", "\"",
		"<", "|", "{", "#", "@", ":", "[", "]", "+", "&", "=", "*", "\xff", "é", "?", "%3f", "%25"}
	for range 1000 {
		target := []string{"/", "//", "///"}[random.IntN(3)]
		for range random.IntN(8) {
			target += parts[random.IntN(len(parts))]
		}
		if random.IntN(2) == 0 {
			target += "?" + []string{"", "a=1;b=2", "%zz", "%", "a=%2f&&=", "?", "//"}[random.IntN(7)]
		}
		got, status := sentTarget(t, srv.URL, rec, "GET", target)
		require.Equal(t, http.StatusOK, status, "%q", target)
		require.Equal(t, target, got)
	}
}

// A path of HTTP/2 may hold what would end the target of HTTP/1.1.
func TestTargetsOfHTTP2ThatWouldSplitTheRequestLine(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t)
	u, err := url.Parse(rec.url())
	require.NoError(t, err)
	o, err := origin.New(origin.Config{URL: u})
	require.NoError(t, err)
	t.Cleanup(o.Close)
	srv := httptest.NewUnstartedServer(o)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	for _, c := range []struct{ name, method, path, host string }{
		{"a space in the path", "GET", "/a HTTP/1.1", "shop.test"},
		{"a space in the query", "GET", "/a?b HTTP/1.1", "shop.test"},
		{"a tab in the path", "GET", "/a\tb", "shop.test"},
		{"a space in the method", "GET /x", "/a", "shop.test"},
		{"a host beyond ASCII", "GET", "/a", "shöp\xff.test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status := statusOverHTTP2(t, srv, [][2]string{
				{":method", c.method}, {":path", c.path}, {":scheme", "https"}, {":authority", c.host}})
			assert.NotEqual(t, "200", status)
			text, requests := rec.take()
			assert.Zero(t, requests, text)
			assert.False(t, o.Failing())
		})
	}
	status := statusOverHTTP2(t, srv, [][2]string{
		{":method", "GET"}, {":path", "//a\\b"}, {":scheme", "https"}, {":authority", "shop.test"}})
	assert.Equal(t, "200", status, "a path that can be passed on passes")
}

// statusOverHTTP2 sends the header fields as they are, and returns the status or how the stream was
// reset.
func statusOverHTTP2(t *testing.T, srv *httptest.Server, fields [][2]string) string {
	t.Helper()
	conn, err := tls.Dial("tcp", srv.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte(http2.ClientPreface))
	require.NoError(t, err)
	var block strings.Builder
	enc := hpack.NewEncoder(&block)
	for _, f := range fields {
		require.NoError(t, enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}))
	}
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	require.NoError(t, framer.WriteSettings())
	require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: []byte(block.String()), EndStream: true, EndHeaders: true}))
	for {
		frame, err := framer.ReadFrame()
		require.NoError(t, err)
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			return f.PseudoValue("status")
		case *http2.RSTStreamFrame:
			return fmt.Sprint("reset: ", f.ErrCode)
		}
	}
}
