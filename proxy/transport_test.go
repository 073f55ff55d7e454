package proxy_test

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

func TestTheTransportIsWhatIsConfigured(t *testing.T) {
	t.Parallel()
	for _, transport := range []origin.Transport{"", origin.TransportDirect, origin.TransportStandard} {
		t.Run(string(transport), func(t *testing.T) {
			f := gatetest.Start(t, func(c *proxy.Config, _ *proxy.Options) { c.Transport = transport })
			asked, whole := make(chan struct{}, 1), atomic.Bool{}
			f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, transport != origin.TransportStandard, whole.Load(), "the whole body is there")
				asked <- struct{}{}
				_, _ = io.Copy(w, r.Body)
			})
			body, send := io.Pipe()
			go func() {
				_, err := io.WriteString(send, "first")
				assert.NoError(t, err)
				if transport == origin.TransportStandard {
					<-asked // with half of the body
				}
				whole.Store(true)
				_, err = io.WriteString(send, " half")
				assert.NoError(t, err)
				assert.NoError(t, send.Close())
			}()
			a := f.Visitor().Send(http.MethodPost, "/", body, func(r *http.Request) { r.ContentLength = int64(len("first half")) })
			require.Equal(t, http.StatusOK, a.Status)
			assert.Equal(t, "first half", a.Body)
		})
	}
}
