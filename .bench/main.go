// Command bench compares whole processes by the processor time that a request
// costs them: the gate against the same reverse proxy without a gate, against
// Caddy, nginx and HAProxy, and against a handler that writes the gate's own bytes. It
// also measures what event streams cost the gate, and what those who are in wait for in
// a flood.
//
//	bench compare   runs the comparison; make bench-http calls it
//	bench streams   measures event streams and idle connections; make bench-streams calls it
//	bench flood     has visitors browse while a flood polls; make bench-flood calls it
//	bench polls     the flood
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
		return fmt.Errorf("which part? compare, streams, flood, polls, origin, tuned, bare or answer")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "compare":
		return compareCommand(ctx, flags, args[1:])
	case "streams":
		return streamsCommand(ctx, flags, args[1:])
	case "flood":
		return floodCommand(ctx, flags, args[1:])
	case "polls":
		to, name := flags.String("to", "", "the gate's `host:port`"), flags.String("flood", "http1", "`which`")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return flood(ctx, *to, *name)
	case "origin":
		return serveSite(ctx)
	case "tuned", "bare":
		to := flags.String("origin", "", "the origin's `URL`")
		cert := flags.String("cert", "", "a `file` with the certificate, to serve TLS; of bare only")
		key := flags.String("key", "", "a `file` with the certificate's key")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return serveProxy(ctx, args[0], *to, *cert, *key)
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
	flags.StringVar(&c.gate, "gate", "bin/fairdoor", "the gate's `program`")
	flags.StringVar(&c.wrk, "wrk", "wrk", "the load generator's `program`")
	flags.StringVar(&c.h2load, "h2load", "h2load", "the `program` that generates load of HTTP/2")
	flags.StringVar(&c.caddy, "caddy", "", "Caddy's `program`; without it Caddy is left out")
	flags.StringVar(&c.nginx, "nginx", "nginx", "nginx's `program`; left out if empty")
	flags.StringVar(&c.haproxy, "haproxy", "haproxy", "HAProxy's `program`; left out if empty")
	flags.StringVar(&c.trials, "trials", allTrials, "`which` trials to make, by commas")
	flags.IntVar(&c.rounds, "rounds", 20, "how often each server is measured")
	flags.IntVar(&c.seconds, "seconds", 2, "how long each time, in `seconds`")
	flags.StringVar(&c.raw, "raw", "", "a `file` for the figures of every round")
	flags.StringVar(&c.readme, "readme", "", "a `file` whose table of these figures is written anew")
	return judged(ctx, flags, args, c.run)
}

// streamsCommand reads the flags of streams and runs it.
func streamsCommand(ctx context.Context, flags *flag.FlagSet, args []string) error {
	c := streaming{out: os.Stdout}
	flags.StringVar(&c.gate, "gate", "bin/fairdoor", "the gate's `program`")
	flags.IntVar(&c.streams, "streams", 100_000, "how many event streams are open, each on a connection of its own")
	flags.IntVar(&c.shared, "shared", 100_000, "how many event streams are open by HTTP/2, a hundred on a connection")
	flags.IntVar(&c.idle, "idle", 20_000, "how many connections are kept without a request, no more than streams")
	return judged(ctx, flags, args, c.run)
}

// floodCommand reads the flags of flood and runs it.
func floodCommand(ctx context.Context, flags *flag.FlagSet, args []string) error {
	var d deluge
	flags.StringVar(&d.gate, "gate", "bin/fairdoor", "the gate's `program`")
	floods := flags.String("floods", "", "`which`, by commas; all by default")
	flags.IntVar(&d.visitors, "visitors", 200, "how many are in and browse")
	flags.IntVar(&d.rounds, "rounds", 1, "how often each is measured, with the flood and without")
	flags.IntVar(&d.seconds, "seconds", 5, "how long each time, in `seconds`")
	return judged(ctx, flags, args, func(ctx context.Context) (missed int, err error) {
		if d.torrents, err = torrentsNamed(*floods); err != nil {
			return 0, err
		}
		return d.run(ctx)
	})
}

// judged reads the flags, and strict with them, and runs what measures and returns how many targets were missed.
func judged(ctx context.Context, flags *flag.FlagSet, args []string, run func(context.Context) (int, error)) error {
	strict := flags.Bool("strict", false, "fail when a target is missed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	missed, err := run(ctx)
	if err == nil && *strict && missed > 0 {
		err = fmt.Errorf("%d targets missed", missed)
	}
	return err
}
