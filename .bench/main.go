// Command bench compares whole processes by the processor time that a request
// costs them: the gate against the same reverse proxy without a gate, against
// Caddy, and against a handler that writes the gate's own bytes.
//
//	bench compare   runs the comparison; make bench-http calls it
//	bench origin    a site that answers with 1 KiB
//	bench tuned     proxy/origin in a plain server: the gate's proxy without a gate
//	bench bare      httputil.ReverseProxy, tuned in the same way
//	bench answer    writes one answer, read from a file
//
// The servers listen on a free loopback port and print its address. compare
// starts them; they are of no use by themselves.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("which part? compare, origin, tuned, bare or answer")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "compare":
		return compareCommand(ctx, flags, args[1:])
	case "origin":
		return serveSite(ctx)
	case "tuned", "bare":
		to := flags.String("origin", "", "the origin's `URL`")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return serveProxy(ctx, args[0], *to)
	case "answer":
		file := flags.String("file", "", "the answer, as JSON")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return serveAnswer(ctx, *file)
	}
	return fmt.Errorf("there is no part %q", args[0])
}

// compareCommand reads the flags of compare and runs it.
func compareCommand(ctx context.Context, flags *flag.FlagSet, args []string) error {
	var c comparison
	flags.StringVar(&c.gate, "gate", "bin/anteroom", "the gate's `program`")
	flags.StringVar(&c.wrk, "wrk", "wrk", "the load generator's `program`")
	flags.StringVar(&c.caddy, "caddy", "", "Caddy's `program`; without it Caddy is left out")
	flags.IntVar(&c.rounds, "rounds", 20, "how often each server is measured")
	flags.IntVar(&c.seconds, "seconds", 2, "how long each time, in `seconds`")
	flags.StringVar(&c.raw, "raw", "", "a `file` for the figures of every round")
	strict := flags.Bool("strict", false, "fail when a target is missed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	missed, err := c.run(ctx)
	if err == nil && *strict && missed > 0 {
		err = fmt.Errorf("%d targets missed", missed)
	}
	return err
}
