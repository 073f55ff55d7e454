// Package stage is what the examples have in common: a small shop, and the
// program fairdoor in front of it or of another site. Nothing in it is needed to use Fairdoor.
package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Addresses are where an example listens.
type Addresses struct {
	Shop  string // the shop, or what else is behind the gate
	Gate  string // what visitors open
	Admin string // the gate's admin API
}

// Usual are the addresses of the examples.
func Usual() Addresses {
	return Addresses{Shop: "127.0.0.1:3000", Gate: "127.0.0.1:8080", Admin: "127.0.0.1:9090"}
}

// Main runs an example until Ctrl-C, and returns its exit code.
func Main(run func(ctx context.Context, out io.Writer) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Run serves the shop and runs `fairdoor serve` with the arguments, until ctx
// ends or the gate fails.
func Run(ctx context.Context, out io.Writer, at Addresses, args ...string) error {
	return RunSite(ctx, out, at, Shop(), args...)
}

// RunSite is Run with another site in place of the shop.
func RunSite(ctx context.Context, out io.Writer, at Addresses, site http.Handler, args ...string) error {
	return WithSite(at.Shop, site, func() error { return gate(ctx, out, args) })
}

// WithSite serves a site over http while do runs.
func WithSite(address string, site http.Handler, do func() error) error {
	return withServer(address, site, (*http.Server).Serve, do)
}

// WithTLSSite is WithSite over https, with the files of a certificate and its key.
func WithTLSSite(address, certificate, key string, site http.Handler, do func() error) error {
	serve := func(s *http.Server, l net.Listener) error { return s.ServeTLS(l, certificate, key) }
	return withServer(address, site, serve, do)
}

func withServer(address string, site http.Handler, serve func(*http.Server, net.Listener) error, do func() error) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("opening the site: %w", err)
	}
	server := &http.Server{Handler: site, ReadHeaderTimeout: 5 * time.Second}
	closed := make(chan error, 1)
	go func() { closed <- serve(server, l) }()
	err = errors.Join(do(), server.Close())
	if siteErr := <-closed; !errors.Is(siteErr, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("running the site: %w", siteErr))
	}
	return err
}

// Program builds fairdoor and returns its path, below the module's root: where it is there as it
// would be built, go build leaves it. What it builds comes there as a whole, so that examples may
// run at once.
func Program(ctx context.Context) (string, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the module: %w", err)
	}
	dir := filepath.Join(filepath.Dir(strings.TrimSpace(string(mod))), ".cache", "examples")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("building fairdoor: %w", err)
	}
	path := filepath.Join(dir, "fairdoor")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/fairdoor-gate/fairdoor/cmd/fairdoor")
	build.Env = append(os.Environ(), "GOTMPDIR="+dir)
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building fairdoor: %w\n%s", err, text)
	}
	return path, nil
}

func gate(ctx context.Context, out io.Writer, args []string) error {
	dir, err := os.MkdirTemp("", "fairdoor-example-")
	if err != nil {
		return fmt.Errorf("making a state directory: %w", err)
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(out, "Building fairdoor, then running it:\n\n  fairdoor serve %s\n\n", strings.Join(args, " "))
	program, err := Program(ctx)
	if err != nil {
		return err
	}
	serve := exec.CommandContext(ctx, program, append([]string{"serve"}, args...)...)
	serve.Stdout, serve.Stderr = out, out
	serve.Env = append(os.Environ(), "STATE_DIRECTORY="+dir)
	serve.Cancel = func() error { return serve.Process.Signal(os.Interrupt) }
	serve.WaitDelay = 10 * time.Second
	if err := serve.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("running the gate: %w", err)
	}
	return nil
}
