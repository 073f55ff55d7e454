package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/config"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
)

// sharedCache is an nginx that keeps whatever the gate lets it keep, for everybody, and else for a
// minute.
const sharedCache = `
daemon off;
master_process off;
pid DIR/pid;
events {}
http {
	access_log off;
	client_body_temp_path DIR; proxy_temp_path DIR; fastcgi_temp_path DIR; uwsgi_temp_path DIR; scgi_temp_path DIR;
	proxy_cache_path DIR/cache keys_zone=all:1m;
	server {
		listen ADDRESS;
		location / {
			proxy_pass GATE;
			proxy_cache all;
			proxy_cache_key $uri;
			proxy_cache_valid any 1m;
			add_header X-Cache $upstream_cache_status always;
		}
	}
}
`

func TestAnNginxThatCachesServesNobodyWhoWaitsWhatOthersGet(t *testing.T) {
	for name, c := range map[string]struct {
		cache  config.Cache
		shared bool // whether somebody who waits gets what a visitor got
	}{"as it is by default": {"", false}, "always": {config.CachePrivate, false}, "as the origin says": {config.CacheOrigin, true}} {
		t.Run(name, func(t *testing.T) {
			f := gatetest.Start(t, gatetest.Room(func(r *proxy.RoomConfig) { r.Cache = c.cache }))
			f.Site.Will(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "public, max-age=60")
				if strings.HasPrefix(r.URL.Path, "/static/") {
					w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
				}
				_, _ = w.Write([]byte("in"))
			})
			nginx := newReader(t, strings.ReplaceAll(sharedCache, "GATE", f.Public.URL), "nginx", "-e", "stderr", "-c")
			through := func(v *gatetest.Visitor) *gatetest.Visitor {
				v.Base = "http://" + nginx.address
				return v
			}
			first, second := through(f.Visitor()), through(f.Visitor())
			require.True(t, first.Get("/").In())
			f.Pass(2 * time.Second)
			a := second.Get("/")
			require.False(t, a.In(), "the answer with the ticket is nobody else's")
			require.NotEqual(t, first.Cookies, second.Cookies)
			for range 2 {
				require.True(t, first.Get("/page").In())
				require.True(t, first.Get("/static/a.js").In())
			}
			assert.Equal(t, c.shared, second.Get("/page").In(), "what the first got stands in no cache")
			assert.Equal(t, "HIT", first.Get("/static/a.js").Header.Get("X-Cache"), "what never changes does")
			f.Patch(`{"total_active_users": 5}`)
			f.Pass(gatetest.Interval + 10*time.Second)
			second.Get("/")
			assert.True(t, second.Get("/other").In(), "and no waiting page does")
		})
	}
}
