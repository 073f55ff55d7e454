package guests_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/guests"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
	"github.com/fairdoor-gate/fairdoor/queue/waitlist"
)

func TestAGateStartsWithoutItsRecordAndServesItsRooms(t *testing.T) {
	address := porttest.Address(t)
	f := gatetest.Start(t, func(c *proxy.Config, o *proxy.Options) {
		withLists(c, guests.Config{Name: "beta", Room: "shop", Settings: waitlist.DefaultSettings()})
		o.Record = func(ctx context.Context) (*waitlist.Store, error) {
			return waitlist.Open(ctx, "postgres://gate@"+address+"/gate?sslmode=disable")
		}
	})
	assert.True(t, f.Visitor().Get("/").In(), "the room is open to everybody")
	a := f.Visitor().PostJSON(listPath, map[string]string{"email": "ada@example.com"})
	assert.Equal(t, http.StatusServiceUnavailable, a.Status)
	assert.NotEmpty(t, a.Header.Get("Retry-After"))
	assert.Equal(t, http.StatusServiceUnavailable, f.Visitor().Get(listPath+"?secret=x").Status)
	assert.Contains(t, f.API(http.MethodGet, "/readyz", "", nil).Body, `"record": "failing"`)
	assert.Contains(t, f.API(http.MethodGet, "/metrics", "", nil).Body, "\nfairdoor_record_failing 1\n")
}
