package callback_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/callback"
)

// gate is a gate whose visitors come to their turn, and whose push services may not answer.
type gate struct {
	mu       sync.Mutex
	checkIns map[string]int
	told     map[string]callback.Kind // the last message that has come, by visitor

	stands func(c *callback.Call) callback.State
	silent func(c *callback.Call) bool // the push service of the call does not answer
}

func (g *gate) CheckIn(_ context.Context, now time.Time, c *callback.Call) callback.Stand {
	pass(time.Millisecond)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.checkIns[c.Visitor]++
	return callback.Stand{State: g.stands(c), Due: 20 * time.Second, Until: now.Add(time.Minute), Lasts: time.Minute}
}

func (g *gate) Push(_ context.Context, _ time.Time, c *callback.Call, m *callback.Message) (time.Duration, error) {
	if g.silent != nil && g.silent(c) {
		pass(3 * time.Second)
		return 0, errors.New("no answer")
	}
	pass(100 * time.Millisecond)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told[c.Visitor] = m.Kind
	return 0, nil
}

func (g *gate) hasTold(visitor string) callback.Kind {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.told[visitor]
}

func (g *gate) hasSeen() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.checkIns)
}

func (g *gate) hasCheckedIn(visitor string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.checkIns[visitor]
}

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.After(d) }

// at runs a test with a desk, in virtual time.
func at(t *testing.T, g *gate, test func(t *testing.T, d *callback.Desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g.checkIns, g.told = map[string]int{}, map[string]callback.Kind{}
		var running sync.WaitGroup
		d := callback.Open(callback.Options{Gate: g, Clock: time.Now, Log: zap.NewNop(), Survive: func(string) {}, Go: running.Go})
		ctx, stop := context.WithCancel(t.Context())
		defer running.Wait()
		defer stop()
		running.Go(func() { d.Run(ctx) })
		test(t, d)
	})
}

// call is the n-th call, of a network.
func call(n int, network, service string) callback.Call {
	c := callback.Call{Visitor: fmt.Sprint(n), From: netip.MustParsePrefix(network), Service: service, Ends: time.Now().Add(time.Hour)}
	c.Subscription.Endpoint = fmt.Sprintf("https://%s/%d", service, n)
	return c
}

func TestAFullDeskChecksInForAllInTime(t *testing.T) {
	g := &gate{stands: func(*callback.Call) callback.State { return callback.Waits }}
	at(t, g, func(t *testing.T, d *callback.Desk) {
		for n := range callback.MaxCalls {
			require.NoError(t, d.Ask(call(n, fmt.Sprintf("10.%d.%d.0/24", n>>8, n&255), "push.test")))
		}
		pass(2 * time.Second)
		assert.Equal(t, callback.MaxCalls, g.hasSeen())
		pass(40 * time.Second)
		for n := range callback.MaxCalls {
			require.Equal(t, 3, g.hasCheckedIn(fmt.Sprint(n)))
		}
	})
}

func TestNoMadeUpSubscriptionHoldsUpACall(t *testing.T) {
	for name, tt := range map[string]struct {
		madeUp  int
		network func(n int) string // of those that are made up
		service string
		stands  callback.State
		within  time.Duration
	}{
		"of one network":                        {200, func(int) string { return "10.0.0.0/24" }, "push.test", callback.Called, time.Second},
		"at a service that does not answer":     {200, func(n int) string { return fmt.Sprintf("10.0.%d.0/24", n) }, "silent.test", callback.Called, time.Second},
		"whose turn it is not yet, anywhere":    {200, func(n int) string { return fmt.Sprintf("10.0.%d.0/24", n) }, "push.test", callback.Near, 4 * time.Second},
		"that has failed before, from anywhere": {80, func(n int) string { return fmt.Sprintf("10.0.%d.0/24", n) }, "push.test", callback.Called, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			const honest = "1000"
			turn := false
			g := &gate{silent: func(c *callback.Call) bool { return c.Visitor != honest }}
			g.stands = func(c *callback.Call) callback.State {
				switch {
				case c.Visitor != honest:
					return tt.stands
				case turn:
					return callback.Called
				}
				return callback.Waits
			}
			at(t, g, func(t *testing.T, d *callback.Desk) {
				for n := range tt.madeUp {
					require.NoError(t, d.Ask(call(n, tt.network(n), tt.service)))
				}
				require.NoError(t, d.Ask(call(1000, "192.0.2.0/24", "push.test")))
				pass(19 * time.Second)
				g.mu.Lock()
				turn = true
				g.mu.Unlock()
				pass(time.Second + 200*time.Millisecond + tt.within)
				assert.Equal(t, callback.Turn, g.hasTold(honest))
			})
		})
	}
}

func TestASiteHasAPartOfTheDesk(t *testing.T) {
	g := &gate{stands: func(*callback.Call) callback.State { return callback.Waits }}
	at(t, g, func(t *testing.T, d *callback.Desk) {
		asked := 0
		had := func(site int) (n int) {
			for i := range 2100 {
				asked++
				c := call(asked, fmt.Sprintf("2001:db8:%x:%x::/56", site, i<<8&0xffff), "push.test")
				c.Around = netip.MustParsePrefix(fmt.Sprintf("2001:db8:%x::/48", site))
				if d.Ask(c) == nil {
					n++
				}
			}
			return n
		}
		assert.Equal(t, 616, had(1), "four times what is left for eight others")
		for site := range 4 {
			had(site + 2)
		}
		for n := range 30 {
			require.NoError(t, d.Ask(call(100_000+n, "192.0.2.0/24", "push.test")), "five sites have as much as they can")
		}
	})
}
