package endtoend_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leaveHeader has the origin end the session of whoever asks with it.
const leaveHeader = "X-Leave"

// hammering is how often those ask who do not wait.
const hammering = 5 * time.Millisecond

// Somebody's session is ended at one gate, and with their cookie they go on asking
// the other. Whoever gets the slot is never in at the same time, by the origin's log.
func TestRevokedVisitorIsOutEverywhereBeforeTheSlotGoesOn(t *testing.T) {
	t.Parallel()
	const rounds = 4
	log := &journal{}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(leaveHeader) != "" {
			w.Header().Set("Fairdoor-Command", "revoke")
		}
		log.ServeHTTP(w, r)
	}))
	defer origin.Close()
	l := limits{active: 1, perMinute: 100_000, session: 20 * time.Second}
	s := serveNodesFor(t, 2, origin.URL, l, "--enabled-origin-commands", "revoke")
	at := []*crowd{newCrowd(t, s.gates[0].url, l), newCrowd(t, s.gates[1].url, l)}
	ask := func(v visit, gate int) bool { // with the tickets that they have, which stay the same
		v.crowd, v.forget = at[gate], true
		a, _ := v.ask(time.Now()) // 429 for a POST that would have to wait
		return a.in
	}

	current := &visit{crowd: at[0], name: "visitor-0"}
	s.until("the room was empty", func() bool { // on a busy machine perhaps at the second try
		a, err := current.ask(time.Now())
		return err == nil && a.in
	})
	for round := range rounds {
		here, there := round%2, 1-round%2
		// What cannot wait takes a slot at once, where nobody waits.
		next := &visit{crowd: at[here], name: fmt.Sprintf("visitor-%d", round+1), method: http.MethodPost}
		s.until("the other gate knows the visitor", func() bool { return ask(*current, there) })

		leaver := *current
		leaver.header = leaveHeader
		require.True(t, ask(leaver, here))
		revoked := time.Now()
		var asking sync.WaitGroup
		asking.Go(func() {
			for ask(*current, there) { // then they are out
				<-time.After(hammering)
			}
		})
		require.Eventually(t, func() bool {
			a, _ := next.ask(time.Now()) // 429 until then
			return a.in
		}, patience, hammering, "the slot goes on")
		took := time.Since(revoked)
		t.Logf("the slot goes on after %v", took)
		assert.Less(t, took, 10*time.Second)
		asking.Wait()
		current = next
	}

	first := map[string]sight{}
	for _, seen := range log.all() {
		if _, ok := first[seen.visitor]; !ok {
			first[seen.visitor] = seen
		}
	}
	require.Len(t, first, rounds+1)
	together := 0
	for _, seen := range log.all() {
		round := 0
		_, err := fmt.Sscanf(seen.visitor, "visitor-%d", &round)
		require.NoError(t, err)
		if next, ok := first[fmt.Sprintf("visitor-%d", round+1)]; ok && seen.sent.After(next.seen) {
			together++
		}
	}
	assert.Zero(t, together, "requests of those whose slot somebody else had")
}
