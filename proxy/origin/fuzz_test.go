package origin_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// FuzzAnswers has an origin send arbitrary bytes as its answer, in two pieces. Both transports have
// to make the same of them, and the next visitor has to get an answer of their own.
func FuzzAnswers(f *testing.F) {
	for _, list := range framings() {
		for _, c := range list {
			if len(c.answer) < 10<<10 {
				f.Add([]byte(c.answer), uint16(len(c.answer)/2))
			}
		}
	}
	for _, answer := range []string{two + more, two + "\n", "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n" + two, "HTTP/1.1 204 No Content\r\n\r\n" + more,
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nok",
		ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n" + more, ok + "Connection: close\r\n\r\n" + more, "HTTP/1.0 200 OK\r\n\r\n"} {
		f.Add([]byte(answer), uint16(10))
	}
	standard, direct := newTried(f, origin.TransportStandard), newTried(f, origin.TransportDirect)
	f.Fuzz(func(t *testing.T, answer []byte, cut uint16) {
		a, keptA := standard.try(t, answer, int(cut))
		b, keptB := direct.try(t, answer, int(cut))
		if b.Status == http.StatusBadGateway && a.Broken {
			return // chunks that are malformed from the beginning
		}
		if a.Broken && b.Broken { // how much is passed on before the end depends on how it is read
			n := min(len(a.Body), len(b.Body))
			assert.Equal(t, a.Body[:n], b.Body[:n])
			return
		}
		for _, s := range []*sight{&a, &b} {
			if s.Body == "" {
				delete(s.Header, "Content-Length") // see withoutLength
			}
		}
		assert.Equal(t, a, b, "the standard transport and the direct one")
		assert.Equal(t, keptA, keptB, "the connection is used again")
	})
}

// tried is a gate with an origin that misbehaves as it is asked to.
type tried struct {
	back *misbehaving
	gate *origin.Origin
	srv  *httptest.Server
}

func newTried(t testing.TB, transport origin.Transport) *tried {
	back := newMisbehaving(t, nil)
	back.notices = transport == origin.TransportStandard
	srv, o := gate(t, "http://"+back.Addr().String(), func(c *origin.Config) {
		c.Transport = transport
		c.ResponseHeaderTimeout = patience / 2
	})
	o.StopProbing()
	return &tried{back: back, gate: o, srv: srv}
}

// try has a visitor get the answer, and returns what they see, and whether the next visitor's
// request came over the same connection.
func (o *tried) try(t *testing.T, answer []byte, cut int) (s sight, kept bool) {
	t.Helper()
	cut = min(cut, len(answer))
	steps := []step{spoil, say(string(answer[:cut])), say(string(answer[cut:]))}
	stays, more := complete(answer)
	if stays && !more {
		steps = steps[1:]
	}
	if !stays {
		steps = append(steps, hangUp)
	}
	o.back.tell(func() {
		o.back.habit, o.back.seen = func(target string) []step {
			if target == "/misbehave" {
				return steps
			}
			return nil
		}, nil
		o.back.wires = slices.DeleteFunc(o.back.wires, func(w *wire) bool { return w.ended })
	})
	o.gate.Forgive()
	start := time.Now()
	o.back.visit(t, func() { s = visit(t, o.srv.URL, get("/misbehave")) })
	o.back.visit(t, func() {
		require.Equal(t, "200 fine /next", visit(t, o.srv.URL, get("/next")).String(), "the next visitor's own answer")
	})
	require.Less(t, time.Since(start), patience, "nothing hangs")
	require.NotContains(t, s.String(), "fine")
	_, kept = o.back.requests()
	require.False(t, kept && (more || !stays), "a connection with more than an answer is not used again")
	return s, kept
}

// complete reports whether bytes are an answer that ends before the connection does, and whether
// there is more after it.
func complete(answer []byte) (stays, more bool) {
	in := bufio.NewReader(bytes.NewReader(answer))
	for {
		resp, err := http.ReadResponse(in, &http.Request{Method: http.MethodGet})
		if err != nil {
			return false, false
		}
		if resp.StatusCode >= 100 && resp.StatusCode < 200 && resp.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		if resp.Close || resp.StatusCode < 200 || resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 {
			return false, false
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_, end := in.Peek(1)
		return err == nil, end == nil
	}
}
