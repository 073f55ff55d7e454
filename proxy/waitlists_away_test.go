package proxy_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func TestAGateStartsWithoutItsRecordAndServesItsRooms(t *testing.T) {
	address := porttest.Address(t)
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
