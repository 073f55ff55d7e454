package endtoend_test

import (
	"bufio"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestManyEventStreams has a crowd listen: the first in line is in soon after the
// slot comes free, long before a check-in of theirs, and a gate that stops does
// not wait for those who listen.
func TestManyEventStreams(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"fifo", "line"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "fairdoor.yaml")
			require.NoError(t, os.WriteFile(file, []byte("origin: "+site(t, hello)+`
shutdown_grace: 1h
rooms:
  - {name: shop, total_active_users: 1, new_users_per_minute: 1000, session_duration: 4s, refresh_interval: 10m,
     queue_ticket_ttl: 1h, bucket: 1s, queueing_method: `+method+`}
`), 0o600))
			g := serve(t, nil, "--config", file)
			const people = 100
			arrive := func() *http.Cookie {
				resp, err := http.Get(g.url)
				require.NoError(t, err)
				resp.Body.Close()
				require.Len(t, resp.Cookies(), 1)
				return resp.Cookies()[0]
			}
			arrive()
			entered := time.Now()
			var admitted, ended atomic.Int64
			heard := make([]atomic.Int64, people)
			client := &http.Client{Transport: &http.Transport{}}
			t.Cleanup(client.CloseIdleConnections)
			for i := range people {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.url+"/.fairdoor/events", nil)
				require.NoError(t, err)
				req.AddCookie(arrive())
				resp, err := client.Do(req)
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, resp.StatusCode)
				go func() {
					defer ended.Add(1)
					defer resp.Body.Close()
					for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
						switch {
						case strings.HasPrefix(lines.Text(), "event: numbers"):
							heard[i].Add(1)
						case strings.HasPrefix(lines.Text(), "event: admitted"):
							admitted.Add(1)
						}
					}
				}()
			}
			g.until("somebody is in without asking", func() bool { return admitted.Load() > 0 })
			for i := range heard {
				g.until("everyone hears the numbers", func() bool { return heard[i].Load() > 0 })
			}
			assert.LessOrEqual(t, admitted.Load(), 1+int64(time.Since(entered)/(4*time.Second)), "one at a time")
			g.signal(syscall.SIGTERM)
			assert.Zero(t, g.exit())
			g.until("all streams have ended", func() bool { return ended.Load() == people })
		})
	}
}
