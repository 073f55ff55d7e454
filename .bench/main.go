// Command bench compares whole processes by the processor time that a request
// costs them: the gate against the same reverse proxy without a gate, against
// Caddy, nginx and HAProxy, and against a handler that writes the gate's own bytes. It
// also measures what event streams cost the gate, and how long those who are in wait in
// a flood.
//
//	bench compare   runs the comparison; make bench-http calls it
//	bench streams   measures event streams; make bench-streams calls it
//	bench flood     has visitors browse while a flood polls; make bench-flood calls it
//	bench outage    kills one of two gates behind a balancer; make bench-million calls it
//
// These start the others, which are of no use by themselves:
//
//	bench polls     the flood
//	bench origin    a site that answers with 1 KiB
//	bench tuned     proxy/origin in a plain server: the gate's proxy without a gate
//	bench bare      httputil.ReverseProxy, tuned in the same way
//	bench answer    writes one answer, read from a file
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
		return fmt.Errorf("which part? compare, streams, flood, outage, polls, origin, tuned, bare or answer")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "compare":
		var c comparison
		flags.StringVar(&c.gate, "gate", "bin/fairdoor", "the gate's `program`")
		flags.StringVar(&c.caddy, "caddy", "", "Caddy's `program`; without it Caddy is left out")
		flags.StringVar(&c.trials, "trials", allTrials, "`which` trials to make, by commas")
		flags.IntVar(&c.rounds, "rounds", 20, "how often each server is measured")
		flags.IntVar(&c.seconds, "seconds", 2, "how long each time, in `seconds`")
		flags.StringVar(&c.readme, "readme", "", "a `file` whose table of these figures is written anew")
		return judged(ctx, flags, args, c.run)
	case "streams":
		var c streaming
		flags.StringVar(&c.gate, "gate", "bin/fairdoor", "the gate's `program`")
		flags.IntVar(&c.streams, "streams", 100_000, "how many event streams are open, each on a connection of its own")
		flags.IntVar(&c.shared, "shared", 100_000, "how many event streams are open by HTTP/2, a hundred on a connection")
		return judged(ctx, flags, args, c.run)
	case "flood":
		var d deluge
		flags.StringVar(&d.gate, "gate", "bin/fairdoor", "the gate's `program`")
		flags.StringVar(&d.floods, "floods", "", "`which`, by commas; all by default")
		flags.IntVar(&d.visitors, "visitors", 200, "how many are in and browse")
		flags.IntVar(&d.rounds, "rounds", 1, "how often each is measured, with the flood and without")
		return judged(ctx, flags, args, d.run)
	case "outage":
		var o outage
		flags.StringVar(&o.gate, "gate", "bin/fairdoor", "the gate's `program`")
		flags.IntVar(&o.sockets, "sockets", 20_000, "how many files a program may open: about as many wait")
		flags.IntVar(&o.visitors, "visitors", 200, "how many are in and browse")
		return judged(ctx, flags, args, o.run)
	}
	return serve(ctx, flags, args)
}

// judged reads the flags, and strict with them, and runs what measures and returns how many targets
// were missed.
func judged(ctx context.Context, flags *flag.FlagSet, args []string, run func(context.Context) (int, error)) error {
	strict := flags.Bool("strict", false, "fail when a target is missed")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	missed, err := run(ctx)
	if err == nil && *strict && missed > 0 {
		err = fmt.Errorf("%d targets missed", missed)
	}
	return err
}

// progress rewrites one line where somebody is looking.
func progress(format string, args ...any) {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(os.Stderr, "\r\033[K"+format, args...)
	}
}
