package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The reverse proxies of others that the gate is compared with. Each keeps its
// connections to the origin, sends it the headers X-Forwarded-*, and writes no
// log, as the gate does.

// caddyfile is Caddy with its defaults.
const caddyfile = `{
	admin off
	auto_https off
	persist_config off
}
http://ADDRESS {
	bind 127.0.0.1
	reverse_proxy ORIGIN
}
`

// nginxConf has nginx in one process: its times are those of that process alone.
const nginxConf = `daemon off;
master_process off;
pid DIRECTORY/nginx.pid;
events { worker_connections 4096; }
http {
	access_log off;
	client_body_temp_path DIRECTORY;
	proxy_temp_path DIRECTORY;
	fastcgi_temp_path DIRECTORY;
	uwsgi_temp_path DIRECTORY;
	scgi_temp_path DIRECTORY;
	keepalive_requests 1000000000;
	upstream origin {
		server ORIGIN;
		keepalive 1024;
		keepalive_requests 1000000000;
	}
	server {
		listen ADDRESS;
		location / {
			proxy_pass http://origin;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_set_header Host $http_host;
			proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
			proxy_set_header X-Forwarded-Host $http_host;
			proxy_set_header X-Forwarded-Proto $scheme;
		}
	}
}
`

// haproxyCfg has HAProxy with one thread, as nginx has one.
const haproxyCfg = `global
	nbthread 1
	maxconn 4096
defaults
	mode http
	timeout connect 5s
	timeout http-request 5s
	timeout client 2m
	timeout server 2m
frontend site
	bind ADDRESS
	option forwardfor
	http-request set-header X-Forwarded-Host %[req.hdr(host)]
	http-request set-header X-Forwarded-Proto http
	default_backend origin
backend origin
	http-reuse always
	server origin ORIGIN
`

// caddy starts Caddy in front of the origin.
func (f *fleet) caddy(ctx context.Context, program string, collector []string, origin *process) (*process, error) {
	return f.configured(ctx, collector, caddyfile, origin, program, func(file string) []string {
		return []string{"run", "--config", file, "--adapter", "caddyfile"}
	})
}

// nginx starts nginx in front of the origin.
func (f *fleet) nginx(ctx context.Context, program string, origin *process) (*process, error) {
	return f.configured(ctx, nil, nginxConf, origin, program, func(file string) []string {
		return []string{"-e", "stderr", "-p", f.dir, "-c", file}
	})
}

// haproxy starts HAProxy in front of the origin.
func (f *fleet) haproxy(ctx context.Context, program string, origin *process) (*process, error) {
	return f.configured(ctx, nil, haproxyCfg, origin, program, func(file string) []string {
		return []string{"-db", "-f", file}
	})
}

// configured starts a program with a configuration, which is put into a file. ADDRESS in it is where the program listens, ORIGIN is
// the origin's address, and DIRECTORY is for files.
func (f *fleet) configured(ctx context.Context, env []string, configuration string, origin *process, program string, args func(file string) []string) (*process, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(f.dir, fmt.Sprint("configuration", len(f.parts)))
	text := strings.NewReplacer("ADDRESS", addr, "ORIGIN", origin.addr, "DIRECTORY", f.dir).Replace(configuration)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("writing a configuration: %w", err)
	}
	return f.keep(startAt(ctx, append([]string{"HOME=" + f.dir}, env...), addr, program, args(file)...))
}
