package origin_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

func TestConnectionsThatTheOriginEndsAreTheSameOnBothTransports(t *testing.T) {
	t.Parallel()
	empty := "POST /a HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 0\r\n\r\n"
	keyed := strings.Replace(empty, "\r\n\r\n", "\r\nIdempotency-Key: x\r\n\r\n", 1)
	var list []exchange
	// The origin ends the connection before the second request.
	for _, c := range []struct{ name, ask string }{
		{"GET", get("/a")}, {"POST without a body", empty},
		{"POST", send("POST", "/a", "hello")}, {"PUT", send("PUT", "/a", "hello")}, {"DELETE", send("DELETE", "/a", "")},
	} {
		const want = "200 ok; 200 fine /a"
		list = append(list,
			exchange{name: "before " + c.name, asks: []string{get("/"), c.ask}, want: want, kept: true,
				scripts: [][]step{{hear, say(two), unused, spoil, hangUp}}},
			exchange{name: "before " + c.name + " with its answer", asks: []string{get("/"), c.ask}, want: want, kept: true,
				scripts: [][]step{{hear, spoil, say(two), hangUp}}})
	}
	// The origin hears the second request and ends the connection.
	for _, c := range []struct{ name, ask, want string }{
		{"GET", get("/a"), "200 fine /a"},
		{"OPTIONS", strings.Replace(get("/a"), "GET", "OPTIONS", 1), "200 fine /a"},
		{"a method nobody knows", strings.Replace(get("/a"), "GET", "FROB", 1), "502"},
		{"PUT without a body", strings.Replace(empty, "POST", "PUT", 1), "502"},
		{"DELETE without a body", strings.Replace(empty, "POST", "DELETE", 1), "502"},
		{"POST without a body", empty, "502"},
		{"POST without a body and with a key", keyed, "200 fine /a"},
		{"POST without a body and with another key", strings.Replace(keyed, "Idem", "X-Idem", 1), "200 fine /a"},
		{"POST", send("POST", "/a", "hello"), "502"},
		{"PUT", send("PUT", "/a", "hello"), "502"},
		{"POST with a key", strings.Replace(send("POST", "/a", "hello"), "\r\n\r\n", "\r\nIdempotency-Key: x\r\n\r\n", 1), "502"},
	} {
		asks := []string{get("/"), c.ask}
		want := "200 ok; " + c.want
		list = append(list,
			exchange{name: "after " + c.name, asks: asks, want: want, kept: c.want != "502", scripts: [][]step{{hear, say(two), hear, hangUp}}},
			exchange{name: "by a reset after " + c.name, asks: asks, want: want, kept: c.want != "502", scripts: [][]step{{hear, say(two), hear, reset}}},
			exchange{name: "within the status line after " + c.name, asks: asks, want: "200 ok; 502", scripts: [][]step{{hear, say(two), hear, say("HTTP/1."), hangUp}}},
			exchange{name: "within the header after " + c.name, asks: asks, want: "200 ok; 502", scripts: [][]step{{hear, say(two), hear, say(ok + "X: y\r\n"), hangUp}}})
	}
	list = append(list,
		exchange{name: "of the first request", want: "502", scripts: [][]step{{hear, hangUp}}},
		exchange{name: "of the first request by a reset", want: "502", scripts: [][]step{{hear, reset}}},
		exchange{name: "before the first request", want: "502", loose: withoutRequests, scripts: [][]step{{hangUp}}},
		exchange{name: "again and again", asks: []string{get("/"), get("/a")}, want: "200 ok; 502",
			scripts: [][]step{{hear, say(two), hear, hangUp}, {hear, hangUp}}},
		exchange{name: "after hints", asks: []string{get("/"), get("/a")}, want: "200 ok; 103 502",
			scripts: [][]step{{hear, say(two), hear, say("HTTP/1.1 103 Early Hints\r\n\r\n"), hangUp}}},
		exchange{name: "within the body", asks: []string{get("/"), get("/a")}, want: "200 ok; broken off",
			scripts: [][]step{{hear, say(two), hear, say(ok + "Content-Length: 5\r\n\r\nok"), hangUp}}},
		exchange{name: "by a reset within the body", asks: []string{get("/"), get("/a")}, want: "200 ok; broken off | 200 ok; 502 | 200 ok; 200 fine /a",
			scripts: [][]step{{hear, say(two), hear, say(ok + "Content-Length: 5\r\n\r\nok"), reset}}},
		exchange{name: "while nobody uses it, by a reset", asks: []string{get("/"), get("/a"), empty}, want: "200 ok; 200 fine /a; 200 fine /a", kept: true,
			scripts: [][]step{{hear, say(two), unused, reset}}},
	)
	differs(t, list)
}

// withoutRequests forgets what time decides, which is whether a request is sent before its
// connection ends.
func withoutRequests(o *outcome) { o.Requests = nil }

func TestRequestsAreTheSameOnBothTransports(t *testing.T) {
	t.Parallel()
	header := func(lines ...string) string {
		return "GET /a HTTP/1.1\r\nHost: shop.test\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
	}
	var list []exchange
	for _, target := range []string{"/", "//x", "///", "/%2f", "/%2F..;a=b", "/;", "/a?", "/a??b;c=%zz", `//a\b`, "/\xff", "/a#b", "http://other.test/b", "/" + strings.Repeat("a", 9000)} {
		list = append(list, exchange{name: "target " + target[:min(len(target), 20)], asks: []string{get(target), get("/next")}})
	}
	list = append(list,
		exchange{name: "an asterisk", asks: []string{"OPTIONS * HTTP/1.1\r\nHost: shop.test\r\n\r\n"}},
		exchange{name: "a host with a port", asks: []string{"GET /a HTTP/1.1\r\nHost: Shop.Test:8080\r\n\r\n"}},
		exchange{name: "a host with an address", asks: []string{"GET /a HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"}},
		exchange{name: "an empty host", asks: []string{"GET /a HTTP/1.1\r\nHost:\r\n\r\n"}},
		exchange{name: "no host", asks: []string{"GET /a HTTP/1.0\r\n\r\n"}},
		exchange{name: "no user agent", asks: []string{header("Accept: */*")}},
		exchange{name: "an empty user agent", asks: []string{header("User-Agent:")}},
		exchange{name: "a user agent", asks: []string{header("User-Agent: me/1.0")}},
		exchange{name: "an encoding", asks: []string{header("Accept-Encoding: br")}},
		exchange{name: "a range", asks: []string{header("Range: bytes=0-1")}},
		exchange{name: "empty values", asks: []string{header("X:", "Y: ", "Accept:")}},
		exchange{name: "values with bytes beyond ASCII", asks: []string{header("X: \xe4\xff", "Y: a\tb")}},
		exchange{name: "names in other spellings", asks: []string{header("x-sMALL: a", "COOKIE: a=b", "dnt: 1", "x_under: y")}},
		exchange{name: "the same field often", asks: []string{header("Cookie: a=b", "Cookie: c=d", "X: 1", "Y: 2", "X: 3")}},
		exchange{name: "fields of the visitor's connection", asks: []string{header("Connection: close, X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", "Te: trailers", "Proxy-Connection: x")}},
		exchange{name: "a visitor of HTTP/1.0", asks: []string{"GET /a HTTP/1.0\r\nHost: shop.test\r\n\r\n"}},
		exchange{name: "an upgrade to what does not pass", asks: []string{header("Connection: Upgrade", "Upgrade: h2c", "HTTP2-Settings: x")}},
		exchange{name: "a websocket that is refused", asks: []string{header("Connection: Upgrade", "Upgrade: websocket")},
			scripts: answers(ok + "Connection: close\r\nContent-Length: 2\r\n\r\nok")}, // net/http keeps such connections apart
		exchange{name: "HEAD", asks: []string{"HEAD /a HTTP/1.1\r\nHost: shop.test\r\n\r\n"}, scripts: answers(ok + "Content-Length: 5\r\n\r\n")},
		exchange{name: "100 fields", asks: []string{header(strings.Split(strings.Repeat("X-A: b,", 100)+"X: y", ",")...)}},
		exchange{name: "a header of 60 KiB", asks: []string{header("X: " + strings.Repeat("x", 60<<10))}},
	)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "GET", "HEAD", "FROB"} {
		for _, body := range []string{"", "hello", strings.Repeat("x", 5000), strings.Repeat("x", 100000)} {
			e := exchange{name: method + " with " + strconv.Itoa(len(body)) + " letters", asks: []string{send(method, "/a", body)}, apart: len(body) > 1000}
			list = append(list, e)
		}
		list = append(list,
			exchange{name: method + " with chunks", asks: []string{method + " /a HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n2\r\nok\r\n0\r\nX-A: 1\r\n\r\n"}, apart: true},
			exchange{name: method + " after another", asks: []string{get("/"), strings.Replace(get("/a"), "GET", method, 1)}})
	}
	for i := range list {
		list[i].any = true
	}
	differs(t, list)
}

func TestEarlyAnswersAreTheSameOnBothTransports(t *testing.T) {
	t.Parallel()
	differs(t, []exchange{
		{name: "before the request", scripts: [][]step{{say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly"), hear}}, want: "200 early | 502"},
		{name: "before a form", asks: []string{send("POST", "/form", "hello")},
			scripts: [][]step{{say("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nearly"), hear}}, want: "413 early | 502"},
		{name: "a timeout before the request", scripts: [][]step{{say("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), hangUp}}, want: "408 | 502"},
		{name: "nonsense before the request", scripts: [][]step{{say("hello\r\n"), leave}}, want: "502", loose: withoutRequests},
		{name: "at the first byte", asks: []string{send("POST", "/form", strings.Repeat("x", 4000))},
			scripts: [][]step{{peek, say("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nearly"), hear}}, want: "413 early", loose: withoutRequests},
		{name: "at the first byte, on a connection that stays", asks: []string{send("POST", "/form", strings.Repeat("x", 4000))},
			scripts: [][]step{{peek, say("HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nearly"), hear}}, want: "413 early", kept: true},
	})
}

// slow is a time for a header in which an origin answers on a busy machine, too.
const slow = 500 * time.Millisecond

// within is a configuration that gives an origin so long for the header of its answer.
func within(d time.Duration) func(*origin.Config) {
	return func(c *origin.Config) { c.ResponseHeaderTimeout = d }
}

func TestSlowOriginsAreTheSameOnBothTransports(t *testing.T) {
	t.Parallel()
	limit := within(slow)
	form := []string{get("/"), send("POST", "/a", "hello")}
	differs(t, []exchange{
		{name: "no header in time", config: limit, scripts: [][]step{{hear, leave}}, want: "504"},
		{name: "no header in time for a form", asks: form, config: limit, scripts: [][]step{{hear, say(two), hear, leave}}, want: "200 ok; 504"},
		{name: "no header in time for a request that is safe to repeat", asks: []string{get("/"), get("/a")}, config: limit,
			scripts: [][]step{{hear, say(two), hear, leave}}, want: "200 ok; 504"},
		{name: "half a header in time", config: limit, scripts: [][]step{{hear, say(ok + "X: y\r\n"), leave}}, want: "504"},
		{name: "half a line of a header in time", config: limit, scripts: [][]step{{hear, say(ok + "X: "), leave}}, want: "504"},
		{name: "one byte in time", config: limit, scripts: [][]step{{hear, say("H"), leave}}, want: "504"},
		{name: "hints in time", config: limit, scripts: [][]step{{hear, say("HTTP/1.1 103 Early Hints\r\n\r\n"), leave}}, want: "103 504"},
		{name: "a body that takes longer than a header may", config: limit, scripts: [][]step{{hear, say(ok + "Content-Length: 2\r\n\r\no"), pass(slow + slow/2), say("k")}}, want: "200 ok", kept: true},
		{name: "chunks that take longer than a header may", config: limit, scripts: [][]step{{hear, say(ok + "Transfer-Encoding: chunked\r\n\r\n1\r\no\r\n"),
			pass(slow + slow/2), say("1\r\nk\r\n0\r\n\r\n")}}, want: "200 ok", kept: true},
		{name: "an unused connection that is older than a header may be", config: limit, asks: []string{get("/"), get("/a")},
			scripts: [][]step{{hear, say(two), unused, pass(slow + slow/2)}}, want: "200 ok; 200 fine /a", kept: true},
		{name: "a connection that was unused for too long", config: func(c *origin.Config) { c.IdleTimeout = 20 * time.Millisecond }, asks: []string{get("/"), get("/a")},
			scripts: [][]step{{hear, say(two), expire}, {hear, say(two), expire}}, want: "200 ok; 200 ok"},
	})
}

func TestTLSIsTheSameOnBothTransports(t *testing.T) {
	t.Parallel()
	list := []exchange{
		{name: "an answer", scripts: answers(two), want: "200 ok", kept: true},
		{name: "a form", asks: []string{get("/"), send("POST", "/a", "hello")}, want: "200 fine /; 200 fine /a", kept: true},
		{name: "chunks", scripts: answers(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), want: "200 ok", kept: true},
		{name: "a body until the end", scripts: ends(ok + "\r\nok"), want: "200 ok"},
		{name: "a body until an end that TLS does not confirm", scripts: [][]step{{hear, say(ok + "\r\nok"), truncate}}, want: "200 ok"},
		{name: "bytes after the answer", scripts: [][]step{{hear, spoil, say(two + more)}}, want: "200 ok", told: tooMuch},
		{name: "bytes in a record of their own", scripts: [][]step{{hear, say(two), unused, spoil, say(more)}}, want: "200 ok", told: tooMuch},
		{name: "bytes in the record of a long answer", scripts: [][]step{{hear, spoil, say(ok + "Content-Length: 10000\r\n\r\n" + strings.Repeat("x", 10000) + more)}},
			want: "200 " + strings.Repeat("x", 10000), told: tooMuch},
		{name: "an unused connection that ends", asks: []string{get("/"), send("POST", "/a", "hello")}, scripts: [][]step{{hear, say(two), unused, spoil, hangUp}},
			want: "200 ok; 200 fine /a", kept: true},
		{name: "an unused connection that ends without telling TLS", asks: []string{get("/"), send("POST", "/a", "hello")},
			scripts: [][]step{{hear, say(two), unused, spoil, truncate}}, want: "200 ok; 200 fine /a", kept: true},
		{name: "the end instead of an answer", asks: []string{get("/"), get("/a")}, scripts: [][]step{{hear, say(two), hear, hangUp}},
			want: "200 ok; 200 fine /a", kept: true},
		{name: "the end instead of an answer to a form", asks: []string{get("/"), send("POST", "/a", "hello")},
			scripts: [][]step{{hear, say(two), hear, hangUp}}, want: "200 ok; 502"},
		{name: "an answer byte by byte", scripts: [][]step{{hear, drip(two)}}, want: "200 ok", kept: true},
		{name: "no header in time for a form", asks: []string{get("/"), send("POST", "/a", "hello")}, config: within(slow),
			scripts: [][]step{{hear, say(two), hear, leave}}, want: "200 ok; 504"},
		{name: "half a header in time", config: within(slow), scripts: [][]step{{hear, say(ok + "X: y\r\n"), leave}}, want: "504"},
		{name: "an unused connection that is older than a header may be", config: within(slow), asks: []string{get("/"), get("/a")},
			scripts: [][]step{{hear, say(two), unused, pass(slow + slow/2)}}, want: "200 ok; 200 fine /a", kept: true},
	}
	for i := range list {
		list[i].tls = true
	}
	differs(t, list)
}
