package origin_test

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// visitor is somebody with requests for an origin.
type visitor struct {
	id     byte   // 0 for one who is not admitted
	client byte   // whose address it is
	from   string // the address, in place of an IPv4 address of the client
	path   string // "" for /
}

// ask sends the visitor's request, and returns the status of the answer.
func ask(o *origin.Origin, v visitor) int {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/"+strings.TrimPrefix(v.path, "/"), nil)
	r.RemoteAddr = cmp.Or(v.from, fmt.Sprintf("192.0.2.%d:1", v.client))
	if v.id != 0 {
		r = o.Counted(r, [16]byte{v.id})
	}
	o.ServeHTTP(w, r)
	return w.Code
}

// partial is an origin that answers every probe, and no request for a path below /broken.
type partial struct {
	mu     sync.Mutex
	probes int
}

func (p *partial) serve(_ http.ResponseWriter, r *http.Request) {
	if r.UserAgent() == "fairdoor" {
		p.mu.Lock()
		p.probes++
		p.mu.Unlock()
	}
	if strings.HasPrefix(r.URL.Path, "/broken") {
		panic(http.ErrAbortHandler)
	}
}

func (p *partial) probed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.probes
}

// suspected is a gate before an origin in which something has just failed, so that the requests of
// admitted visitors count. It judges with each of its probes, which come often.
func suspected(t *testing.T, change ...func(*origin.Config)) (*partial, *origin.Origin) {
	t.Helper()
	p := &partial{}
	back := site(t, p.serve)
	o := newOrigin(t, back.URL, append(change, func(c *origin.Config) { c.ProbeInterval = 200 * time.Millisecond })...)
	require.Equal(t, http.StatusBadGateway, ask(o, visitor{path: "/broken"}))
	require.Eventually(t, func() bool { return p.probed() > 0 }, patience, time.Millisecond)
	return p, o
}

// judged waits until the gate has looked at all that happened until now: the request that fails
// here has it probe again.
func judged(t *testing.T, p *partial, o *origin.Origin) {
	t.Helper()
	for range 2 { // a look that is under way may be over soon
		before := p.probed()
		ask(o, visitor{path: "/broken"})
		require.Eventually(t, func() bool { return p.probed() > before }, patience, time.Millisecond)
	}
}

func TestManyVisitorsWithoutAnswersAreAFailingOrigin(t *testing.T) {
	t.Parallel()
	watch := newWatch()
	p, o := suspected(t, watch.on)
	for i := range byte(12) {
		ask(o, visitor{id: 1 + i, client: i % 4, path: fmt.Sprintf("/broken/%d", i%3)})
	}
	assert.True(t, soon(t, watch.changes), "though it answers the gate")
	judged(t, p, o)
	assert.True(t, o.Failing(), "and goes on doing so")
	for i := range byte(12) {
		ask(o, visitor{id: 1 + i, client: i % 4})
	}
	assert.False(t, soon(t, watch.changes), "they are answered")
}

func TestAFailingOriginThatNobodyAsksAnyMoreIsTriedAgain(t *testing.T) {
	t.Parallel()
	watch := newWatch()
	_, o := suspected(t, watch.on)
	for i := range byte(12) {
		ask(o, visitor{id: 1 + i, client: i % 4, path: fmt.Sprintf("/broken/%d", i%3)})
	}
	assert.True(t, soon(t, watch.changes))
	assert.False(t, soon(t, watch.changes), "once what is known of it is old")
}

func TestFewDoNotMakeAFailingOrigin(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(i byte) visitor{
		"one visitor": func(i byte) visitor { return visitor{id: 1, client: i, path: fmt.Sprint("/broken/", i)} },
		"one client":  func(i byte) visitor { return visitor{id: 1 + i, client: 1, path: fmt.Sprint("/broken/", i)} },
		"one IPv6 /48": func(i byte) visitor {
			return visitor{id: 1 + i, from: fmt.Sprintf("[2001:db8:1:%x00::1]:1", i), path: fmt.Sprint("/broken/", i)}
		},
		"one path":                   func(i byte) visitor { return visitor{id: 1 + i, client: i, path: "/broken"} },
		"those who are not admitted": func(i byte) visitor { return visitor{client: i, path: fmt.Sprint("/broken/", i)} },
		"a half of them": func(i byte) visitor {
			return visitor{id: 1 + i, client: i, path: fmt.Sprint([]string{"/broken/", "/"}[i%2], i)}
		},
		"those who are answered as well": func(i byte) visitor {
			return visitor{id: 1 + i/2, client: i, path: fmt.Sprint([]string{"/broken/", "/"}[i%2], i)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, o := suspected(t)
			for i := range byte(100) {
				ask(o, of(i))
			}
			judged(t, p, o)
			assert.False(t, o.Failing())
		})
	}
}

func TestWhatAnOriginMayBreakOffIsNoFailure(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"a websocket that it does not know":       "GET /broken HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		"a body that it does not want":            "POST /broken HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
		"a body that it does not want to its end": "POST /broken HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n" + strings.Repeat("x", 20_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &partial{}
			back := site(t, p.serve)
			srv, o := gate(t, back.URL)
			conn := dial(t, srv.URL)
			go func() { _, _ = io.WriteString(conn, request) }() // as much of it as is read
			assert.Equal(t, http.StatusBadGateway, answer(t, bufio.NewReader(conn)).StatusCode)
			srv.Close()
			o.Close()
			assert.Zero(t, p.probed(), "nothing is to be looked into")
		})
	}
}
