// Command fairdoor is a waiting room in front of a site: a reverse proxy that
// lets in no more people than the site can serve, and keeps everyone else in an
// honest line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	_ "golang.org/x/crypto/x509roots/fallback" // so that certificates can be checked where the system has no list of roots, as in a container from scratch

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // before anyone can see that the first has come: a second one ends the program at once
		stop()
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // the command line or the configuration is wrong
)

// run runs the program until it is done or ctx ends, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var faults config.Faults
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &faults):
		fmt.Fprintln(stderr, faults.Error())
		return exitUsage
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "fairdoor: %v\n", err)
		return exitUsage
	default:
		fmt.Fprintf(stderr, "fairdoor: %v\n", err)
		return exitFailed
	}
}
