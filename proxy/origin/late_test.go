package origin_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// An origin that sends the body that an answer has announced and may not have, when the next
// visitor asks, would answer them with it.
func TestABodyThatComesLateReachesNobody(t *testing.T) {
	t.Parallel()
	head := "HEAD / HTTP/1.1\r\nHost: shop.test\r\n\r\n"
	var list []exchange
	for _, c := range []struct{ name, ask, answer, want string }{
		{"HEAD with a length", head, ok + "Content-Length: 67\r\n\r\n", "200"},
		{"HEAD with chunks", head, ok + "Transfer-Encoding: chunked\r\n\r\n", "200"},
		{"HEAD without a length", head, ok + "\r\n", "200"},
		{"204 with a length", get("/"), "HTTP/1.1 204 No Content\r\nContent-Length: 67\r\n\r\n", "204"},
		{"204 with chunks", get("/"), "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", "204"},
		{"304 with a length", get("/"), "HTTP/1.1 304 Not Modified\r\nContent-Length:\r\n 67\r\n\r\n", "304"},
		{"304 with chunks", get("/"), "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", "304"},
	} {
		for _, tls := range []bool{false, true} {
			list = append(list, exchange{name: fmt.Sprint(c.name, " with TLS ", tls), tls: tls, asks: []string{c.ask, get("/a")},
				scripts: [][]step{{hear, say(c.answer), hear, say(more)}}, want: c.want + "; 200 fine /a", kept: true})
		}
	}
	differs(t, list)
}

// Once an origin has sent more than its answer, no visitor's request comes over a connection that
// another's has come over.
func TestConnectionsOfAnOriginThatSendsTooMuchAreNotUsedAgain(t *testing.T) {
	t.Parallel()
	var list []exchange
	for _, tls := range []bool{false, true} {
		list = append(list, exchange{name: fmt.Sprint("with TLS ", tls), tls: tls, asks: []string{get("/"), get("/a"), send("POST", "/b", "hello")},
			scripts: [][]step{{hear, say(two), unused, spoil, say(more)}}, want: "200 ok; 200 fine /a; 200 fine /b", told: tooMuch})
	}
	differs(t, list)
}

// The connection that has rested longest is used first, so that late bytes have had the time to
// come.
func TestTheConnectionThatHasRestedLongestIsUsedNext(t *testing.T) {
	t.Parallel()
	back := newMisbehaving(t, nil)
	first := make(chan struct{})
	back.habit = func(target string) []step {
		wait := func(w *wire) error {
			w.origin.until(func() bool { return len(w.origin.seen) == 2 })
			if target == "/second" {
				<-first
			}
			return nil
		}
		if target == "/next" {
			return nil
		}
		return []step{wait, say(tagged(target))}
	}
	srv, o := gate(t, "http://"+back.Addr().String())
	o.StopProbing()
	back.visit(t, func() {
		var both sync.WaitGroup
		both.Go(func() {
			assert.Equal(t, "200 /first", visit(t, srv.URL, get("/first")).String())
			back.until(func() bool { return anyIdle(back) })
			close(first)
		})
		both.Go(func() { assert.Equal(t, "200 /second", visit(t, srv.URL, get("/second")).String()) })
		both.Wait()
	})
	back.visit(t, func() { visit(t, srv.URL, get("/next")) })
	seen, _ := back.requests()
	number := func(target string) string {
		for _, request := range seen {
			if n, rest, _ := strings.Cut(request, ": "); strings.HasPrefix(rest, "GET "+target+" ") {
				return n
			}
		}
		return ""
	}
	assert.Equal(t, number("/first"), number("/next"))
}

// anyIdle reports whether a connection waits for a request. mu is held.
func anyIdle(m *misbehaving) bool {
	for _, w := range m.wires {
		if w.idle {
			return true
		}
	}
	return false
}

// An origin sends bytes of its own a moment after every fourth answer. Those who ask at that very
// moment may get them, until the gate has seen it once.
func TestBytesThatComeLateReachFewVisitors(t *testing.T) {
	t.Parallel()
	const visitors, each = 8, 25
	both(t, func(t *testing.T, with func(*origin.Config)) {
		for _, secure := range []bool{false, true} {
			server, client := certified()
			scheme := "https"
			if !secure {
				scheme, server = "http", nil
			}
			back := newMisbehaving(t, server)
			back.habit = func(target string) []step {
				steps := []step{say(tagged(target))}
				if rand.IntN(4) == 0 {
					steps = append(steps, pass(time.Duration(rand.IntN(3000))*time.Microsecond), say(poison))
				}
				return steps
			}
			srv, o := gate(t, scheme+"://"+back.Addr().String(), with, func(c *origin.Config) { c.TLS = client })
			o.StopProbing()
			var (
				all    sync.WaitGroup
				others atomic.Int64
			)
			for i := range visitors {
				all.Go(func() {
					c := dial(t, srv.URL)
					in := bufio.NewReader(c)
					for n := range each {
						target := fmt.Sprintf("/%d/%d", i, n)
						_, err := io.WriteString(c, get(target))
						assert.NoError(t, err)
						if got := look(in, get(target)); got.Body != target && got.Status == 200 {
							others.Add(1)
						}
					}
				})
			}
			all.Wait()
			t.Logf("with TLS %t: %d of %d visitors got what was not theirs", secure, others.Load(), visitors*each)
			assert.LessOrEqual(t, others.Load(), int64(2*visitors))
		}
	})
}

// hurried is a clock that goes on by an hour whenever somebody looks.
type hurried struct {
	zapcore.Clock
	looks atomic.Int64
}

func (h *hurried) Now() time.Time { return time.Unix(3600*h.looks.Add(1), 0) }

func TestTheOperatorIsToldOnceOfAnOriginThatSendsTooMuch(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, with func(*origin.Config)) {
		back, watch := newMisbehaving(t, nil), newWatch()
		back.habit = func(string) []step { return []step{say(two + more)} }
		watch.log = watch.log.WithOptions(zap.WithClock(&hurried{}))
		srv, o := gate(t, "http://"+back.Addr().String(), with, watch.on)
		o.StopProbing()
		for range 20 {
			assert.Equal(t, "200 ok", visit(t, srv.URL, get("/")).String())
		}
		assert.Equal(t, []string{tooMuch}, watch.lines())
	})
}
