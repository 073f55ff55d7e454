package shed_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/listen"
	"github.com/fairdoor-gate/fairdoor/proxy/listen/listentest"
	"github.com/fairdoor-gate/fairdoor/queue"
)

// late serves the gate of a fixture at a server that is as late as that.
func late(f *gatetest.Fixture, by time.Duration) (address string) {
	address, _ = listentest.Serve(f.T, listen.Config{Handler: f.Gate, Late: func() time.Duration { return by }})
	return address
}

// line is a visitor's connection, who asks for JSON. Nothing asks again by itself.
type line struct {
	net.Conn
	in     *bufio.Reader
	what   string // is asked for: a method and a target
	header string // of each request
	cookie string
}

func connect(t testing.TB, address, header string) *line {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(2*gatetest.Patience)))
	return &line{Conn: c, in: bufio.NewReader(c), what: "GET /", header: header}
}

// ask sends a request and returns the answer's body. It keeps the cookie, unless none is to be
// kept.
func (l *line) ask(keep bool) (string, error) {
	text := l.what + " HTTP/1.1\r\nHost: shop.test\r\nAccept: application/json\r\n" + l.header
	if l.cookie != "" {
		text += "Cookie: " + l.cookie + "\r\n"
	}
	if _, err := io.WriteString(l, text+"\r\n"); err != nil {
		return "", err
	}
	resp, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(resp.Body)
	if cookies := resp.Cookies(); keep && len(cookies) > 0 {
		l.cookie = cookies[0].Name + "=" + cookies[0].Value
	}
	return string(body), err
}

// crowd are connections that poll as fast as they can, until each has been closed or the test ends.
type crowd struct {
	closed, answered atomic.Int64
	tasks            sync.WaitGroup
}

func flood(t testing.TB, address, header string, connections int, cookies bool) *crowd {
	return floodFor(t, address, "GET /", header, connections, cookies)
}

// floodFor is flood of connections that ask for something else.
func floodFor(t testing.TB, address, what, header string, connections int, cookies bool) *crowd {
	c := &crowd{}
	var (
		over atomic.Bool
		all  []*line
	)
	for range connections {
		l := connect(t, address, header)
		l.what = what
		all = append(all, l)
		c.tasks.Go(func() {
			for !over.Load() {
				if _, err := l.ask(cookies); err != nil {
					c.closed.Add(1)
					return
				}
				c.answered.Add(1)
			}
		})
	}
	t.Cleanup(func() {
		over.Store(true)
		for _, l := range all {
			l.Close()
		}
		c.tasks.Wait()
	})
	return c
}

func TestInAFloodConnectionsThatPollTooOftenAreClosedAndNoOthers(t *testing.T) {
	t.Parallel()
	f := gatetest.Start(t)
	address := late(f, 99*time.Millisecond)
	in, waits := connect(t, address, ""), connect(t, address, "")
	askIn := func() {
		body, err := in.ask(true)
		require.NoError(t, err)
		require.Equal(t, "in", body)
	}
	askWaiting := func(l *line) {
		body, err := l.ask(true)
		require.NoError(t, err)
		require.Contains(t, body, `"inWaitingRoom":true`)
	}
	askIn()
	askWaiting(waits)
	crowds := []*crowd{flood(t, address, "", 10, true), flood(t, address, "", 10, false)}
	for _, c := range crowds {
		require.Eventually(t, func() bool {
			askIn()
			return c.closed.Load() >= 3
		}, gatetest.Patience, 10*time.Millisecond)
		assert.GreaterOrEqual(t, c.answered.Load(), int64(10), "each was answered before")
	}
	for range 5 {
		f.Clock.Add(2 * gatetest.Interval)
		askIn()
		askWaiting(waits)
		askWaiting(connect(t, address, ""))
	}
	assert.Positive(t, f.Families()["fairdoor_decisions_total shed shop"].GetCounter().GetValue())
}

func TestInAFloodEveryKindOfRequestIsShedOfThoseWhoAreNotIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		what, header string
		most         int // on a connection
	}{
		"parts of pages":             {"GET /", "Sec-Fetch-Dest: image\r\n", 20},
		"prefetches":                 {"GET /", "Sec-Purpose: prefetch\r\n", 20},
		"preflights":                 {"OPTIONS /", "Origin: https://other.test\r\nAccess-Control-Request-Method: POST\r\n", 20},
		"forms":                      {"POST /", "Content-Length: 0\r\n", 20},
		"pages without their cookie": {"GET /", "Fairdoor-Returning: 1\r\n", 20},
		"renewals":                   {"GET /.fairdoor/session?renew=1", "", 20},
		"prefetched renewals":        {"GET /.fairdoor/session?renew=1", "Sec-Purpose: prefetch\r\n", 20},
		"questions":                  {"GET /.fairdoor/session", "", 20},
		"event streams":              {"GET /.fairdoor/events", "", 1},
		"goodbyes":                   {"POST /.fairdoor/leave", "Content-Length: 0\r\n", 20},
		"checks":                     {"GET /.fairdoor/check", "", 20},
		"nothing":                    {"GET /.fairdoor/nothing", "", 20},
		"other hosts":                {"GET http://other.test/", "", 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := gatetest.Start(t)
			address := late(f, time.Second)
			in := connect(t, address, "")
			_, err := in.ask(true)
			require.NoError(t, err)
			crowd := floodFor(t, address, c.what, c.header, 5, false)
			require.Eventually(t, func() bool { return crowd.closed.Load() == 5 }, gatetest.Patience, 10*time.Millisecond)
			for range 3 {
				alike := connect(t, address, c.header)
				alike.what, alike.cookie = c.what, in.cookie
				for range c.most {
					_, err := alike.ask(false)
					require.NoError(t, err, "who is in is never shed")
				}
			}
		})
	}
}

func TestConnectionsOfATrustedProxyAreNotClosedInAFlood(t *testing.T) {
	t.Parallel()
	f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	address := late(f, time.Second)
	c := flood(t, address, "X-Forwarded-For: 192.0.2.1\r\n", 5, true)
	require.Eventually(t, func() bool { return c.answered.Load() > 1000 }, gatetest.Patience, 10*time.Millisecond)
	assert.Zero(t, c.closed.Load())
}

func TestANewcomerWhoseStreamIsResetBeforeTheAnswerTakesNoPlace(t *testing.T) {
	t.Parallel()
	for name, method := range map[string]queue.Method{"fifo": queue.FIFO, "line": queue.Line} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Method = method }))
			f.Full()
			s := gatetest.OpenResets(t, f)
			const streams = 1000
			for n := range streams {
				s.Open(t, n)
			}
			require.Less(t, s.Answered, streams*9/10, "many are reset in time")
			assert.Eventually(t, func() bool {
				f.Pass(time.Millisecond)
				return f.Status("shop").Queued <= s.Answered
			}, gatetest.Patience, 10*time.Millisecond)
		})
	}
}

func TestNewcomersWhoAreShedTakeNoPlace(t *testing.T) {
	t.Parallel()
	for name, method := range map[string]queue.Method{"fifo": queue.FIFO, "line": queue.Line} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := gatetest.Start(t, gatetest.Settings(func(s *queue.Settings) { s.Method = method }))
			address := late(f, 99*time.Millisecond)
			in := connect(t, address, "")
			_, err := in.ask(true)
			require.NoError(t, err)
			c := flood(t, address, "", 5, false)
			require.Eventually(t, func() bool {
				return f.Families()["fairdoor_decisions_total shed shop"].GetCounter().GetValue() == 5
			}, gatetest.Patience, 50*time.Millisecond, "all are shed")
			f.Pass(time.Second)
			assert.EqualValues(t, c.answered.Load(), f.Status("shop").Queued, "those who were answered, each time as somebody new")
		})
	}
}
