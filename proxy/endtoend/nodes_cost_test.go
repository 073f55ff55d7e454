package endtoend_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// processorTime is what all gates have taken so far, in the kernel's ticks of
// user and system time.
func (s *nodes) processorTime() (ticks int) {
	s.t.Helper()
	for _, g := range s.gates {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", g.cmd.Process.Pid))
		require.NoError(s.t, err)
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		for _, field := range fields[11:13] {
			n, err := strconv.Atoi(field)
			require.NoError(s.t, err)
			ticks += n
		}
	}
	return ticks
}

// alone has as many gates with the same limits as s, each with a store of its own.
func (s *nodes) alone() *nodes {
	s.t.Helper()
	other := &nodes{t: s.t, limits: s.limits, origin: s.origin, target: s.target}
	for range s.gates {
		other.gates = append(other.gates, newGate(s.t, nil, "--origin", s.target,
			"--total-active-users", fmt.Sprint(s.limits.active), "--new-users-per-minute", fmt.Sprint(s.limits.perMinute),
			"--session-duration", s.limits.session.String()))
	}
	other.start()
	other.ready = other.gates
	return other
}

// Requests of accepted visitors go to two gates with a Redis and to two that have
// their stores inside, in turns.
func TestAcceptedVisitorsCostNoMoreWithASharedStore(t *testing.T) {
	const turns, people, requests = 15, 4, 500
	shared := serveNodes(t, 2, limits{active: 1000, perMinute: 100_000, session: time.Minute})
	own := shared.alone()
	cost := map[*nodes]int{}
	visitors := map[*nodes][]*visit{}
	for _, s := range []*nodes{shared, own} {
		for i := range people {
			gate := s.gates[i%len(s.gates)].url
			v := &visit{crowd: newCrowd(t, gate, s.limits), name: fmt.Sprint("visitor-", i)}
			a, err := v.ask(time.Now())
			require.NoError(t, err)
			require.True(t, a.in)
			visitors[s] = append(visitors[s], v)
		}
	}
	for turn := range 2 * turns {
		s := []*nodes{shared, own}[turn%2]
		before := s.processorTime()
		var group sync.WaitGroup
		for _, v := range visitors[s] {
			group.Go(func() {
				for range requests {
					a, err := v.ask(time.Now())
					if !assert.NoError(t, err) || !assert.True(t, a.in) {
						return
					}
				}
			})
		}
		group.Wait()
		if turn >= 2 { // after one each to warm up
			cost[s] += s.processorTime() - before
		}
	}
	ratio := float64(cost[shared]) / float64(cost[own])
	t.Logf("%d ticks with a shared store, %d with their own: ratio %.2f", cost[shared], cost[own], ratio)
	assert.Less(t, ratio, 1.2)
}
