// Command beside runs a small shop behind a proxy that people may have already, and a gate beside
// that proxy:
//
//	go run ./examples/beside nginx|caddy|caddy-short|traefik|envoy
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
)

//go:embed fairdoor.yaml nginx.conf Caddyfile Caddyfile.short traefik.yaml envoy.yaml
var files embed.FS

// proxy is a program that asks the gate about its visitors' requests.
type proxy struct {
	program, file string
	args          func(file string, at addresses) []string
}

var proxies = map[string]proxy{
	"nginx": {"nginx", "nginx.conf", func(file string, _ addresses) []string {
		return []string{"-p", filepath.Dir(file), "-c", file, "-e", "stderr", "-g", "daemon off; error_log stderr;"}
	}},
	"caddy":       {"caddy", "Caddyfile", caddyArgs},
	"caddy-short": {"caddy", "Caddyfile.short", caddyArgs},
	"traefik": {"traefik", "traefik.yaml", func(file string, at addresses) []string {
		return []string{"--entryPoints.web.address=" + at.visitors, "--providers.file.filename=" + file}
	}},
	"envoy": {"envoy", "envoy.yaml", func(file string, _ addresses) []string { return []string{"-c", file} }},
}

func caddyArgs(file string, _ addresses) []string {
	return []string{"run", "--adapter", "caddyfile", "--config", file}
}

// addresses are where everything listens, and what the shop is.
type addresses struct {
	shop, visitors, gate, admin string

	site http.Handler
}

func usual() addresses {
	return addresses{site: stage.Shop(), shop: "127.0.0.1:3000", visitors: "127.0.0.1:8080", gate: "127.0.0.1:8081", admin: "127.0.0.1:9090"}
}

// put puts addresses in the place of the usual ones.
func (at addresses) put(text string) string {
	usual := usual()
	pairs := []string{usual.shop, at.shop, usual.visitors, at.visitors, usual.gate, at.gate, usual.admin, at.admin}
	if _, port, ok := strings.Cut(at.visitors, ":"); ok {
		pairs = append(pairs, "http://:8080", "http://:"+port)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func main() {
	os.Exit(stage.Main(func(ctx context.Context, out io.Writer) error {
		if len(os.Args) != 2 {
			return errors.New("say which proxy: nginx, caddy, caddy-short, traefik or envoy")
		}
		return withProgram(ctx, out, func(program string) error { return run(ctx, out, usual(), os.Args[1], program) })
	}))
}

// withProgram builds fairdoor for what do does.
func withProgram(ctx context.Context, out io.Writer, do func(program string) error) error {
	dir, err := os.MkdirTemp("", "fairdoor-program-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(out, "Building fairdoor")
	program, err := stage.Program(ctx)
	if err != nil {
		return err
	}
	return do(program)
}

// run runs everything until ctx ends, or the gate, which is the program, or the proxy does.
func run(ctx context.Context, out io.Writer, at addresses, name, program string) error {
	with, ok := proxies[name]
	if !ok {
		return fmt.Errorf("%q is none of nginx, caddy, caddy-short, traefik and envoy", name)
	}
	if err := stage.Installed(with.program); err != nil {
		return err
	}
	return runGate(ctx, out, at, program, func(p *stage.Processes) error {
		file, err := write(p.Dir, with.file, at)
		if err != nil {
			return err
		}
		if _, err := p.Start(name, true, []string{"HOME=" + p.Dir}, with.program, with.args(file, at)...); err != nil {
			return err
		}
		return p.Await(ctx, name, func() bool { return stage.Listening(at.visitors) })
	})
}

// runGate runs the shop and the gate, and what is in front of them.
func runGate(ctx context.Context, out io.Writer, at addresses, program string, inFront func(p *stage.Processes) error) error {
	dir, err := os.MkdirTemp("", "fairdoor-beside-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // nginx, started by root, becomes somebody else
		return fmt.Errorf("opening the directory: %w", err)
	}
	file, err := write(dir, "fairdoor.yaml", at)
	if err != nil {
		return err
	}
	return stage.WithSite(at.shop, at.site, func() error {
		return stage.WithProcesses(out, dir, func(p *stage.Processes) error {
			if _, err := p.Start("gate", true, nil, program, "serve", "--config", file, "--state-dir", filepath.Join(dir, "state")); err != nil {
				return err
			}
			if err := p.Await(ctx, "the gate", func() bool { return stage.Answers("http://" + at.admin + "/readyz") }); err != nil {
				return err
			}
			if err := inFront(p); err != nil {
				return err
			}
			fmt.Fprintf(out, "\nOpen http://%s. Ctrl-C stops everything.\n", strings.Replace(at.visitors, "127.0.0.1", "localhost", 1))
			return p.Wait(ctx)
		})
	})
}

// write writes one of the files into a directory, with the addresses, and returns its path.
func write(dir, name string, at addresses) (string, error) {
	text, err := files.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("reading a configuration: %w", err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(at.put(string(text))), 0o600); err != nil {
		return "", fmt.Errorf("writing a configuration: %w", err)
	}
	return path, nil
}
