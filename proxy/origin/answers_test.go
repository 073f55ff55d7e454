package origin_test

import (
	"strings"
	"testing"
)

const (
	ok   = "HTTP/1.1 200 OK\r\n"
	two  = ok + "Content-Length: 2\r\n\r\nok" // a whole answer
	more = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
)

// tooMuch tells the operator of bytes after an answer.
const tooMuch = "origin sent more than its answer: its connections are not used again from now on"

// answers is what an origin does that hears one request, says something, and then behaves.
func answers(text string) [][]step { return [][]step{{hear, say(text)}} }

// leaves is the same with an origin that waits for the gate to end the connection.
func leaves(text string) [][]step { return [][]step{{hear, say(text), leave}} }

// ends is the same with an origin that ends the connection after its answer.
func ends(text string) [][]step { return [][]step{{hear, say(text), hangUp}} }

func TestAnswersOfAKindAreTheSameOnBothTransports(t *testing.T) {
	t.Parallel()
	chunked := ok + "Transfer-Encoding: chunked\r\n\r\n"
	head := []string{"HEAD / HTTP/1.1\r\nHost: shop.test\r\n\r\n"}
	differs(t, []exchange{
		{name: "an answer with a length", scripts: answers(two), want: "200 ok", kept: true},
		{name: "an answer that comes byte by byte", scripts: [][]step{{hear, drip(two)}}, want: "200 ok", kept: true},
		{name: "chunks that come byte by byte", scripts: [][]step{{hear, drip(chunked + "2\r\nok\r\n0\r\n\r\n")}}, want: "200 ok", kept: true},
		{name: "an empty answer", scripts: answers(ok + "Content-Length: 0\r\n\r\n"), want: "200", kept: true},
		{name: "an answer of 1 MiB", scripts: answers(ok + "Content-Length: 1048576\r\n\r\n" + strings.Repeat("x", 1<<20)),
			want: "200 " + strings.Repeat("x", 1<<20), kept: true},
		{name: "chunks of 1 MiB", scripts: answers(chunked + "100000\r\n" + strings.Repeat("x", 1<<20) + "\r\n0\r\n\r\n"),
			want: "200 " + strings.Repeat("x", 1<<20), kept: true},

		{name: "100 without being asked", scripts: answers("HTTP/1.1 100 Continue\r\n\r\n" + two), want: "100 200 ok", kept: true},
		{name: "102 and 103", scripts: answers("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n" + two),
			want: "102 103 200 ok", kept: true},
		{name: "a 1xx answer nobody knows", scripts: answers("HTTP/1.1 199 Odd\r\nX: y\r\n\r\n" + two), want: "199 200 ok", kept: true},
		{name: "300 hints", scripts: answers(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 300) + two),
			want: strings.Repeat("103 ", 300) + "200 ok", kept: true},
		{name: "300 hints of 5000 bytes", scripts: answers(strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: "+strings.Repeat("x", 5000)+"\r\n\r\n", 300) + two),
			want: strings.Repeat("103 ", 300) + "200 ok", kept: true},
		{name: "hints and then the end", scripts: ends("HTTP/1.1 103 Early Hints\r\n\r\n"), want: "103 502"},
		{name: "a hint with a length", scripts: answers("HTTP/1.1 103 Early Hints\r\nContent-Length: 2\r\n\r\n" + two), want: "103 200 ok", kept: true},
		{name: "a hint with a body is two answers", scripts: [][]step{{hear, say("HTTP/1.1 103 Early Hints\r\nContent-Length: 2\r\n\r\nok" + two), leave}}, want: "103 502"},
		{name: "a hint that asks for the end", scripts: answers("HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n" + two), want: "103 200 ok", kept: true},
		{name: "a hint of more than 1 MiB", scripts: [][]step{{hear, say("HTTP/1.1 103 Early Hints\r\nX: " + strings.Repeat("x", 1<<20+1<<13) + "\r\n\r\n" + two), leave}}, want: "502"},
		{name: "101 without being asked", scripts: [][]step{{hear, say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), leave}}, want: "502"},
		{name: "101 without saying to what", scripts: [][]step{{hear, say("HTTP/1.1 101 Switching Protocols\r\n\r\n"), leave}}, want: "502"},
		{name: "a switch with another status", scripts: answers("HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nok"), want: "200 ok", kept: true},
		{name: "426 with what it would like", scripts: answers("HTTP/1.1 426 Upgrade Required\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nok"), want: "426 ok", kept: true},

		{name: "HEAD with a length", asks: head, scripts: answers(ok + "Content-Length: 5\r\n\r\n"), want: "200"},
		{name: "HEAD with a very long length", asks: head, scripts: answers(ok + "Content-Length: 9223372036854775807\r\n\r\n"), want: "200"},
		{name: "HEAD with chunks announced", asks: head, scripts: answers(chunked), want: "200"},
		{name: "HEAD without a length", asks: head, scripts: answers(ok + "\r\n"), want: "200"},
		{name: "HEAD and the end of the connection", asks: head, scripts: ends(ok + "Connection: close\r\n\r\n"), want: "200"},
		{name: "HEAD with a body", asks: head, scripts: [][]step{{hear, say(ok + "Content-Length: 2\r\n\r\nok")}}, want: "200"},
		{name: "HEAD with 304", asks: head, scripts: answers("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"), want: "304"},
		{name: "204", scripts: answers("HTTP/1.1 204 No Content\r\n\r\n"), want: "204", kept: true},
		{name: "204 with the length 0", scripts: answers("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"), want: "204", kept: true},
		{name: "204 with a length and no body", scripts: answers("HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n"), want: "204"},
		{name: "204 with a body", scripts: [][]step{{hear, spoil, say("HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok")}}, want: "204", told: tooMuch},
		{name: "an empty answer with a status below 100", scripts: answers("HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n"), want: "502"},
		{name: "HEAD with chunks announced and more", asks: head, scripts: [][]step{{hear, say(chunked + more)}}, want: "200"},
		{name: "304 with chunks announced and more", scripts: [][]step{{hear, spoil, say("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n" + more)}},
			want: "304", told: tooMuch},
		{name: "204 with chunks", scripts: [][]step{{hear, spoil, say("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")}}, want: "204", told: tooMuch},
		{name: "304 without a length", scripts: answers("HTTP/1.1 304 Not Modified\r\nEtag: x\r\n\r\n"), want: "304", kept: true},
		{name: "304 with a length", scripts: answers("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"), want: "304"},
		{name: "304 with chunks announced", scripts: answers("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n"), want: "304"},
		{name: "304 with a body", scripts: [][]step{{hear, spoil, say("HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok")}}, want: "304", told: tooMuch},
		{name: "205 with a body", scripts: answers("HTTP/1.1 205 Reset Content\r\nContent-Length: 2\r\n\r\nok"), want: "205 ok", kept: true},

		{name: "a body until the end", scripts: ends(ok + "\r\nok"), want: "200 ok"},
		{name: "a body until the announced end", scripts: ends(ok + "Connection: close\r\n\r\nok"), want: "200 ok"},
		{name: "a body until the end in HTTP/1.0", scripts: ends("HTTP/1.0 200 OK\r\n\r\nok"), want: "200 ok"},
		{name: "no body until the end", scripts: ends(ok + "\r\n"), want: "200", loose: withoutLength},
		{name: "a body until a reset", scripts: [][]step{{hear, say(ok + "\r\nok"), reset}}, want: "200 ok broken off | 200 broken off | 502"},
		{name: "a length and an announced end", scripts: ends(ok + "Connection: close\r\nContent-Length: 2\r\n\r\nok"), want: "200 ok"},
		{name: "an announced end that does not come", scripts: answers(ok + "Connection: close\r\nContent-Length: 2\r\n\r\nok"), want: "200 ok"},
		{name: "chunks and an announced end that does not come", scripts: answers(ok + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), want: "200 ok"},
		{name: "an end announced among others", scripts: answers(ok + "Connection: keep-alive, x\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok"), want: "200 ok"},
		{name: "HTTP/1.0 with a length", scripts: answers("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"), want: "200 ok"},
		{name: "HTTP/1.0 that is kept", scripts: answers("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"), want: "200 ok", kept: true},
		{name: "HTTP/1.0 that is kept without a length", scripts: ends("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nok"), want: "200 ok"},
		{name: "HTTP/1.0 with chunks", scripts: leaves("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), want: "502"},
		{name: "HTTP/1.0 with chunks that is kept", scripts: leaves("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"), want: "502"},
		{name: "HTTP/1.0 with chunks after hints", scripts: leaves("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"), want: "502"},
		{name: "Keep-Alive with its values", scripts: answers(ok + "Connection: keep-alive\r\nKeep-Alive: timeout=5, max=1\r\nContent-Length: 2\r\n\r\nok"), want: "200 ok", kept: true},
	})
}

// withoutLength forgets what time decides, which is whether the header of an empty answer still
// learns its length.
func withoutLength(o *outcome) { delete(o.Sights[0].Header, "Content-Length") }

// Each of these answers is complete for a reader who stops at its end; what follows is nobody's.
func TestBytesAfterAnAnswerAreNobodys(t *testing.T) {
	t.Parallel()
	var list []exchange
	for _, c := range []struct{ name, answer, want string }{
		{"a length", two, "200 ok"},
		{"chunks", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "200 ok"},
		{"no body", ok + "Content-Length: 0\r\n\r\n", "200"},
		{"204", "HTTP/1.1 204 No Content\r\n\r\n", "204"},
		{"304", "HTTP/1.1 304 Not Modified\r\n\r\n", "304"},
	} {
		for _, rest := range []struct{ name, text string }{
			{"an answer", more}, {"a byte", "x"}, {"a line", "\r\n"}, {"64 KiB", strings.Repeat(more, 64<<10/len(more))},
		} {
			list = append(list,
				exchange{name: rest.name + " with " + c.name, scripts: [][]step{{hear, spoil, say(c.answer + rest.text)}}, want: c.want, told: tooMuch},
				exchange{name: rest.name + " after " + c.name, scripts: [][]step{{hear, say(c.answer), unused, spoil, say(rest.text)}}, want: c.want, told: tooMuch})
		}
	}
	list = append(list,
		exchange{name: "an answer after a long one", scripts: [][]step{{hear, spoil, say(ok + "Content-Length: 10000\r\n\r\n" + strings.Repeat("x", 10000) + more)}},
			want: "200 " + strings.Repeat("x", 10000), told: tooMuch},
		exchange{name: "the body of a refused answer", scripts: [][]step{{hear, spoil, say("HTTP/1.1 000 Odd\r\nContent-Length: 6\r\n\r\n"), leave}}, want: "502"},
		exchange{name: "a timeout that comes by itself", scripts: [][]step{{hear, say(two), unused, spoil,
			say("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), hangUp}}, want: "200 ok"},
		exchange{name: "a hint that comes by itself", scripts: [][]step{{hear, say(two), unused, spoil, say("HTTP/1.1 103 Early Hints\r\n\r\n")}}, want: "200 ok", told: tooMuch},
		exchange{name: "an answer that comes by itself to somebody who has a body", asks: []string{get("/"), send("POST", "/form", "hello")},
			scripts: [][]step{{hear, say(two), unused, spoil, say(more)}}, want: "200 ok; 200 fine /form", told: tooMuch},
	)
	differs(t, list)
}
