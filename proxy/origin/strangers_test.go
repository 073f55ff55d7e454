package origin_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// habits are what an origin does with a request, by the last segment of the target. All that it
// sends in answer holds the target; what belongs to nobody holds the word poison.
var habits = map[string]func(target string) []step{
	"length": func(target string) []step { return []step{say(tagged(target))} },
	"drip":   func(target string) []step { return []step{drip(tagged(target))} },
	"chunks": func(target string) []step { return []step{say(taggedChunks(target))} },
	"end":    func(target string) []step { return []step{say(ok + "\r\n" + target), hangUp} },
	"close": func(target string) []step {
		return []step{say(strings.Replace(tagged(target), "\r\n", "\r\nConnection: close\r\n", 1))}
	},
	"hints": func(target string) []step {
		return []step{say("HTTP/1.1 103 Early Hints\r\nLink: " + target + "\r\n\r\n" + tagged(target))}
	},
	"late": func(target string) []step {
		return []step{pass(time.Duration(rand.IntN(3)) * time.Millisecond), say(tagged(target))}
	},
	"after":   func(target string) []step { return []step{say(tagged(target) + poison)} },
	"chunks+": func(target string) []step { return []step{say(taggedChunks(target) + poison)} },
	"204+":    func(string) []step { return []step{say("HTTP/1.1 204 No Content\r\n\r\n" + poison)} },
	"ends":    func(target string) []step { return []step{say(tagged(target)), hangUp} },
	"half":    func(target string) []step { return []step{say(ok + "Content-Length: 1000\r\n\r\n" + target), hangUp} },
	"nothing": func(string) []step { return []step{hangUp} },
	"reset":   func(string) []step { return []step{reset} },
	"status":  func(string) []step { return []step{say("HTTP/1."), hangUp} },
	"rubbish": func(string) []step { return []step{say("poison\r\n\r\n"), leave} },
}

const poison = "HTTP/1.1 200 OK\r\nX-Poison: poison\r\nContent-Length: 6\r\n\r\npoison"

func tagged(target string) string {
	return fmt.Sprintf("%sX-Target: %s\r\nContent-Length: %d\r\n\r\n%s", ok, target, len(target), target)
}

func taggedChunks(target string) string {
	return fmt.Sprintf("%sX-Target: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", ok, target, len(target), target)
}

// stranger is a visitor on a kept connection.
type stranger struct {
	name int
	gate string
	back *misbehaving
	conn net.Conn
	in   *bufio.Reader
}

// errand is what a visitor does next.
type errand struct {
	method, habit string
	leaves        bool // when the origin has heard the request
}

// run sends the request and checks that what comes is an answer to it, or a part of one, or none.
func (s *stranger) run(t testing.TB, number int, e errand) {
	t.Helper()
	target := fmt.Sprintf("/%d/%d/%s", s.name, number, e.habit)
	if s.conn == nil {
		s.conn = dial(t, s.gate)
		s.in = bufio.NewReader(s.conn)
	}
	request := get(target)
	if e.method == http.MethodPost {
		request = send(e.method, target, "hello")
	}
	_, err := io.WriteString(s.conn, request)
	assert.NoError(t, err)
	if e.leaves {
		assert.True(t, s.back.until(func() bool {
			return slices.ContainsFunc(s.back.seen, func(request string) bool { return strings.Contains(request, " "+target+" ") })
		}), "%s is heard", target)
		s.part()
		return
	}
	got := look(s.in, request)
	s.check(t, target, got)
	if got.Broken || got.Header.Get("Connection") == "close" {
		s.part()
	} else {
		assert.Zero(t, s.in.Buffered(), "%s: nothing comes after the answer", target)
	}
}

func (s *stranger) check(t testing.TB, target string, got sight) {
	t.Helper()
	for _, interim := range got.Interim {
		assert.Contains(t, interim, target)
	}
	switch {
	case got.Status == http.StatusOK && !got.Broken:
		assert.Equal(t, target, got.Body)
	case got.Status == http.StatusNoContent && strings.HasSuffix(target, "/204+"):
	case got.Broken:
		assert.True(t, strings.HasPrefix(target, got.Body), "%s: %s", target, got)
	default:
		assert.Equal(t, "502", strings.TrimPrefix(got.String(), "103 "), target)
	}
	assert.NotContains(t, fmt.Sprint(got), "poison", target)
}

func (s *stranger) part() {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}

// What visitors do at the same time, and what the origin does to unused connections in between, is
// random. Nobody gets what was not sent in answer to their own request, and no form comes twice.
func TestVisitorsGetWhatWasSentInAnswerToTheirOwnRequests(t *testing.T) {
	names := slices.Sorted(maps.Keys(habits))
	rapid.Check(t, func(rt *rapid.T) {
		back := newMisbehaving(t, nil)
		back.habit = func(target string) []step {
			if do := habits[target[strings.LastIndexByte(target, '/')+1:]]; do != nil {
				return do(target)
			}
			return nil
		}
		srv, o := gate(t, "http://"+back.Addr().String(), func(c *origin.Config) { c.Transport = origin.TransportDirect })
		o.StopProbing()
		strangers := make([]*stranger, rapid.IntRange(1, 4).Draw(rt, "visitors"))
		for i := range strangers {
			strangers[i] = &stranger{name: i, gate: srv.URL, back: back}
		}
		for round := range rapid.IntRange(1, 6).Draw(rt, "rounds") {
			o.Forgive()
			var errands [][]errand
			for range strangers {
				errands = append(errands, rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) errand {
					return errand{
						method: rapid.SampledFrom([]string{http.MethodGet, http.MethodPost}).Draw(rt, "method"),
						habit:  rapid.SampledFrom(names).Draw(rt, "habit"),
						leaves: rapid.IntRange(0, 9).Draw(rt, "leaves") == 9,
					}
				}), 0, 4).Draw(rt, "errands"))
			}
			back.visit(t, func() {
				var all sync.WaitGroup
				for i, s := range strangers {
					all.Go(func() {
						for n, e := range errands[i] {
							s.run(t, 10*round+n, e)
						}
					})
				}
				all.Wait()
			})
			back.disturb(rapid.SampledFrom([]string{"", "", poison, "x"}).Draw(rt, "bytes"), rapid.Bool().Draw(rt, "end"))
		}
		forms := make(map[string]int)
		seen, _ := back.requests()
		for _, request := range seen {
			if _, form, ok := strings.Cut(request, ": POST "); ok {
				forms[strings.Fields(form)[0]]++
			}
		}
		for target, times := range forms {
			require.Equal(t, 1, times, "%s comes once", target)
		}
		for _, s := range strangers {
			s.part()
		}
		srv.Close()
		o.Close()
		back.allEnd(t)
		if t.Failed() {
			rt.FailNow()
		}
	})
}
