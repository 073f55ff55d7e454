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
)

// sharedCache is an nginx that keeps whatever the gate lets it keep, for everybody, and else for a minute.
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
			f := start(t, room(func(r *proxy.RoomConfig) { r.Cache = c.cache }))
			f.site.will(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "public, max-age=60")
				if strings.HasPrefix(r.URL.Path, "/static/") {
					w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
				}
				_, _ = w.Write([]byte("in"))
			})
			nginx := newReader(t, strings.ReplaceAll(sharedCache, "GATE", f.public.URL), "nginx", "-e", "stderr", "-c")
			through := func(v *visitor) *visitor {
				v.base = "http://" + nginx.address
				return v
			}
			first, second := through(f.visitor()), through(f.visitor())
			require.True(t, first.get("/").in())
			f.pass(2 * time.Second)
			a := second.get("/")
			require.False(t, a.in(), "the answer with the ticket is nobody else's")
			require.NotEqual(t, first.cookies, second.cookies)
			for range 2 {
				require.True(t, first.get("/page").in())
				require.True(t, first.get("/static/a.js").in())
			}
			assert.Equal(t, c.shared, second.get("/page").in(), "what the first got stands in no cache")
			assert.Equal(t, "HIT", first.get("/static/a.js").header.Get("X-Cache"), "what never changes does")
			f.patch(`{"total_active_users": 5}`)
			f.pass(interval + 10*time.Second)
			second.get("/")
			assert.True(t, second.get("/other").in(), "and no waiting page does")
		})
	}
}
