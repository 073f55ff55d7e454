package endtoend_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// look asks with a ticket, or without any, and returns whether that is in, how many
// are ahead else, and the ticket from then on.
func (g *gate) look(ticket string) (in bool, ahead int, next string) {
	g.t.Helper()
	resp, body := ask(g.t, http.MethodGet, g.url, "", "Accept", "application/json", "Cookie", ticket)
	for _, c := range resp.Cookies() {
		ticket = c.Name + "=" + c.Value
	}
	if body == "in" {
		return true, 0, ticket
	}
	var told struct {
		Room struct {
			Ahead int `json:"usersAhead"`
		} `json:"cfWaitingRoom"`
	}
	require.NoError(g.t, json.Unmarshal([]byte(body), &told), "%s %s", resp.Status, body)
	return false, told.Room.Ahead, ticket
}

// TestUsedPlaceIsWorthNothingOncePlacesLastLonger has a visitor come in from the line,
// and bring the ticket of their place again when it is forgotten that they used it,
// the gate was killed, and places last for longer than that is ago.
func TestUsedPlaceIsWorthNothingOncePlacesLastLonger(t *testing.T) {
	t.Parallel()
	l := limits{active: 1, perMinute: 1000, session: time.Second}
	for store, begin := range map[string]func(t *testing.T, flags ...string) *gate{
		"in memory": func(t *testing.T, flags ...string) *gate {
			g, _ := serveLimits(t, l, flags...)
			return g
		},
		"in Redis": func(t *testing.T, flags ...string) *gate { return serveNodes(t, 1, l, flags...).gates[0] },
	} {
		for _, method := range []string{"fifo", "line"} {
			t.Run(store+"/"+method, func(t *testing.T) {
				t.Parallel()
				g := begin(t, "--queueing-method", method, "--queue-ticket-ttl", "2s", "--line-dropout", "3s")
				_, _, _ = g.look("")
				in, _, used := g.look("")
				require.False(t, in)
				ticket := used
				g.until("they come in from the line", func() bool { in, _, ticket = g.look(ticket); return in })
				entered := time.Now()
				// Their place was worth something for three seconds, and the store remembers for ten more.
				g.until("it is forgotten", func() bool { return time.Since(entered) > 16*time.Second })
				g.kill()
				g.start()
				require.Equal(t, http.StatusOK, g.patch(`{"queue_ticket_ttl": "1h", "line_dropout": "1h", "session_duration": "1h"}`))
				holder := ""
				g.until("the slot is taken for good", func() bool { in, _, holder = g.look(holder); return in })
				_, _, ticket = g.look("")
				arrived := time.Now()
				g.until("somebody waits for longer than a bucket is", func() bool {
					_, _, ticket = g.look(ticket)
					return time.Since(arrived) > 2*time.Second
				})
				_, ahead, _ := g.look(used)
				assert.Positive(t, ahead, "whoever waits is ahead")
			})
		}
	}
}
