package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// gogc is the collector's setting for every server that is measured, unless they
// run as they come.
const gogc = "GOGC=400"

// comparison is what the command line asks for.
type comparison struct {
	gate, caddy     string
	trials          string
	rounds, seconds int
	readme          string
}

// load sends requests to a process for a time, and returns how many were answered.
type load func(ctx context.Context, p *process, span time.Duration) (requests int, err error)

// contender is a server in a trial.
type contender struct {
	name    string
	process *process
	load    load
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
	runtime.GOMAXPROCS(1) // what makes the load does not take the servers' processors: h2load's -t1
	var trials []*trial
	prepare := map[string]func(context.Context, *fleet) ([]*trial, error){"accepted": c.accepted, "tls": c.overTLS, "queued": c.queued}
	for name := range strings.SplitSeq(c.trials, ",") {
		if prepare[name] == nil {
			return 0, fmt.Errorf("there is no trial %q", name)
		}
		made, err := c.measureFleet(ctx, prepare[name])
		if err != nil {
			return 0, err
		}
		trials = append(trials, made...)
	}
	table, missed := c.report(trials)
	fmt.Print(table)
	if c.caddy == "" {
		fmt.Println("\nCaddy is left out: there is no program of it.")
	}
	return missed, writeReadme(c.readme, table)
}

// measureFleet starts the servers of some trials, measures them and ends them.
func (c *comparison) measureFleet(ctx context.Context, prepare func(context.Context, *fleet) ([]*trial, error)) ([]*trial, error) {
	f, err := newFleet()
	if err != nil {
		return nil, err
	}
	defer f.stop()
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
	var requests int
	used, err := one.process.spends(func() (err error) {
		requests, err = one.load(ctx, one.process, span)
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case requests == 0:
		return 0, errors.New("no request was answered")
	}
	return 1000 * used.total() / float64(requests), nil
}

// ratios are the costs divided by those of another in the same rounds.
func (one *contender) ratios(other *contender) []float64 {
	ratios := make([]float64, len(one.costs))
	for i := range ratios {
		ratios[i] = one.costs[i] / other.costs[i]
	}
	return ratios
}

// writeReadme puts the table between the two comments that a document has for it.
func writeReadme(file, table string) error {
	if file == "" {
		return nil
	}
	const begin, end = "<!-- make bench-http -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	before, rest, begins := strings.Cut(string(text), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return errors.New("the document has no place for the figures")
	}
	if err := os.WriteFile(file, []byte(before+begin+"\n"+table+"\n"+end+after), 0o644); err != nil {
		return fmt.Errorf("writing the document: %w", err)
	}
	return nil
}
