package origin_test

import (
	"strings"
	"testing"
)

// framing is an answer, what the visitor sees of it, and whether the connection is used again. The
// origin ends the connection after an answer after which it is not.
type framing struct {
	name, answer, want string
	kept               bool
	malformed          bool // in what comes with the header, so that the direct transport answers 502 before anything of it is passed on
}

func TestFramingIsTheSameOnBothTransports(t *testing.T) {
	t.Parallel()
	for name, list := range framings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			differs(t, exchanges(list))
		})
	}
}

func framings() map[string][]framing {
	return map[string][]framing{"lengths": lengths(), "headers": headers(), "status lines": statusLines(), "chunks": chunks()}
}

func exchanges(list []framing) (all []exchange) {
	for _, f := range list {
		do := answers
		if !f.kept {
			do = ends
		}
		e := exchange{name: f.name, scripts: do(f.answer), want: f.want, kept: f.kept, loose: withoutLength}
		if f.malformed {
			e.direct = &deviation{want: "502"}
		}
		all = append(all, e)
	}
	return all
}

// lengths are answers whose framing is odd.
func lengths() []framing {
	chunks := "2\r\nok\r\n0\r\n\r\n"
	return []framing{
		{"the same length twice", ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok", "200 ok", true, false},
		{"the same length in one line", ok + "Content-Length: 2, 2\r\n\r\nok", "502", false, false},
		{"two lengths", ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!", "502", false, false},
		{"two lengths, the larger first", ok + "Content-Length: 3\r\nContent-Length: 2\r\n\r\nok!", "502", false, false},
		{"a negative length", ok + "Content-Length: -2\r\n\r\nok", "502", false, false},
		{"a length with a sign", ok + "Content-Length: +2\r\n\r\nok", "502", false, false},
		{"an empty length", ok + "Content-Length:\r\n\r\nok", "502", false, false},
		{"a length with a prefix", ok + "Content-Length: 0x2\r\n\r\nok", "502", false, false},
		{"a length that is no number", ok + "Content-Length: two\r\n\r\nok", "502", false, false},
		{"a length with a space within", ok + "Content-Length: 1 2\r\n\r\nok", "502", false, false},
		{"a length in a fraction", ok + "Content-Length: 2.0\r\n\r\nok", "502", false, false},
		{"a length with zeros before it", ok + "Content-Length: 0002\r\n\r\nok", "200 ok", true, false},
		{"a length that is too large for a number", ok + "Content-Length: 99999999999999999999\r\n\r\nok", "502", false, false},
		{"the largest length", ok + "Content-Length: 9223372036854775807\r\n\r\nok", "broken off", false, false},
		{"a body shorter than its length", ok + "Content-Length: 5\r\n\r\nok", "broken off", false, false},
		{"a body much shorter than its length", ok + "Content-Length: 1000000\r\n\r\n" + strings.Repeat("x", 500000), "200 " + strings.Repeat("x", 500000) + " broken off", false, false},
		{"no body in spite of a length", ok + "Content-Length: 5\r\n\r\n", "broken off", false, false},
		{"a length and chunks", ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, "200 ok", true, false},
		{"chunks and two lengths", ok + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n" + chunks, "502", false, false},
		{"an encoding nobody knows", ok + "Transfer-Encoding: frob\r\n\r\n" + chunks, "502", false, false},
		{"an encoding nobody knows before chunks", ok + "Transfer-Encoding: frob, chunked\r\n\r\n" + chunks, "502", false, false},
		{"gzip before chunks", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks, "502", false, false},
		{"chunks twice in one line", ok + "Transfer-Encoding: chunked, chunked\r\n\r\n" + chunks, "502", false, false},
		{"chunks in two lines", ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, "502", false, false},
		{"identity", ok + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok", "502", false, false},
		{"an empty encoding", ok + "Transfer-Encoding:\r\nContent-Length: 2\r\n\r\nok", "502", false, false},
		{"chunks in capitals", ok + "TRANSFER-ENCODING: CHUNKED\r\n\r\n" + chunks, "200 ok", true, false},
		{"chunks with a vertical tab", ok + "Transfer-Encoding: \x0bchunked\r\n\r\n" + chunks, "502", false, false},
		{"chunks with a space before the colon", ok + "Transfer-Encoding : chunked\r\n\r\n" + chunks, "502", false, false},
		{"a length with a space before the colon", ok + "Content-Length : 2\r\n\r\nok", "502", false, false},
		{"a length with a tab before the colon", ok + "Content-Length\t: 2\r\n\r\nok", "502", false, false},
		{"a length in lower case", ok + "content-length: 2\r\n\r\nok", "200 ok", true, false},
		{"a length on a continued line", ok + "Content-Length:\r\n 2\r\n\r\nok", "200 ok", true, false},
	}
}

// headers are answers whose header is odd.
func headers() []framing {
	end := "Content-Length: 2\r\n\r\nok"
	long := strings.Repeat("x", 1<<20)
	return []framing{
		{"a header of 1,000,000 bytes", ok + "X: " + long[:1000000] + "\r\n" + end, "200 ok", true, false},
		{"a header of 1 MiB and more", ok + "X: " + long + long[:1<<13] + "\r\n" + end, "502", false, false},
		{"a header of 2 MiB in lines", ok + strings.Repeat("X: "+long[:1000]+"\r\n", 2100) + end, "502", false, false},
		{"a header that never ends", ok + strings.Repeat("X: "+long[:1000]+"\r\n", 2100), "502", false, false},
		{"2,000 lines", ok + strings.Repeat("X: y\r\n", 2000) + end, "200 ok", true, false},
		{"2,000 lines of nothing", ok + strings.Repeat("X:\r\n", 2000) + end, "200 ok", true, false},
		{"a line without a colon", ok + "oops\r\n" + end, "502", false, false},
		{"a line with no name", ok + ": x\r\n" + end, "502", false, false},
		{"a name with a space", ok + "X Y: x\r\n" + end, "200 ok", true, false},
		{"a name with a bracket", ok + "X(Y): x\r\n" + end, "502", false, false},
		{"a name beyond ASCII", ok + "X\xff: x\r\n" + end, "502", false, false},
		{"a name with NUL", ok + "X\x00: x\r\n" + end, "502", false, false},
		{"a name with an underscore", ok + "x_y: x\r\n" + end, "200 ok", true, false},
		{"names in other spellings", ok + "sET-cOOKIE: a=b\r\nETAG: x\r\n" + end, "200 ok", true, false},
		{"a continued line", ok + "X: a\r\n b\r\n\tc\r\n" + end, "200 ok", true, false},
		{"a continued first line", ok + " X: a\r\n" + end, "502", false, false},
		{"bare line feeds", strings.ReplaceAll(ok+end, "\r\n", "\n"), "200 ok", true, false},
		{"bare carriage returns", "HTTP/1.1 200 OK\rX: y\r\n" + end, "200 ok", true, false},
		{"two carriage returns", ok + "X: y\r\r\n" + end, "502", false, false},
		{"a value with NUL", ok + "X: a\x00b\r\n" + end, "502", false, false},
		{"a value with a control character", ok + "X: a\x01b\x7f\r\n" + end, "502", false, false},
		{"a value with a carriage return", ok + "X: a\rb\r\n" + end, "502", false, false},
		{"a value with a tab", ok + "X: a\tb\r\n" + end, "200 ok", true, false},
		{"a value beyond ASCII", ok + "X: \xe4\xff\r\n" + end, "200 ok", true, false},
		{"values with spaces around them", ok + "X: \t a b \t\r\n" + end, "200 ok", true, false},
		{"an empty value", ok + "X:\r\nX: \r\n" + end, "200 ok", true, false},
		{"the same field often", ok + "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nset-cookie: c=3\r\n" + end, "200 ok", true, false},
		{"fields for this connection only", ok + "Connection: X-Hop\r\nX-Hop: 1\r\nProxy-Authenticate: x\r\n" + end, "200 ok", true, false},
		{"a body announced as compressed", ok + "Content-Encoding: gzip\r\n" + end, "200 ok", true, false},
		{"a type, a date and a server", ok + "Content-Type: x/y\r\nDate: never\r\nServer: me\r\n" + end, "200 ok", true, false},
		{"the end within a header", ok + "X: y\r\n", "502", false, false},
		{"the end within a line", ok + "X: ", "502", false, false},
		{"no header", ok + "\r\nok", "200 ok", false, false},
	}
}

// statusLines are answers whose status line is odd.
func statusLines() []framing {
	end := "\r\nContent-Length: 2\r\n\r\nok"
	long := strings.Repeat("x", 1<<20+1<<13)
	return []framing{
		{"nothing", "", "502", false, false},
		{"an empty line", "\r\n" + two, "502", false, false},
		{"half a status line", "HTTP/1.", "502", false, false},
		{"a status line without an end", "HTTP/1.1 200 OK", "502", false, false},
		{"1 MiB of reason", "HTTP/1.1 200 " + long + end, "502", false, false},
		{"1 MiB without a space", long, "502", false, false},
		{"1 MiB of NUL", strings.Repeat("\x00", len(long)), "502", false, false},
		{"1 MiB of empty lines", strings.Repeat("\r\n", len(long)/2) + two, "502", false, false},
		{"100 KiB of reason", "HTTP/1.1 200 " + long[:100<<10] + end, "200 ok", true, false},
		{"no reason", "HTTP/1.1 200 " + end, "200 ok", true, false},
		{"no reason and no space", "HTTP/1.1 200" + end, "200 ok", true, false},
		{"another reason", "HTTP/1.1 404 Nope" + end, "404 ok", true, false},
		{"a reason with control characters", "HTTP/1.1 200 a\x00\x01b" + end, "200 ok", true, false},
		{"an unknown status", "HTTP/1.1 599 Odd" + end, "599 ok", true, false},
		{"a status beyond all classes", "HTTP/1.1 999 Odd" + end, "999 ok", true, false},
		{"a status of 0", "HTTP/1.1 000 Odd" + end, "502", false, false},
		{"a status of 99", "HTTP/1.1 99 Odd" + end, "502", false, false},
		{"a status of 099", "HTTP/1.1 099 Odd" + end, "502", false, false},
		{"a status of 1000", "HTTP/1.1 1000 Odd" + end, "502", false, false},
		{"a negative status", "HTTP/1.1 -20 Odd" + end, "502", false, false},
		{"a status with a sign", "HTTP/1.1 +20 Odd" + end, "502", false, false},
		{"a status that is no number", "HTTP/1.1 2xx Odd" + end, "502", false, false},
		{"two spaces before the status", "HTTP/1.1  200 OK" + end, "200 ok", true, false},
		{"a tab before the status", "HTTP/1.1\t200 OK" + end, "502", false, false},
		{"a space before all", " HTTP/1.1 200 OK" + end, "502", false, false},
		{"HTTP/0.9", "<html>ok</html>\r\n", "502", false, false},
		{"HTTP/1.2", "HTTP/1.2 200 OK" + end, "200 ok", true, false},
		{"HTTP/1.10", "HTTP/1.10 200 OK" + end, "502", false, false},
		{"HTTP/2.0", "HTTP/2.0 200 OK" + end, "200 ok", true, false},
		{"HTTP/2 without a point", "HTTP/2 200 OK" + end, "502", false, false},
		{"HTTP/0.9 by name", "HTTP/0.9 200 OK" + end, "200 ok", false, false},
		{"HTTP/1 without a point", "HTTP/1 200 OK" + end, "502", false, false},
		{"http in lower case", "http/1.1 200 OK" + end, "502", false, false},
		{"ICY", "ICY 200 OK" + end, "502", false, false},
		{"a request", "GET / HTTP/1.1" + end, "502", false, false},
		{"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "502", false, false},
		{"frames of HTTP/2", "\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80\x00\x04\x00\x01\x00\x00\x00\x05\x00\xff\xff\xff", "502", false, false},
		{"an alert of TLS", "\x15\x03\x01\x00\x02\x02\x16", "502", false, false},
	}
}

// chunks are bodies in chunks that are odd.
func chunks() []framing {
	list := []framing{
		{"chunks", "\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n", "200 ok", true, false},
		{"no chunks", "\r\n0\r\n\r\n", "200", true, false},
		{"extensions", "\r\n2;a=b;c=\"d\"\r\nok\r\n0;e\r\n\r\n", "200 ok", true, false},
		{"a space after the size", "\r\n2 \r\nok\r\n0\r\n\r\n", "200 ok", true, false},
		{"leading zeros", "\r\n0002\r\nok\r\n000\r\n\r\n", "200 ok", true, false},
		{"sizes in capitals", "\r\nA\r\n0123456789\r\n0\r\n\r\n", "200 0123456789", true, false},
		{"trailers that are announced", "Trailer: X-A, X-B\r\n\r\n2\r\nok\r\n0\r\nX-A: 1\r\n\r\n", "200 ok X-A=1 X-B=", true, false},
		{"trailers that are not announced", "\r\n2\r\nok\r\n0\r\nX-A: 1\r\n\r\n", "200 ok X-A=1", true, false},
		{"trailers that may not be", "Trailer: Content-Length\r\n\r\n2\r\nok\r\n0\r\nContent-Length: 1\r\n\r\n", "502", false, false},
		{"a broken trailer", "\r\n2\r\nok\r\n0\r\nno colon\r\n\r\n", "200 ok broken off", false, false},
		{"a trailer without an end", "\r\n2\r\nok\r\n0\r\nX-A: 1\r\n", "200 ok broken off", false, false},
		{"a trailer of 2 MiB", "\r\n2\r\nok\r\n0\r\nX-A: " + strings.Repeat("x", 2<<20) + "\r\n\r\n", "200 ok broken off", false, false},
		{"a size that is none", "\r\nzz\r\nok\r\n0\r\n\r\n", "broken off", false, true},
		{"an empty size", "\r\n\r\nok\r\n0\r\n\r\n", "broken off", false, true},
		{"a negative size", "\r\n-2\r\nok\r\n0\r\n\r\n", "broken off", false, true},
		{"a size with a sign", "\r\n+2\r\nok\r\n0\r\n\r\n", "broken off", false, true},
		{"a size with a prefix", "\r\n0x2\r\nok\r\n0\r\n\r\n", "broken off", false, true},
		{"a size of 17 digits", "\r\n11111111111111111\r\nok\r\n0\r\n\r\n", "broken off", false, true},
		{"the largest size", "\r\nffffffffffffffff\r\nok\r\n0\r\n\r\n", "200 ok\r\n0\r\n\r\n broken off", false, false},
		{"a size line of 10 KiB", "\r\n2;" + strings.Repeat("x", 10<<10) + "\r\nok\r\n0\r\n\r\n", "broken off", false, false},
		{"a bare LF after the size", "\r\n2\nok\r\n0\r\n\r\n", "broken off", false, true},
		{"a bare LF after the data", "\r\n2\r\nok\n0\r\n\r\n", "200 ok broken off", false, true},
		{"a chunk that is longer than its size", "\r\n2\r\nokay\r\n0\r\n\r\n", "200 ok broken off", false, true},
		{"a chunk that is shorter than its size", "\r\n5\r\nok\r\n0\r\n\r\n", "200 ok\r\n0 broken off", false, true},
		{"the end within a size", "\r\n2\r\nok\r\n1", "200 ok broken off", false, false},
		{"the end within a chunk", "\r\n2\r\nok\r\n5\r\nhe", "200 okhe broken off", false, false},
		{"the end after a chunk", "\r\n2\r\nok\r\n", "200 ok broken off", false, false},
		{"the end within the last chunk", "\r\n2\r\nok\r\n0\r\n", "200 ok broken off", false, false},
		{"nothing at all", "\r\n", "broken off", false, false},
	}
	for i := range list {
		list[i].answer = ok + "Transfer-Encoding: chunked\r\n" + list[i].answer
	}
	return list
}
