package endtoend_test

import (
	"net/http"
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
