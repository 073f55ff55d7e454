package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/route"
)

func TestTheHealthOfOriginsIsAskedForByTheNameThatVisitorsComeFor(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 100)
	site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			select {
			case asked <- r.Host:
			default:
			}
		}
	}))
	t.Cleanup(site.Close)
	u, err := url.Parse(site.URL)
	require.NoError(t, err)
	for header, want := range map[origin.HostHeader]string{"": "shop.test", origin.OwnHost: u.Host, "inner.test": "inner.test"} {
		t.Run(want, func(t *testing.T) {
			gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) {
				r := &c.Rooms[0]
				r.Routes, r.Origin, r.HostHeader, r.HealthPath = []route.Route{{Host: "shop.test", Path: "/"}}, u, header, "/healthz"
			})
			for len(asked) > 0 { // of the gate before
				<-asked
			}
			select {
			case host := <-asked:
				assert.Equal(t, want, host)
			case <-time.After(gatetest.Patience):
				assert.Fail(t, "nothing was asked")
			}
		})
	}
}
