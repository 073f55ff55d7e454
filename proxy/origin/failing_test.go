package origin_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

func TestNewRefusesWhatIsNoOrigin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, url, want string }{
		{"another scheme", "ftp://shop.test", "none of http, https, h2 and h2c"},
		{"no scheme", "shop.test", "has no scheme"},
		{"no host", "http:///", "has no host"},
		{"a base path", "http://shop.test/app", "has a path, a query or a fragment"},
		{"a query", "http://shop.test/?a", "has a path, a query or a fragment"},
		{"an empty query", "http://shop.test/?", "has a path, a query or a fragment"},
		{"a fragment", "http://shop.test/#a", "has a path, a query or a fragment"},
		{"a user", "http://me:secret@shop.test/", "holds a user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u, err := url.Parse(c.url)
			require.NoError(t, err)
			_, err = origin.New(origin.Config{URL: u})
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "secret")
		})
	}
	_, err := origin.New(origin.Config{})
	assert.ErrorContains(t, err, "needs a URL")
}

// silent is an origin that takes connections and says nothing.
func silent(t *testing.T, then func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				if assert.NoError(t, c.SetDeadline(time.Now().Add(patience))) {
					then(c)
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		conns.Wait()
	})
	return "http://" + l.Addr().String()
}

// readOnce reads the request, or the beginning of one.
func readOnce(c net.Conn) {
	_, _ = c.Read(make([]byte, 1<<10))
}

func TestFailuresAreAnsweredAndCounted(t *testing.T) {
	t.Parallel()
	plain := site(t, func(http.ResponseWriter, *http.Request) {})
	for _, c := range []struct {
		name, url string
		status    int
		kind      origin.Failure
	}{
		{"nobody listens", "http://" + porttest.Address(t), http.StatusBadGateway, origin.FailureDial},
		{"it hangs up", silent(t, readOnce), http.StatusBadGateway, origin.FailureBroken},
		{"it says nothing in time", silent(t, drain), http.StatusGatewayTimeout, origin.FailureTimeout},
		{"it speaks no HTTP", silent(t, func(c net.Conn) { readOnce(c); _, _ = io.WriteString(c, "SSH-2.0\r\n\r\n") }),
			http.StatusBadGateway, origin.FailureBroken},
		{"it speaks no TLS", "https://" + plain.Listener.Addr().String(), http.StatusBadGateway, origin.FailureBroken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			watch := newWatch()
			var got []int
			o := newOrigin(t, c.url, watch.on, func(cfg *origin.Config) {
				cfg.ResponseHeaderTimeout = 50 * time.Millisecond
				cfg.ProbeInterval, cfg.ProbeTimeout = time.Hour, 50*time.Millisecond
				cfg.ErrorHandler = func(w http.ResponseWriter, r *http.Request, status int) {
					got = append(got, status)
					assert.Equal(t, "text/html", r.Header.Get("Accept"), "the visitor's headers are there")
					w.WriteHeader(status)
				}
			})
			for i := range 4 {
				r := httptest.NewRequest(http.MethodGet, "/", nil)
				r.Header.Set("Accept", "text/html")
				w := httptest.NewRecorder()
				o.ServeHTTP(w, r)
				assert.Equal(t, c.status, w.Code)
				if i == 0 {
					assert.True(t, soon(t, watch.changes), "the gate's own probe fails, too")
					assert.True(t, o.Failing())
				}
			}
			assert.Equal(t, []int{c.status, c.status, c.status, c.status}, got)
			assert.Equal(t, []origin.Failure{c.kind, c.kind, c.kind, c.kind}, watch.failures())
			assert.Equal(t, []string{"origin did not answer", "origin failing"}, watch.lines(),
				"single failures are told once a second, the change once")
			assert.Empty(t, watch.changes)
		})
	}
}

// A flapping origin is one whose connections break until it is mended.
type flapping struct {
	mu     sync.Mutex
	mended bool
	probes chan *http.Request
}

func (f *flapping) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	mended := f.mended
	f.mu.Unlock()
	if r.Method == http.MethodHead {
		f.probes <- r
	}
	if !mended {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusTeapot)
}

func (f *flapping) mend() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mended = true
}

// fail makes the origin a failing one.
func fail(t *testing.T, o *origin.Origin) {
	t.Helper()
	ask(o, visitor{})
	require.Eventually(t, o.Failing, patience, time.Millisecond)
}

func TestAProbeFindsOutThatTheOriginAnswersAgain(t *testing.T) {
	t.Parallel()
	f := &flapping{probes: make(chan *http.Request, 1000)}
	back := site(t, f.serve)
	watch := newWatch()
	o := newOrigin(t, back.URL, watch.on, func(c *origin.Config) { c.ProbeInterval = time.Millisecond })
	fail(t, o)
	assert.True(t, soon(t, watch.changes))
	probe := soon(t, f.probes)
	assert.Equal(t, "/", probe.RequestURI)
	assert.Equal(t, "fairdoor", probe.UserAgent())
	soon(t, f.probes)
	assert.True(t, o.Failing())
	f.mend()
	assert.False(t, soon(t, watch.changes))
	assert.False(t, o.Failing())
	assert.Equal(t, []string{"origin did not answer", "origin failing", "origin answers again"}, watch.lines())
}

func TestAnAdmittedVisitorsAnswerEndsTheFailing(t *testing.T) {
	t.Parallel()
	f := &flapping{probes: make(chan *http.Request, 1000)}
	back := site(t, f.serve)
	watch := newWatch()
	o := newOrigin(t, back.URL, watch.on, func(c *origin.Config) { c.ProbeInterval = time.Hour })
	fail(t, o)
	asked := len(f.probes)
	f.mend()
	w := httptest.NewRecorder()
	o.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	assert.Equal(t, http.StatusTeapot, w.Code)
	assert.True(t, o.Failing(), "nobody knows who that was")
	assert.Equal(t, http.StatusTeapot, ask(o, visitor{id: 1}))
	assert.False(t, o.Failing())
	assert.True(t, soon(t, watch.changes))
	assert.False(t, soon(t, watch.changes))
	assert.Len(t, f.probes, asked, "the gate had not asked again")
}

func TestCloseEndsTheProbing(t *testing.T) {
	probes := make(chan struct{}, 100)
	hanging := silent(t, func(c net.Conn) { // a probe that is under way hangs
		probes <- struct{}{}
		drain(c)
	})
	before := goleak.IgnoreCurrent()
	u, err := url.Parse(hanging)
	require.NoError(t, err)
	o, err := origin.New(origin.Config{URL: u, ProbeInterval: time.Millisecond, ProbeTimeout: time.Hour,
		ResponseHeaderTimeout: 10 * time.Millisecond})
	require.NoError(t, err)
	ask(o, visitor{})
	soon(t, probes) // the request
	soon(t, probes) // the probe
	o.Close()
	ask(o, visitor{}) // which is followed by no probe any more
	o.Close()
	goleak.VerifyNone(t, before)
}

func TestAnOriginOverTLSIsVerified(t *testing.T) {
	t.Parallel()
	back := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.WriteString(w, r.Proto+" "+r.RequestURI)
		assert.NoError(t, err)
	}))
	t.Cleanup(back.Close)
	strangers, _ := gate(t, back.URL)
	resp := raw(t, strangers.URL, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	assert.Equal(t, http.StatusBadGateway, resp.StatusCode)

	client, ok := back.Client().Transport.(*http.Transport)
	require.True(t, ok)
	known, _ := gate(t, back.URL, func(c *origin.Config) { c.TLS = client.TLSClientConfig })
	for _, target := range []string{"/a", `//a\b`} {
		resp := raw(t, known.URL, "GET "+target+" HTTP/1.1\r\nHost: x\r\n\r\n")
		assert.Equal(t, "HTTP/1.1 "+target, text(t, resp))
	}
}
