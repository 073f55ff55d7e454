// Package kubernetes tests what an ingress sends to a gate.
package kubernetes

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
	"github.com/fairdoor-gate/fairdoor/examples/stage/stagetest"
	"github.com/fairdoor-gate/fairdoor/queue/porttest"
)

// nginx is what ingress-nginx makes of an Ingress with the annotations of ingress-nginx.yaml.
const nginx = `
pid nginx.pid;
error_log stderr;
daemon off;
events {}
http {
	access_log off;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	map $http_upgrade $connection_upgrade {
		default upgrade;
		"" "";
	}
	upstream gates {
		server GATE;
		keepalive 320;
	}
	server {
		listen SITE;
		location / {
			client_max_body_size 0;
			proxy_set_header Host $http_host;
			proxy_set_header Upgrade $http_upgrade;
			proxy_set_header Connection $connection_upgrade;
			proxy_set_header X-Request-ID $request_id;
			proxy_set_header X-Real-IP $remote_addr;
			proxy_set_header X-Forwarded-For $remote_addr;
			proxy_set_header X-Forwarded-Host $http_host;
			proxy_set_header X-Forwarded-Port $server_port;
			proxy_set_header X-Forwarded-Proto $scheme;
			proxy_set_header X-Forwarded-Scheme $scheme;
			proxy_set_header X-Scheme $scheme;
			proxy_set_header X-Original-Forwarded-For $http_x_forwarded_for;
			proxy_set_header Proxy "";
			proxy_connect_timeout 5s;
			proxy_send_timeout 60s;
			proxy_read_timeout 60s;
			proxy_buffering off;
			proxy_buffer_size 4k;
			proxy_buffers 4 4k;
			proxy_request_buffering off;
			proxy_http_version 1.1;
			proxy_next_upstream error timeout;
			proxy_pass http://gates;
			proxy_redirect off;
		}
	}
}
`

const room = `
trusted_proxies: [127.0.0.0/8]
rooms:
  - name: shop
    total_active_users: 1
    new_users_per_minute: 60
    rules: [{action: bypass_waiting_room, match: {cidr: 203.0.113.0/24}}]
`

// serve runs a gate behind nginx before a shop, and returns where visitors come.
func serve(t *testing.T, shop http.Handler) (site string) {
	t.Helper()
	at, visitors, dir := stagetest.Addresses(t), porttest.Address(t), t.TempDir()
	file, conf := filepath.Join(dir, "fairdoor.yaml"), filepath.Join(dir, "nginx.conf")
	require.NoError(t, os.WriteFile(file, []byte(room), 0o600))
	require.NoError(t, os.WriteFile(conf, []byte(strings.NewReplacer("GATE", at.Gate, "SITE", visitors).Replace(nginx)), 0o600))
	stagetest.Start(t, at.Admin, func(ctx context.Context, out io.Writer) error {
		return stage.WithProcesses(out, dir, func(p *stage.Processes) error {
			if _, err := p.Start("nginx", true, nil, "nginx", "-p", dir, "-e", "stderr", "-c", conf); err != nil {
				return err
			}
			err := p.Await(ctx, "nginx", func() bool { return stage.Listening(visitors) })
			return errors.Join(err, stage.RunSite(ctx, out, at, shop, "--config", file, "--origin", "http://"+at.Shop, "--listen", at.Gate, "--admin", at.Admin))
		})
	})
	return "http://" + visitors
}

func TestAGateBehindIngressNginxTakesWhatSitesTake(t *testing.T) {
	shop := &stagetest.Shop{Handler: stage.Shop()}
	site := serve(t, shop)
	in, waits := stagetest.Visitor(t), stagetest.Visitor(t)
	assert.Contains(t, stagetest.Text(t, in, http.MethodGet, site), "Welcome to the shop")
	assert.Contains(t, stagetest.Text(t, waits, http.MethodGet, site), "waiting room")
	shop.TakesWhatSitesTake(t, in, waits, site)

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, site, nil)
	require.NoError(t, err)
	for _, header := range []string{"X-Forwarded-For", "X-Real-Ip", "X-Original-Forwarded-For"} {
		r.Header.Set(header, "203.0.113.7")
	}
	r.Header.Set("Forwarded", "for=203.0.113.7")
	answer, err := stagetest.Visitor(t).Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Equal(t, "shop", answer.Header.Get("Fairdoor-Room"), "nobody has the address that they make up")

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err = http.NewRequestWithContext(ctx, http.MethodGet, site+"/.fairdoor/events?room=shop", nil)
	require.NoError(t, err)
	answer, err = waits.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); ; {
		require.True(t, lines.Scan(), "the stream ends, or is held back: %v", lines.Err())
		if lines.Text() == "event: place" {
			return
		}
	}
}
