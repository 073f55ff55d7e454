package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// settles is how long a flood is given to find its pace, and the gate to find its own again.
const settles = 8 * time.Second

// The targets of a flood.
const (
	mostSlower = 3.0       // the p99 of those who are in, divided by what it is without the flood
	mostMemory = 400 << 20 // of the gate, in bytes
)

// deluge is what the command line asks for: a flood of connections that poll as
// fast as they can, while visitors who are in browse.
type deluge struct {
	gate                  string
	connections, visitors int
	rounds, seconds       int
}

// spell is a part of a round, with the flood or without it.
type spell struct {
	in, direct *seen   // of the gate's visitors, and of those who ask the origin itself
	polls      tally   // in that time
	cpu        float64 // of the gate, of one processor
}

// run makes the rounds and prints what came out. It returns how many targets were
// missed.
func (d *deluge) run(ctx context.Context) (missed int, err error) {
	if d.rounds < 1 || d.seconds < 1 {
		return 0, errors.New("-rounds and -seconds are at least 1")
	}
	dir, err := os.MkdirTemp("", "anteroom-bench-")
	if err != nil {
		return 0, fmt.Errorf("making a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	f := &fleet{dir: dir}
	defer f.stop()
	origin, err := f.part(ctx, gogc, "origin")
	if err != nil {
		return 0, err
	}
	gate, err := f.keep(start(ctx, nil, logged, "taskset", "-c", "0", d.gate, "serve",
		"--listen=127.0.0.1:0", "--admin=127.0.0.1:0", "--state-dir="+filepath.Join(dir, "state"), "--log-format=json",
		"--origin=http://"+origin.addr, fmt.Sprint("--total-active-users=", d.visitors), "--new-users-per-minute=1000000", "--session-duration=24h"))
	if err != nil {
		return 0, err
	}
	in, err := open(gate.addr, d.visitors, true)
	if err != nil {
		return 0, err
	}
	defer in.close()
	direct, err := open(origin.addr, d.visitors/4, false)
	if err != nil {
		return 0, err
	}
	defer direct.close()
	var calm, flooded []spell
	for round := range d.rounds + 1 {
		in.browse(ctx, settles) // until nothing is left of the flood before
		one, err := d.spell(ctx, gate, in, direct, nil)
		if err != nil {
			return 0, err
		}
		other, err := d.flooded(ctx, gate, in, direct)
		if err != nil {
			return 0, err
		}
		if round > 0 { // the first round warms up
			calm, flooded = append(calm, one), append(flooded, other)
		}
		progress("round %d of %d", round, d.rounds)
	}
	progress("")
	memory, err := gate.memory("VmHWM")
	if err != nil {
		return 0, err
	}
	return d.report(os.Stdout, calm, flooded, memory), nil
}

// flooded is a spell with a flood that has found its pace.
func (d *deluge) flooded(ctx context.Context, gate *process, in, direct browsers) (spell, error) {
	self, err := os.Executable()
	if err != nil {
		return spell{}, fmt.Errorf("finding this program: %w", err)
	}
	p, err := start(ctx, nil, anAddress, "chrt", "--other", "0", self, "polls", "-to", gate.addr, "-connections", strconv.Itoa(d.connections))
	if err != nil {
		return spell{}, err
	}
	defer p.stop()
	first := in.browse(ctx, settles) // the flood comes up: this is not measured, but nobody may fail
	s, err := d.spell(ctx, gate, in, direct, p)
	if err == nil {
		s.in.failures = append(s.in.failures, first.failures...)
	}
	return s, err
}

// spell has the visitors browse, with a flood or nil, and measures.
func (d *deluge) spell(ctx context.Context, gate *process, in, direct browsers, polls *process) (s spell, err error) {
	span := time.Duration(d.seconds) * time.Second
	before, err := gate.cpu()
	if err != nil {
		return s, err
	}
	var from tally
	if polls != nil {
		if from, err = askFlood(ctx, polls); err != nil {
			return s, err
		}
	}
	begun, others := time.Now(), make(chan *seen, 1)
	go func() { others <- direct.browse(ctx, span) }()
	s.in = in.browse(ctx, span)
	s.direct = <-others
	took := time.Since(begun)
	after, err := gate.cpu()
	if err != nil {
		return s, err
	}
	s.cpu = float64(after-before) / float64(took)
	if polls != nil {
		to, err := askFlood(ctx, polls)
		if err != nil {
			return s, err
		}
		seconds := took.Seconds()
		each := func(now, then int64) int64 { return int64(float64(now-then) / seconds) }
		s.polls = tally{to.Open, each(to.Answered, from.Answered), each(to.Closed, from.Closed), each(to.Failed, from.Failed)}
	}
	return s, ctx.Err()
}

// report prints the figures and the verdicts, and returns how many targets were
// missed.
func (d *deluge) report(w io.Writer, calm, flooded []spell, memory int64) (missed int) {
	fmt.Fprintf(w, "%d visitors who are in, each with a connection, ask for a page every %v to %v; %d connections poll as fast as they can, one in %d without cookies.\n"+
		"The gate has processor 0; the visitors, the origin and the flood have the others. Latency is from when a request was due.\n"+
		"%d interleaved rounds of %d s; medians of the rounds' figures, in milliseconds. \"origin\" are visitors who ask the origin itself: what the load's side adds.\n\n",
		d.visitors, leastThought, mostThought, d.connections, withoutCookies, d.rounds, d.seconds)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\trequests\tfailed\tp50\tp99\tmax\torigin p50\tp99\tgate's processor\tanswers/s\tclosed/s\tconnections\t")
	for _, row := range []struct {
		name   string
		spells []spell
	}{{"calm", calm}, {"flood", flooded}} {
		s := row.spells
		fmt.Fprintf(table, "%s\t%d\t%d\t%.2f\t%.2f\t%.1f\t%.2f\t%.2f\t%.0f %%\t%.0f\t%.0f\t%.0f\t\n", row.name,
			total(s, func(s spell) int { return len(s.in.latencies) }), total(s, func(s spell) int { return len(s.in.failures) }),
			medianOf(s, of(.5)), medianOf(s, of(.99)), medianOf(s, of(1)),
			medianOf(s, func(s spell) float64 { return quantile(s.direct.latencies, .5) }), medianOf(s, func(s spell) float64 { return quantile(s.direct.latencies, .99) }),
			100*medianOf(s, func(s spell) float64 { return s.cpu }),
			medianOf(s, func(s spell) float64 { return float64(s.polls.Answered) }), medianOf(s, func(s spell) float64 { return float64(s.polls.Closed) }),
			medianOf(s, func(s spell) float64 { return float64(s.polls.Open) }))
	}
	_ = table.Flush()
	var ratios []float64
	for i := range calm {
		ratios = append(ratios, of(.99)(flooded[i])/of(.99)(calm[i]))
	}
	failures := total(flooded, func(s spell) int { return len(s.in.failures) })
	fmt.Fprintln(w)
	for _, t := range []struct {
		text string
		met  bool
	}{
		{fmt.Sprintf("p99 with the flood / without, in the same round: %.2f (%.2f to %.2f), target ≤ %.1f", quantile(ratios, .5), quantile(ratios, .25), quantile(ratios, .75), mostSlower), quantile(ratios, .5) <= mostSlower},
		{fmt.Sprintf("failed requests of those who are in: %d, target 0", failures), failures == 0},
		{fmt.Sprintf("the gate's memory at most: %d MiB, target < %d", memory>>20, mostMemory>>20), memory < mostMemory},
	} {
		verdict := "met"
		if !t.met {
			verdict, missed = "MISSED", missed+1
		}
		fmt.Fprintf(w, "%s: %s\n", t.text, verdict)
	}
	for _, s := range flooded {
		for _, err := range s.in.failures[:min(3, len(s.in.failures))] {
			fmt.Fprintf(w, "  failed: %v\n", err)
		}
	}
	return missed
}

// of returns the func that tells a quantile of the latencies of those who are in.
func of(q float64) func(spell) float64 {
	return func(s spell) float64 { return quantile(s.in.latencies, q) }
}

func medianOf(spells []spell, figure func(spell) float64) float64 {
	var all []float64
	for _, s := range spells {
		all = append(all, figure(s))
	}
	slices.Sort(all)
	return quantile(all, .5)
}

func total(spells []spell, count func(spell) int) (n int) {
	for _, s := range spells {
		n += count(s)
	}
	return n
}
