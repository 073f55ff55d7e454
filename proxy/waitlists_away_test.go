package proxy_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

// deaf returns the address of a PostgreSQL that is not there.
func deaf(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

func TestAGateStartsWithoutItsRecordAndServesItsRooms(t *testing.T) {
	address := deaf(t)
	f := start(t, func(c *proxy.Config, o *proxy.Options) {
		withLists(c, guests.Config{Name: "beta", Room: "shop", Settings: waitlist.DefaultSettings()})
		o.Record = func(ctx context.Context) (*waitlist.Store, error) {
			return waitlist.Open(ctx, "postgres://gate@"+address+"/gate?sslmode=disable")
		}
	})
	assert.True(t, f.visitor().get("/").in(), "the room is open to everybody")
	a := f.visitor().postJSON(listPath, map[string]string{"email": "ada@example.com"})
	assert.Equal(t, http.StatusServiceUnavailable, a.status)
	assert.NotEmpty(t, a.header.Get("Retry-After"))
	assert.Equal(t, http.StatusServiceUnavailable, f.visitor().get(listPath+"?secret=x").status)
	assert.Contains(t, f.api(http.MethodGet, "/readyz", "", nil).body, `"record": "failing"`)
	assert.Contains(t, f.api(http.MethodGet, "/metrics", "", nil).body, "\nfairdoor_record_failing 1\n")
}
