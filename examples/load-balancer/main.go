// Command load-balancer runs a small shop behind two gates that share a Redis,
// and HAProxy in front of them.
package main

import (
	"context"
	_ "embed" // for the balancer's configuration
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairdoor-gate/fairdoor/examples/stage"
)

//go:embed haproxy.cfg
var balancer []byte

// bucket is what arrival times are rounded down to: people of the same one are
// let in in any order.
const bucket = 5 * time.Second

// addresses are where everything listens.
type addresses struct {
	shop, visitors, redis string
	gates, admins         [2]string
}

func usual() addresses {
	at := stage.Usual()
	return addresses{
		shop: at.Shop, visitors: at.Gate, redis: "127.0.0.1:6390",
		gates: [2]string{"127.0.0.1:8081", "127.0.0.1:8082"}, admins: [2]string{"127.0.0.1:9091", "127.0.0.1:9092"},
	}
}

func main() {
	os.Exit(stage.Main(func(ctx context.Context, out io.Writer) error { return run(ctx, out, usual()) }))
}

// run runs everything until ctx ends, or the balancer or Redis does.
func run(ctx context.Context, out io.Writer, at addresses) error {
	if err := stage.Installed("haproxy", "redis-server"); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fairdoor-load-balancer-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	return stage.WithSite(at.shop, stage.Shop(), func() error { return runAll(ctx, out, at, dir) })
}

// runAll starts Redis, the gates and the balancer, each when what it needs is
// there, and stops them the other way round.
func runAll(ctx context.Context, out io.Writer, at addresses, dir string) error {
	fmt.Fprintln(out, "Building fairdoor")
	program, err := stage.Program(ctx)
	if err != nil {
		return err
	}
	keys, err := keysFile(ctx, program, dir)
	if err != nil {
		return err
	}
	return stage.WithProcesses(out, dir, func(p *stage.Processes) error {
		if err := redis(ctx, p, at, dir); err != nil {
			return err
		}
		for i := range at.gates {
			if err := gate(ctx, p, at, i, program, keys); err != nil {
				return err
			}
		}
		if err := balance(ctx, p, at, dir); err != nil {
			return err
		}
		fmt.Fprintf(out, "\nOpen http://%s. Ctrl-C stops everything.\n", strings.Replace(at.visitors, "127.0.0.1", "localhost", 1))
		return p.Wait(ctx)
	})
}

// keysFile makes the keys of the tickets: each gate has to read what the other
// has written.
func keysFile(ctx context.Context, program, dir string) (string, error) {
	key, err := exec.CommandContext(ctx, program, "keygen").Output()
	if err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	path := filepath.Join(dir, "cookie.keys")
	if err := os.WriteFile(path, key, 0o600); err != nil {
		return "", fmt.Errorf("writing the key: %w", err)
	}
	return path, nil
}

func redis(ctx context.Context, p *stage.Processes, at addresses, dir string) error {
	host, port, err := net.SplitHostPort(at.redis)
	if err != nil {
		return fmt.Errorf("reading the address of Redis: %w", err)
	}
	if _, err := p.Start("redis", true, nil, "redis-server", "--bind", host, "--port", port, "--save", "", "--dir", dir); err != nil {
		return err
	}
	return p.Await(ctx, "Redis", func() bool { return stage.Listening(at.redis) })
}

func gate(ctx context.Context, p *stage.Processes, at addresses, i int, program, keys string) error {
	name := fmt.Sprintf("gate%d", i+1)
	args := []string{
		"serve",
		"--origin", "http://" + at.shop,
		"--store", "redis://" + at.redis,
		"--cookie-keys-file", keys,
		"--trusted-proxies", "127.0.0.1/32",
		"--total-active-users", "2",
		"--new-users-per-minute", "60",
		"--session-duration", "1m",
		"--refresh-interval", "5s",
		"--bucket", bucket.String(),
		"--enabled-origin-commands", "revoke",
		"--drain-delay", "2s",
		"--log-level", "warn",
		"--state-dir", filepath.Join(p.Dir, name),
		"--listen", at.gates[i],
		"--admin", at.admins[i],
	}
	process, err := p.Start(name, false, nil, program, args...)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "%s: process %d, admin API at http://%s\n", name, process.Pid, at.admins[i])
	return p.Await(ctx, name, func() bool { return stage.Answers("http://" + at.admins[i] + "/readyz") })
}

func balance(ctx context.Context, p *stage.Processes, at addresses, dir string) error {
	path := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(path, balancer, 0o600); err != nil {
		return fmt.Errorf("writing the balancer's configuration: %w", err)
	}
	env := []string{"VISITORS=" + at.visitors}
	for i := range at.gates {
		_, port, err := net.SplitHostPort(at.admins[i])
		if err != nil {
			return fmt.Errorf("reading an admin address: %w", err)
		}
		env = append(env, fmt.Sprintf("GATE%d=%s", i+1, at.gates[i]), fmt.Sprintf("ADMIN%d=%s", i+1, port))
	}
	if _, err := p.Start("haproxy", true, env, "haproxy", "-db", "-f", path); err != nil {
		return err
	}
	return p.Await(ctx, "HAProxy", func() bool { return stage.Listening(at.visitors) })
}
