package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// gogc is the collector's setting for every server that is measured, unless they
// run as they come.
const gogc = "GOGC=400"

// comparison is what the command line asks for.
type comparison struct {
	gate, wrk, h2load     string
	caddy, nginx, haproxy string
	trials                string
	rounds, seconds       int
	raw, readme           string
}

// contender is a server in a trial.
type contender struct {
	name    string
	process *process
	load    func(ctx context.Context, p *process, span time.Duration) (requests int, err error)
	limit   float64   // of the gate's cost divided by this one's; 0 for none
	costs   []float64 // microseconds a request, by round
}

// trial is a set of servers that are measured in turn. The first is the gate.
type trial struct {
	title      string
	contenders []*contender
}

// allTrials are the names of the trials.
const allTrials = "accepted,tls,queued"

// run makes all trials and prints what came out. It returns how many targets
// were missed.
func (c *comparison) run(ctx context.Context) (missed int, err error) {
	if c.rounds < 1 || c.seconds < 1 {
		return 0, errors.New("-rounds and -seconds are at least 1")
	}
	if c.readme != "" && c.trials != allTrials {
		return 0, fmt.Errorf("-readme needs all trials (-trials %s): it writes the whole table", allTrials)
	}
	runtime.GOMAXPROCS(1) // what makes the load does not take the servers' processors: wrk's -t1
	dir, err := os.MkdirTemp("", "fairdoor-bench-")
	if err != nil {
		return 0, fmt.Errorf("making a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	var trials []*trial
	prepare := map[string]func(context.Context, *fleet) ([]*trial, error){"accepted": c.accepted, "tls": c.overTLS, "queued": c.queued}
	for name := range strings.SplitSeq(c.trials, ",") {
		if prepare[name] == nil {
			return 0, fmt.Errorf("there is no trial %q", name)
		}
		f := &fleet{dir: filepath.Join(dir, name)}
		made, err := c.measureFleet(ctx, f, prepare[name])
		if err != nil {
			return 0, err
		}
		trials = append(trials, made...)
	}
	if err := errors.Join(c.writeRaw(trials), c.writeReadme(trials)); err != nil {
		return 0, err
	}
	return c.report(os.Stdout, trials), nil
}

// measureFleet starts the servers of some trials, measures them and ends them.
func (c *comparison) measureFleet(ctx context.Context, f *fleet, prepare func(context.Context, *fleet) ([]*trial, error)) ([]*trial, error) {
	defer f.stop()
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a directory: %w", err)
	}
	trials, err := prepare(ctx, f)
	if err != nil {
		return nil, err
	}
	return trials, c.measure(ctx, trials)
}

// measure takes every contender once a round, in an order that turns round each
// time, so that what slows the machine down for a while slows all of them. The
// first round, number 0, warms them up and does not count.
func (c *comparison) measure(ctx context.Context, trials []*trial) error {
	var all []*contender
	for _, t := range trials {
		all = append(all, t.contenders...)
	}
	for round := range c.rounds + 1 {
		for i := range all {
			one := all[i]
			if round%2 == 1 {
				one = all[len(all)-1-i]
			}
			cost, err := one.measure(ctx, time.Duration(c.seconds)*time.Second)
			if err != nil {
				return fmt.Errorf("measuring %s: %w", one.name, err)
			}
			if round > 0 {
				one.costs = append(one.costs, cost)
			}
		}
		progress("%s: round %d of %d", trials[0].title, round, c.rounds)
	}
	progress("")
	return nil
}

// measure returns the processor time that a request costs, in microseconds.
func (one *contender) measure(ctx context.Context, span time.Duration) (float64, error) {
	before, err := one.process.cpu()
	if err != nil {
		return 0, err
	}
	requests, err := one.load(ctx, one.process, span)
	if err != nil {
		return 0, err
	}
	after, err := one.process.cpu()
	switch {
	case err != nil:
		return 0, err
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case requests == 0:
		return 0, errors.New("no request was answered")
	}
	return float64((after-before)/time.Microsecond) / float64(requests), nil
}

// progress rewrites one line where somebody is looking.
func progress(format string, args ...any) {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(os.Stderr, "\r\033[K"+format, args...)
	}
}
