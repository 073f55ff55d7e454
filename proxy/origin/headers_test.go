package origin_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t)
	srv, _ := gate(t, rec.url())
	for _, c := range []struct {
		name, sent string
		want, not  []string
	}{
		{"nothing is added that the visitor did not send", "", []string{"Host: shop.test\r\n"},
			[]string{"User-Agent", "Accept-Encoding", "Connection", "Te:"}},
		{"ordinary headers stay", "User-Agent: curl\r\nAccept-Encoding: br\r\nX-Requested-With: x\r\nCf-Ray: 1\r\nPriority: u=0\r\n",
			[]string{"User-Agent: curl\r\n", "Accept-Encoding: br\r\n", "X-Requested-With: x\r\n", "Cf-Ray: 1\r\n", "Priority: u=0\r\n"}, nil},
		{"repeated headers stay repeated", "Cookie: a=1\r\nCookie: b=2;;c\r\n", []string{"Cookie: a=1\r\n", "Cookie: b=2;;c\r\n"}, nil},
		{"hop-by-hop headers go", "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nProxy-Authorization: x\r\nTe: gzip\r\n",
			nil, []string{"X-Hop", "Keep-Alive", "Proxy-Authorization", "gzip"}},
		{"trailers are still welcome", "Te: trailers\r\n", []string{"Te: trailers\r\n"}, nil},
		{"a cookie cannot be named away", "Connection: Cookie\r\nCookie: a=1\r\n", []string{"Cookie: a=1\r\n"}, nil},
		{"nor in odd spellings", "Connection: close , cOOKIE,\tauthorization\r\nConnection: ACCEPT\r\nCookie: a=1\r\nAuthorization: b\r\nAccept: c\r\n",
			[]string{"Cookie: a=1\r\n", "Authorization: b\r\n", "Accept: c\r\n"}, nil},
		{"what the gate sets cannot be named away", "Connection: X-Forwarded-For, X-Forwarded-Proto, Host\r\n",
			[]string{"X-Forwarded-For: 127.0.0.1\r\n", "X-Forwarded-Proto: http\r\n", "Host: shop.test\r\n"}, nil},
		{"h2c is not passed on", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
			nil, []string{"pgrade", "2-Settings", "h2c"}},
		{"h2c is not passed on in company", "Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n", nil, []string{"pgrade", "h2c"}},
		{"h2c is not passed on in a second line", "Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n", nil, []string{"pgrade", "h2c"}},
		{"no other protocol is passed on", "Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n", nil, []string{"pgrade"}},
		{"an unprintable protocol is not passed on", "Connection: Upgrade\r\nUpgrade: \xff\r\n", nil, []string{"pgrade"}},
		{"websocket is passed on", "Connection: keep-alive, upgrade\r\nUpgrade: WebSocket\r\n",
			[]string{"Connection: Upgrade\r\n", "Upgrade: WebSocket\r\n"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp := raw(t, srv.URL, "GET / HTTP/1.1\r\nHost: shop.test\r\n"+c.sent+"\r\n")
			assert.Equal(t, http.StatusOK, resp.StatusCode)
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

func TestResponseHeaders(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t)
	var seen []string
	srv, _ := gate(t, rec.url(), func(c *origin.Config) {
		c.OnResponse = func(resp *http.Response) {
			seen = append(seen, resp.Header.Get("Fairdoor-Command"))
			resp.Header.Del("Fairdoor-Command")
			resp.Header.Add("Set-Cookie", "ours=1")
		}
	})
	rec.reply("HTTP/1.1 203 Odd\r\nContent-Length: 6\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nFairdoor-Command: revoke\r\n"+
		"Connection: X-Hop\r\nX-Hop: 1\r\nX-Own: \xe9\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n<html>", false)
	resp := raw(t, srv.URL, "GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n")
	assert.Equal(t, 203, resp.StatusCode)
	assert.Equal(t, []string{"revoke"}, seen)
	assert.Equal(t, http.Header{
		"Content-Length": {"6"},
		"Set-Cookie":     {"a=1", "b=2", "ours=1"},
		"X-Own":          {"\xe9"},
		"Date":           {"Thu, 01 Jan 1970 00:00:00 GMT"},
	}, resp.Header, "no Content-Type is guessed, nothing else is added or lost")
}

// What the origin makes of odd framing must be what the gate made of it: as many requests, of the
// same bodies.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	smuggled := "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, c := range []struct{ name, sent string }{
		{"length and chunks", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
		{"two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 37\r\n\r\n" + smuggled},
		{"the same length twice", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok" + smuggled},
		{"a list of lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2, 39\r\n\r\nok" + smuggled},
		{"a length with a sign", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +2\r\n\r\nok" + smuggled},
		{"a folded length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n 2\r\n\r\nok" + smuggled},
		{"a folded header", "POST / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nok" + smuggled},
		{"bare line feeds", "POST / HTTP/1.1\nHost: x\nContent-Length: 2\n\nok" + smuggled},
		{"a bare line feed in a header", "GET / HTTP/1.1\r\nHost: x\r\nX: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
		{"a bare carriage return", "GET / HTTP/1.1\r\nHost: x\r\nX: a\rTransfer-Encoding: chunked\r\n\r\n" + smuggled},
		{"a space before the colon", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\nContent-Length: 2\r\n\r\nok" + smuggled},
		{"a space before a name", "POST / HTTP/1.1\r\nHost: x\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
		{"an unknown coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\nok" + smuggled},
		{"two codings", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + smuggled},
		{"chunked twice", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
		{"a bare line feed in a chunk size", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\r\n0\r\n\r\n" + smuggled},
		{"a chunk extension", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;a=\"\r\nok\r\n0\r\n\r\n" + smuggled},
		{"a chunk size too long", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000002\r\nok\r\n0\r\n\r\n" + smuggled},
		{"a GET with a body", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 38\r\n\r\n" + smuggled},
		{"a body that a websocket does not have", "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 38\r\n\r\n" + smuggled},
		{"framing that is named away", "POST / HTTP/1.1\r\nHost: x\r\nConnection: Content-Length\r\nContent-Length: 38\r\n\r\n" + smuggled},
		{"chunking that is named away", "POST / HTTP/1.1\r\nHost: x\r\nConnection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
		{"HTTP/1.0 with chunks", "POST / HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
		{"framing in a trailer", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n0\r\nContent-Length: 40\r\nX-A: b\r\n\r\n" + smuggled},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rec := newRecorder(t)
			var counted, answered atomic.Int64
			o := newOrigin(t, rec.url(), func(cfg *origin.Config) {
				cfg.OnResponse = func(*http.Response) { answered.Add(1) }
			})
			srv := site(t, func(w http.ResponseWriter, r *http.Request) {
				counted.Add(1)
				o.ServeHTTP(w, r)
			})
			conn := dial(t, srv.URL)
			_, err := conn.Write([]byte(c.sent + "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
			require.NoError(t, err)
			drain(conn)
			srv.Close()
			o.Close()
			rec.end()
			sent, requests := rec.take()
			assert.LessOrEqual(t, int64(requests), counted.Load(), sent)
			assert.GreaterOrEqual(t, int64(requests), answered.Load(), "only a request whose body breaks off may not arrive")
			for head := range strings.SplitSeq(sent, "\r\n\r\n") {
				framings := strings.Count(head, "\r\nContent-Length: ") + strings.Count(head, "\r\nTransfer-Encoding: chunked")
				assert.LessOrEqual(t, framings, 1, "%q", head)
			}
		})
	}
}
