package endtoend_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGoodbyeAtOneGateCountsForNothingWhileAStreamIsOpenAtAnother has a visitor with
// two tabs, of which one is closed. No check-in is due for long.
func TestGoodbyeAtOneGateCountsForNothingWhileAStreamIsOpenAtAnother(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"line", "fifo"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			s := serveNodes(t, 2, limits{active: 1, perMinute: 1000, session: time.Minute},
				"--queueing-method", method, "--refresh-interval", "25s")
			here, there := s.gates[0], s.gates[1]
			come := func() string {
				resp, _ := ask(t, http.MethodGet, here.url, "")
				require.Len(t, resp.Cookies(), 1)
				return resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
			}
			come()
			first, second := come(), come()
			listen := func(g *gate, ticket string) *http.Response {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.url+"/.fairdoor/events", nil)
				require.NoError(t, err)
				req.Header.Set("Cookie", ticket)
				resp, err := http.DefaultClient.Do(req)
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, resp.StatusCode)
				t.Cleanup(func() { resp.Body.Close() })
				return resp
			}
			listen(here, second)
			tab := listen(there, first)
			waiting := func(n float64) func() bool {
				return func() bool {
					return here.status()["estimated_queued_users"] == n && there.status()["estimated_queued_users"] == n
				}
			}
			s.until("both wait", waiting(2))
			closed := time.Now()
			resp, _ := ask(t, http.MethodPost, here.url+"/.fairdoor/leave", "", "Cookie", first)
			require.Equal(t, http.StatusNoContent, resp.StatusCode)
			// A place in an exact line is kept for three seconds after a goodbye, and gates may
			// hear of that for two.
			s.until("the goodbye is over", func() bool { return time.Since(closed) > 6*time.Second })
			assert.True(t, waiting(2)(), "who is here is in line")

			require.NoError(t, tab.Body.Close())
			ask(t, http.MethodPost, here.url+"/.fairdoor/leave", "", "Cookie", first)
			if method == "line" { // in fifo they are counted at the other gate until they miss a check-in
				s.until("the last goodbye counts", waiting(1))
				assert.Less(t, time.Since(closed), 20*time.Second)
			}
		})
	}
}
