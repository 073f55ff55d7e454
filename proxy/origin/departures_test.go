package origin_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// transports are the ways in which requests are carried.
var transports = []origin.Transport{origin.TransportStandard, origin.TransportDirect}

// both runs a test with each transport.
func both(t *testing.T, test func(t *testing.T, with func(*origin.Config))) {
	t.Helper()
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			test(t, func(c *origin.Config) { c.Transport = transport })
		})
	}
}

// departure is a moment at which visitors leave, by what the origin does until then.
type departure struct {
	name, request, begin string // begin is what the visitor has got of the answer
	script               []step
}

// A visitor who leaves ends the request at the origin, is no failure, and leaves nothing behind.
func TestAVisitorWhoLeavesLeavesNothingBehind(t *testing.T) {
	form := send("POST", "/", "hello")
	moments := []departure{
		{"before an answer", get("/"), "", []step{hear, leave}},
		{"before an answer to a form", form, "", []step{hear, leave}},
		{"within a header", get("/"), "", []step{hear, say(ok + "X: "), leave}},
		{"after hints", get("/"), "HTTP/1.1 103 Early Hints\r\n", []step{hear, say("HTTP/1.1 103 Early Hints\r\n\r\n"), leave}},
		{"within a body", get("/"), ok, []step{hear, say(ok + "Content-Length: 100000\r\n\r\n" + strings.Repeat("x", 50000)), leave}},
		{"within chunks", get("/"), ok, []step{hear, say(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"), leave}},
		{"within a body until the end", form, ok, []step{hear, say(ok + "\r\nok"), leave}},
	}
	both(t, func(t *testing.T, with func(*origin.Config)) {
		before := goleak.IgnoreCurrent()
		for _, m := range moments {
			m.happen(t, with)
		}
		goleak.VerifyNone(t, before)
	})
}

// happen has a visitor leave on a connection to the origin that is new, and one on a connection
// that was used before.
func (m *departure) happen(t *testing.T, with func(*origin.Config)) {
	t.Helper()
	back := newMisbehaving(t, nil, m.script, append([]step{hear, say(two)}, m.script...))
	watch := newWatch()
	srv, o := gate(t, "http://"+back.Addr().String(), with, watch.on)
	m.leave(t, back, srv, 1)
	assert.Equal(t, "200 ok", visit(t, srv.URL, get("/")).String(), m.name)
	m.leave(t, back, srv, 2)
	assert.Equal(t, "200 fine /next", visit(t, srv.URL, get("/next")).String(), m.name)
	assert.Empty(t, watch.failures(), m.name)
	assert.Empty(t, watch.lines(), m.name)
	srv.Close()
	o.Close()
	back.allEnd(t)
}

// leave has a visitor come and leave, and waits for the end of the connection to the origin.
func (m *departure) leave(t *testing.T, back *misbehaving, srv *httptest.Server, number int) {
	t.Helper()
	c := dial(t, srv.URL)
	_, err := io.WriteString(c, m.request)
	require.NoError(t, err)
	if m.begin != "" {
		line, err := bufio.NewReader(c).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, m.begin, line)
	}
	require.True(t, back.until(func() bool {
		return len(back.wires) == number && len(back.seen) == 2*number-1 && back.wires[number-1].idle
	}))
	c.Close()
	assert.True(t, back.until(func() bool { return back.wires[number-1].ended }), "%s: the connection to the origin ends", m.name)
}

// gone is a request whose visitor has left.
func gone(method, body string) *http.Request {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return httptest.NewRequestWithContext(ctx, method, "/", strings.NewReader(body))
}

func TestNothingIsSentForAVisitorWhoHasLeft(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, with func(*origin.Config)) {
		t.Parallel()
		back := newMisbehaving(t, nil)
		srv, o := gate(t, "http://"+back.Addr().String(), with)
		try := func() {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				assert.PanicsWithValue(t, http.ErrAbortHandler, func() { o.ServeHTTP(httptest.NewRecorder(), gone(method, "hello"[:len(method)-3])) })
			}
		}
		try()
		back.visit(t, func() { assert.Equal(t, "200 fine /a", visit(t, srv.URL, get("/a")).String()) })
		for range 20 {
			try()
		}
		back.visit(t, func() { assert.Equal(t, "200 fine /b", visit(t, srv.URL, get("/b")).String()) })
		seen, kept := back.requests()
		assert.Len(t, seen, 2)
		assert.True(t, kept, "the connection is not lost")
	})
}

func TestDialingEndsInTimeAndWithTheVisitor(t *testing.T) {
	before := goleak.IgnoreCurrent()
	both(t, func(t *testing.T, with func(*origin.Config)) {
		for _, c := range []struct{ name, address string }{
			{"TCP", "http://" + fullListener(t)},
			{"TLS", strings.Replace(silent(t, drain), "http", "https", 1)},
		} {
			watch := newWatch()
			srv, o := gate(t, c.address, with, watch.on, func(cfg *origin.Config) { cfg.DialTimeout = 100 * time.Millisecond })
			o.StopProbing()
			assert.Equal(t, "504", visit(t, srv.URL, get("/")).String(), c.name)
			assert.Equal(t, "504", visit(t, srv.URL, send("POST", "/", "hello")).String(), c.name)
			assert.Equal(t, []origin.Failure{origin.FailureTimeout, origin.FailureTimeout}, watch.failures(), c.name)

			patient := newOrigin(t, c.address, with, func(cfg *origin.Config) { cfg.DialTimeout = time.Hour })
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(20*time.Millisecond, cancel)
			assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
				patient.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
			}, c.name)
		}
	})
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// Many visitors at once have a connection each; later no more are made than there are visitors.
func TestManyVisitorsShareAsManyConnectionsAsThereAreVisitors(t *testing.T) {
	t.Parallel()
	const visitors, rounds = 32, 10
	both(t, func(t *testing.T, with func(*origin.Config)) {
		t.Parallel()
		back := newMisbehaving(t, nil)
		o := newOrigin(t, "http://"+back.Addr().String(), with)
		var all sync.WaitGroup
		for range visitors {
			all.Go(func() {
				for range rounds {
					w := httptest.NewRecorder()
					o.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
					assert.Equal(t, "fine /", w.Body.String())
				}
			})
		}
		all.Wait()
		back.mu.Lock()
		defer back.mu.Unlock()
		assert.Len(t, back.seen, visitors*rounds)
		assert.LessOrEqual(t, len(back.wires), 2*visitors) // net/http dials for a visitor who may get a connection that has become free meanwhile
	})
}

func TestCertificatesAndVersionsOfTLSAreCheckedAlike(t *testing.T) {
	t.Parallel()
	server, client := certified()
	old := server.Clone()
	old.MaxVersion = tls.VersionTLS12
	ancient := server.Clone()
	ancient.MinVersion, ancient.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	h2 := server.Clone()
	h2.NextProtos = []string{"h2"}
	for _, c := range []struct {
		name           string
		server, client *tls.Config
		want           string
	}{
		{"known", server, client, "200 fine /"},
		{"unknown", server, nil, "502"},
		{"of another name", server, &tls.Config{RootCAs: client.RootCAs, ServerName: "other.test", MinVersion: tls.VersionTLS12}, "502"},
		{"TLS 1.2", old, client, "200 fine /"},
		{"TLS 1.1", ancient, client, "502"},
		{"HTTP/2 alone", h2, client, "200 fine /"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, with func(*origin.Config)) {
				back := newMisbehaving(t, c.server)
				watch := newWatch()
				srv, o := gate(t, "https://"+back.Addr().String(), with, watch.on, func(cfg *origin.Config) { cfg.TLS = c.client })
				o.StopProbing()
				assert.Equal(t, c.want, visit(t, srv.URL, get("/")).String())
				if c.want == "502" {
					assert.Equal(t, []origin.Failure{origin.FailureBroken}, watch.failures())
				}
			})
		})
	}
}
