package origin_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// exchange is what an origin does, and what has to come of it. It happens twice, once over each
// transport, and both times the visitors and the origin have to see the same.
type exchange struct {
	name    string
	asks    []string             // what the visitors send, one after the other, each on a connection of their own; GET / if it is empty
	scripts [][]step             // what the origin does on its connections
	want    string               // what the visitors see, in short; "A | B" where time decides which
	told    string               // what the operator is told
	apart   bool                 // the direct transport leaves it to net/http, whose connections are others
	any     bool                 // want and kept do not matter, only that both transports do the same
	kept    bool                 // whether the next visitor's request comes over the same connection
	direct  *deviation           // where the direct transport is meant to do something else
	tls     bool                 // the origin speaks TLS
	config  func(*origin.Config) // changes the gate's configuration
	loose   func(*outcome)       // forgets what depends on time
}

// deviation is what the direct transport is meant to do in another way than the standard one.
type deviation struct {
	want string
	kept bool
}

// outcome is all that visitors, the origin and the operator see of an exchange.
type outcome struct {
	Sights   []sight
	Requests []string // as the origin sees them, with the number of the connection
	Answered []int
	Failed   []origin.Failure
	Logged   []string
	kept     bool
}

// sight is what a visitor sees of an answer.
type sight struct {
	Interim []string // 1xx answers
	Status  int
	Header  http.Header
	Body    string
	Trailer http.Header
	Broken  bool // the connection ended before the answer did
}

// String is the sight in short.
func (s sight) String() string {
	var parts []string
	for _, interim := range s.Interim {
		parts = append(parts, interim[:3])
	}
	if s.Status != 0 {
		parts = append(parts, fmt.Sprint(s.Status))
	}
	if s.Body != "" {
		parts = append(parts, s.Body)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Trailer)) {
		parts = append(parts, name+"="+strings.Join(s.Trailer[name], ","))
	}
	if s.Broken {
		parts = append(parts, "broken off")
	}
	return strings.Join(parts, " ")
}

func get(target string) string { return "GET " + target + " HTTP/1.1\r\nHost: shop.test\r\n\r\n" }

// send is a request with a body of known length.
func send(method, target, body string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: shop.test\r\nContent-Length: %d\r\n\r\n%s", method, target, len(body), body)
}

// differs sends the same requests down both transports and compares what comes of them.
func differs(t *testing.T, exchanges []exchange) {
	t.Helper()
	for _, e := range exchanges {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			var (
				standard, direct outcome
				runs             sync.WaitGroup
			)
			runs.Go(func() { standard = e.run(t, origin.TransportStandard) })
			runs.Go(func() { direct = e.run(t, origin.TransportDirect) })
			runs.Wait()
			want, kept := e.want, e.kept
			e.judge(t, standard, want, kept)
			if e.direct != nil {
				e.judge(t, direct, e.direct.want, e.direct.kept)
				return
			}
			e.judge(t, direct, want, kept)
			if e.told != "" {
				assert.Equal(t, []string{e.told}, direct.Logged)
				withoutClose(&standard)
				withoutClose(&direct)
			}
			if e.loose != nil {
				e.loose(&standard)
				e.loose(&direct)
			}
			if e.apart {
				renumber(&standard)
				renumber(&direct)
			}
			if !strings.Contains(e.want, " | ") {
				assert.Equal(t, standard, direct, "the standard transport and the direct one")
			}
		})
	}
}

func (e *exchange) run(t *testing.T, transport origin.Transport) outcome {
	t.Helper()
	scheme, config := "http", (*tls.Config)(nil)
	server, client := certified()
	if e.tls {
		scheme, config = "https", server
	}
	back := newMisbehaving(t, config, e.scripts...)
	back.notices = transport == origin.TransportStandard
	watch := newCounter()
	srv, o := gate(t, scheme+"://"+back.Addr().String(), watch.on, func(c *origin.Config) {
		c.Transport, c.ResponseHeaderTimeout, c.TLS = transport, patience, client
		if e.config != nil {
			e.config(c)
		}
	})
	o.StopProbing()
	asks := e.asks
	if len(asks) == 0 {
		asks = []string{get("/")}
	}
	var out outcome
	for _, request := range asks {
		back.visit(t, func() { out.Sights = append(out.Sights, visit(t, srv.URL, request)) })
	}
	out.Answered, out.Failed, _ = watch.take()
	back.visit(t, func() {
		assert.Equal(t, "200 fine /next", visit(t, srv.URL, get("/next")).String(), "%s: the next visitor's own answer", transport)
	})
	out.Requests, out.kept = back.requests()
	_, _, out.Logged = watch.take()
	if !e.apart {
		back.othersEnd(t)
	}
	srv.Close()
	o.Close()
	back.allEnd(t)
	return out
}

// renumber forgets which connections the requests came on.
func renumber(o *outcome) {
	o.kept = false
	for i, text := range o.Requests {
		_, o.Requests[i], _ = strings.Cut(text, ":")
	}
}

// withoutClose forgets which requests say that the connection is theirs alone: the direct transport
// may find out on behalf of one.
func withoutClose(o *outcome) {
	for i, text := range o.Requests {
		o.Requests[i] = strings.Replace(text, "Connection: close\r\n", "", 1)
	}
}

// judge holds an outcome to what is wanted of every transport.
func (e *exchange) judge(t *testing.T, out outcome, want string, kept bool) {
	t.Helper()
	if e.any {
		return
	}
	var sights []string
	for _, s := range out.Sights {
		sights = append(sights, s.String())
	}
	got := strings.Join(sights, "; ")
	assert.Contains(t, strings.Split(want, " | "), got)
	if !strings.Contains(want, " | ") {
		assert.Equal(t, kept, out.kept, "the connection is used again")
	}
	bad := slices.ContainsFunc(out.Sights, func(s sight) bool {
		return s.Status == http.StatusBadGateway || s.Status == http.StatusGatewayTimeout || s.Broken
	})
	if bad {
		assert.NotEmpty(t, out.Logged, "the operator is told why")
	}
}

// visit sends a request as a visitor and reads the answer to its end.
func visit(t testing.TB, address, request string) sight {
	t.Helper()
	c := dial(t, address)
	defer c.Close()
	_, err := io.WriteString(c, request)
	require.NoError(t, err)
	return look(bufio.NewReader(c), request)
}

// look reads the answer to a request.
func look(in *bufio.Reader, request string) sight {
	var s sight
	method, _, _ := strings.Cut(request, " ")
	for {
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			s.Broken = true
			return s
		}
		delete(resp.Header, "Date")
		if resp.StatusCode < 200 && resp.StatusCode != http.StatusSwitchingProtocols {
			s.Interim = append(s.Interim, fmt.Sprint(resp.StatusCode, resp.Header))
			continue
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil && len(body) == 0 { // time decides whether the header still came
			s.Broken = true
			return s
		}
		s.Status, s.Header, s.Body, s.Trailer, s.Broken = resp.StatusCode, resp.Header, string(body), resp.Trailer, err != nil
		return s
	}
}

// counter counts what an origin reports.
type counter struct {
	*watch
	mu       sync.Mutex
	answered []int
}

func newCounter() *counter { return &counter{watch: newWatch()} }

func (c *counter) on(cfg *origin.Config) {
	c.watch.on(cfg)
	cfg.Metrics.Answered = func(status int, _ time.Duration) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.answered = append(c.answered, status)
	}
}

// take returns what has been reported, with the messages of the log, each of which has to have a
// reason.
func (c *counter) take() (answered []int, failed []origin.Failure, logged []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.logs.All() {
		line := e.Message
		if reason, ok := e.ContextMap()["error"]; ok && reason != "" {
			line += ": reason"
		}
		logged = append(logged, line)
	}
	return c.answered, c.failures(), slices.Compact(logged)
}

// certified is a configuration of a server with a certificate for 127.0.0.1, and one of a client
// that trusts it.
var certified = sync.OnceValues(func() (server, client *tls.Config) {
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	trusting, _ := srv.Client().Transport.(*http.Transport)
	return &tls.Config{Certificates: srv.TLS.Certificates, MinVersion: tls.VersionTLS12, DynamicRecordSizingDisabled: true}, trusting.TLSClientConfig
})
