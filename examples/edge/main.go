// Command edge runs a small shop that refuses whatever has not come through its gate, the gate, and
// in front of both HAProxy or nginx, which pass those who are in on to the shop by themselves.
package main

import (
	"context"
	_ "embed" // for the configurations of the edges
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/MicahParks/keyfunc/v3"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
)

//go:embed haproxy.cfg
var haproxy string

//go:embed nginx.conf
var nginx string

//go:embed admission.js
var script string

// addresses are where everything listens.
type addresses struct {
	shop, visitors, gate, admin string
}

func usual() addresses {
	at := stage.Usual()
	return addresses{shop: at.Shop, visitors: at.Gate, gate: "127.0.0.1:8081", admin: at.Admin}
}

func main() {
	program := "haproxy"
	if len(os.Args) > 1 {
		program = os.Args[1]
	}
	os.Exit(stage.Main(func(ctx context.Context, out io.Writer) error { return run(ctx, out, program, usual(), stage.Shop()) }))
}

// run runs everything until ctx ends, or a part of it does. The edge is haproxy or nginx.
func run(ctx context.Context, out io.Writer, edge string, at addresses, shop http.Handler) error {
	if err := stage.Installed(edge); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fairdoor-edge-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // nginx, started by root, becomes somebody else
		return fmt.Errorf("opening the directory: %w", err)
	}
	return stage.WithProcesses(out, dir, func(p *stage.Processes) error {
		if err := gate(ctx, p, at); err != nil || ctx.Err() != nil {
			return err
		}
		keys, err := keyfunc.NewDefaultCtx(ctx, []string{"http://" + at.gate + "/.fairdoor/jwks.json"})
		if err != nil {
			return fmt.Errorf("fetching the gate's keys: %w", err)
		}
		return stage.WithSite(at.shop, behindTheGate(keys.Keyfunc, shop), func() error {
			if err := inFront(ctx, p, edge, at); err != nil {
				return err
			}
			fmt.Fprintf(out, "\nOpen http://%s. Ctrl-C stops everything.\n", strings.Replace(at.visitors, "127.0.0.1", "localhost", 1))
			return p.Wait(ctx)
		})
	})
}

func gate(ctx context.Context, p *stage.Processes, at addresses) error {
	fmt.Fprintln(p.Out, "Building fairdoor")
	program, err := stage.Program(ctx)
	if err != nil {
		return err
	}
	args := []string{
		"serve",
		"--origin", "http://" + at.shop,
		"--sign-requests",
		"--trusted-proxies", "127.0.0.1/32",
		"--name", "shop",
		"--total-active-users", "2",
		"--new-users-per-minute", "60",
		"--session-duration", "2m",
		"--edge-admission", "5s",
		"--refresh-interval", "5s",
		"--enabled-origin-commands", "revoke",
		"--log-level", "warn",
		"--state-dir", filepath.Join(p.Dir, "state"),
		"--listen", at.gate,
		"--admin", at.admin,
	}
	if _, err := p.Start("gate", true, nil, program, args...); err != nil {
		return err
	}
	return p.Await(ctx, "the gate", func() bool { return stage.Answers("http://" + at.admin + "/readyz") })
}

// inFront starts the edge. Its configuration is the file beside this one, but for what is different
// on this machine.
func inFront(ctx context.Context, p *stage.Processes, edge string, at addresses) error {
	dir := p.Dir
	own := strings.NewReplacer(
		"127.0.0.1:8080", at.visitors, "127.0.0.1:8081", at.gate, "127.0.0.1:3000", at.shop,
		"/etc/haproxy/", dir+"/", "/etc/nginx/", dir+"/", "/run/", dir+"/",
	)
	files := map[string]string{"haproxy.cfg": own.Replace(haproxy), "nginx.conf": own.Replace(nginx), "admission.js": script}
	for name, key := range map[string]string{"fairdoor.json": "jwks.json", "fairdoor.pem": "jwks.pem"} {
		text, err := fetch(ctx, "http://"+at.gate+"/.fairdoor/"+key)
		if err != nil {
			return err
		}
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("writing what the edge reads: %w", err)
		}
	}
	args := map[string][]string{
		"haproxy": {"-db", "-f", filepath.Join(dir, "haproxy.cfg")},
		"nginx":   {"-p", dir, "-c", "nginx.conf", "-e", "stderr", "-g", "daemon off;"},
	}[edge]
	if _, err := p.Start(edge, true, nil, edge, args...); err != nil {
		return err
	}
	return p.Await(ctx, edge, func() bool { return stage.Listening(at.visitors) })
}

// fetch returns what a URL is answered with.
func fetch(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", fmt.Errorf("asking for %s: %w", url, err)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("asking for %s: %w", url, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("asking for %s: %s (%w)", url, answer.Status, err)
	}
	return string(text), nil
}
