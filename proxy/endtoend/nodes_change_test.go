package endtoend_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// obeyed is how soon all gates go by a change that was made at one.
const obeyed = 2 * time.Second

// everywhere waits until a room is as wanted at all gates.
func (s *nodes) everywhere(what string, is func(told map[string]any) bool) {
	s.t.Helper()
	for i, g := range s.gates {
		require.Eventually(s.t, func() bool { return is(g.room("default")) }, obeyed, 20*time.Millisecond, "gate %d: %s", i, what)
	}
}

func TestChangeAtOneGateIsObeyedByAllAndKept(t *testing.T) {
	t.Parallel()
	s := serveNodes(t, 2, limits{active: 5, perMinute: 5, session: 3 * time.Second})
	require.Equal(t, http.StatusOK, s.gates[0].patch(`{"total_active_users": 7, "queue_all": true}`))
	changed := func(told map[string]any) bool { return told["total_active_users"] == 7.0 && told["queue_all"] == true }
	s.everywhere("the change is in force", changed)
	overridden := func() {
		t.Helper()
		for _, g := range s.gates {
			told := g.room("default")
			assert.Equal(t, map[string]any{"total_active_users": 7.0, "queue_all": true}, told["overrides"])
			by, _ := told["overridden_by"].(map[string]any)
			require.Len(t, by, 2)
			who, _ := by["queue_all"].(map[string]any)
			assert.Equal(t, "127.0.0.1", who["by"], "who changed it")
			assert.NotEmpty(t, who["at"], "and when")
			assert.True(t, told["queue_all"].(bool))
			assert.EqualValues(t, 5, told["new_users_per_minute"], "the rest is as configured")
		}
	}
	overridden()
	c := s.crowd()
	c.come("visitor", 6, func(int) person { return person{patience: 2 * time.Second} })
	c.over()
	assert.Empty(t, c.admitted, "all gates hold everybody")

	for _, g := range s.gates {
		g.kill()
	}
	s.start()
	overridden()

	require.Equal(t, http.StatusOK, s.gates[1].patch(`{"total_active_users": null, "queue_all": null}`))
	s.everywhere("it is reset", func(told map[string]any) bool {
		by, _ := told["overridden_by"].(map[string]any)
		return told["total_active_users"] == 5.0 && told["queue_all"] == false && len(by) == 0
	})
	require.Equal(t, http.StatusUnprocessableEntity, s.gates[0].patch(`{"total_active_users": 0}`))
}

func TestOneTicketAtTwoGatesIsOneSlot(t *testing.T) {
	t.Parallel()
	const active = 5
	s := serveNodes(t, 2, limits{active: active, perMinute: 1000, session: 20 * time.Second})
	require.Equal(t, http.StatusOK, s.gates[0].patch(`{"queue_all": true}`))
	closed := func(told map[string]any) bool { return told["queue_all"] == true }
	s.everywhere("nobody is let in", closed)
	c := s.crowd()
	v := &visit{crowd: c, name: "twins"}
	a, err := v.ask(time.Now())
	require.NoError(t, err)
	require.False(t, a.in)
	require.Equal(t, http.StatusOK, s.gates[0].patch(`{"queue_all": null}`))
	s.everywhere("people are let in", func(told map[string]any) bool { return !closed(told) })

	var twins sync.WaitGroup
	for i := range 8 {
		gate := s.gates[i%2].url
		double := newCrowd(t, gate, s.limits)
		twins.Go(func() {
			one := &visit{crowd: double, name: "twins", person: person{replay: true}, tickets: v.tickets, first: v.tickets}
			for range 5 {
				if _, err := one.ask(time.Now()); !assert.NoError(t, err) {
					return
				}
			}
			assert.Eventually(t, func() bool {
				a, err := one.ask(time.Now())
				return err == nil && a.in
			}, patience, 50*time.Millisecond, "both gates let them in")
		})
	}
	twins.Wait()
	others := make([]*visit, 2*active)
	for i := range others {
		others[i] = &visit{crowd: c, name: "other"}
	}
	in := func() (n int) {
		for _, other := range others {
			if a, err := other.ask(time.Now()); assert.NoError(t, err) && a.in {
				n++
			}
		}
		return n
	}
	// A call to the store that takes too long on a busy machine lets somebody in at the next request.
	assert.Eventually(t, func() bool { return in() >= active-1 }, patience, 50*time.Millisecond, "all other slots were open")
	assert.Equal(t, active-1, in(), "and no more")
	for _, g := range s.gates {
		g.until("all gates count them once", func() bool { return g.status()["activeUsers"] == float64(active) })
	}
}
