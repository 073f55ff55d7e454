package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"text/tabwriter"
	"time"
)

const (
	warmsUp  = 2 * time.Second // how long the visitors browse before they are measured
	settles  = 8 * time.Second // how long a flood is given to find its pace
	spans    = 5 * time.Second // how long is measured each time
	interval = 5 * time.Second // how often those who wait check in
	waiting  = 50              // how many wait and ask when they are told
)

// The targets of a flood.
const (
	mostSlower = 3.0 // the p95 of those who are in, divided by what it is without the flood
	mostMemory = 400 // of the gate, in MiB
)

// deluge is what the command line asks for: floods that ask as fast as they can, while visitors
// who are in browse.
type deluge struct {
	gate             string
	floods           string
	visitors, rounds int
}

// spell is a part of a round, with the flood or without it.
type spell struct {
	in, direct *seen   // of the gate's visitors, and of those who ask the origin itself
	waiters    *seen   // of those who wait and come as told
	polls      tally   // in that time, each second
	cpu        float64 // of the gate, of one processor
	memory     float64 // of the gate, at most, in MiB
}

// gateTrial is a gate in one round, and its visitors.
type gateTrial struct {
	*fleet
	gate                *process
	in, direct, waiters browsers
}

// run makes the rounds and prints what came out. It returns how many targets were
// missed.
func (d *deluge) run(ctx context.Context) (missed int, err error) {
	picked, err := torrentsNamed(d.floods)
	if err != nil {
		return 0, err
	}
	if d.rounds < 1 {
		return 0, errors.New("-rounds is at least 1")
	}
	fmt.Printf("%d visitors who are in, each with a connection, ask for a page every %v to %v, and %d who wait come as told, while a flood asks as fast as it can.\n"+
		"The gate has processor 0; the visitors, the origin and the flood have the others. Latency is from when a request was due.\n"+
		"%d rounds of %v; medians of the rounds' figures, in milliseconds. \"origin\" are visitors who ask the origin itself: what the load's side adds.\n\n",
		d.visitors, leastThought, mostThought, waiting, d.rounds, spans)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "flood\tcalm p50\tp95\tflood p50\tp95\tp99\tratio\torigin p95\tfailed\twaiting failed\tanswers/s\tshed/s\tprocessor\tMiB\t")
	var verdicts []string
	for _, t := range picked {
		var calm, flooded []spell
		for round := range d.rounds {
			progress("%s, round %d of %d", t.title, round+1, d.rounds)
			one, other, err := d.round(ctx, t)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", t.title, err)
			}
			calm, flooded = append(calm, one), append(flooded, other)
		}
		verdicts = append(verdicts, row(table, t, calm, flooded)...)
	}
	progress("")
	_ = table.Flush()
	for _, v := range verdicts {
		fmt.Println(v)
	}
	return len(verdicts), nil
}

// round has visitors browse at a new gate without a flood, and then with it.
func (d *deluge) round(ctx context.Context, t torrent) (calm, flooded spell, err error) {
	f, err := newFleet()
	if err != nil {
		return calm, flooded, err
	}
	defer f.stop()
	one := &gateTrial{fleet: f}
	defer one.close()
	if err := one.open(ctx, d, t.secure()); err != nil {
		return calm, flooded, err
	}
	one.in.browse(ctx, warmsUp)
	if calm, err = one.spell(ctx, nil); err != nil {
		return calm, flooded, err
	}
	flooded, err = one.flooded(ctx, t.name)
	return calm, flooded, err
}

// open starts the gate, and has the visitors come.
func (t *gateTrial) open(ctx context.Context, d *deluge, secure bool) error {
	origin, err := t.part(ctx, nil, "origin")
	if err != nil {
		return err
	}
	s := t.fleet.gate(d.gate, origin, secure, fmt.Sprint("--total-active-users=", d.visitors), "--new-users-per-minute=1000000", fmt.Sprint("--refresh-interval=", interval))
	s.command = append([]string{"taskset", "-c", "0"}, s.command...)
	if t.gate, err = t.start(ctx, s); err != nil {
		return err
	}
	if t.in, err = open(ctx, t.gate, d.visitors); err != nil {
		return err
	}
	if t.direct, err = open(ctx, origin, d.visitors/4); err != nil {
		return err
	}
	t.waiters, err = queue(ctx, t.gate, waiting, func(int) net.IP { return nil })
	return err
}

func (t *gateTrial) close() {
	for _, all := range []browsers{t.in, t.direct, t.waiters} {
		all.close()
	}
}

// flooded is a spell with a flood that has found its pace.
func (t *gateTrial) flooded(ctx context.Context, name string) (spell, error) {
	self, err := os.Executable()
	if err != nil {
		return spell{}, fmt.Errorf("finding this program: %w", err)
	}
	p, err := t.start(ctx, server{command: []string{"chrt", "--other", "0", self, "polls", "-listen", "ADDRESS", "-to", t.gate.url(), "-flood", name}})
	if err != nil {
		return spell{}, err
	}
	defer p.stop()
	first := t.browse(ctx, settles) // the flood comes up: this is not measured, but nobody may fail
	s, err := t.spell(ctx, p)
	if err == nil {
		s.in.failures = append(s.in.failures, first.in.failures...)
		s.waiters.failures = append(s.waiters.failures, first.waiters.failures...)
	}
	return s, err
}

// browse has all visitors browse for a time.
func (t *gateTrial) browse(ctx context.Context, span time.Duration) (s spell) {
	direct, waiters := make(chan *seen, 1), make(chan *seen, 1)
	go func() { direct <- t.direct.browse(ctx, span) }()
	go func() { waiters <- t.waiters.browse(ctx, span) }()
	s.in = t.in.browse(ctx, span)
	s.direct, s.waiters = <-direct, <-waiters
	return s
}

// spell has the visitors browse, with a flood or nil, and measures.
func (t *gateTrial) spell(ctx context.Context, polls *process) (s spell, err error) {
	var from, to tally
	if polls != nil {
		if from, err = askFlood(ctx, polls); err != nil {
			return s, err
		}
	}
	begun := time.Now()
	used, err := t.gate.spends(func() error {
		s = t.browse(ctx, spans)
		return ctx.Err()
	})
	if err != nil {
		return s, err
	}
	took := time.Since(begun).Seconds()
	s.cpu = used.total() / 1000 / took
	if polls != nil {
		if to, err = askFlood(ctx, polls); err != nil {
			return s, err
		}
	}
	s.polls = tally{(to.Answered - from.Answered) / took, (to.Closed - from.Closed) / took}
	_, s.memory, err = t.gate.memory()
	return s, err
}

// row writes what came out of a torrent, and returns the targets that were missed.
func row(w io.Writer, t torrent, calm, flooded []spell) (missed []string) {
	var ratios []float64
	for i := range calm {
		ratios = append(ratios, latency(.95)(flooded[i])/latency(.95)(calm[i]))
	}
	miss := func(format string, args ...any) {
		missed = append(missed, t.title+": MISSED: "+fmt.Sprintf(format, args...))
	}
	var failed, lost int
	for _, s := range flooded {
		failed, lost = failed+len(s.in.failures), lost+len(s.waiters.failures)
		if n := len(s.in.failures); n > 0 {
			miss("%d requests of those who are in failed, target 0; the first: %v", n, s.in.failures[0])
		}
		if n := len(s.waiters.failures); n > 0 {
			miss("%d requests of those who wait and come as told failed, target 0; the first: %v", n, s.waiters.failures[0])
		}
	}
	ratio, memory := quantile(ratios, .5), medianOf(flooded, func(s spell) float64 { return s.memory })
	if ratio > mostSlower {
		miss("p95 with the flood / without: %.2f, target ≤ %.1f", ratio, mostSlower)
	}
	if memory > mostMemory {
		miss("the gate's memory: %.0f MiB, target ≤ %d", memory, mostMemory)
	}
	fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%d\t%d\t%.0f\t%.0f\t%.0f %%\t%.0f\t\n", t.title,
		medianOf(calm, latency(.5)), medianOf(calm, latency(.95)), medianOf(flooded, latency(.5)), medianOf(flooded, latency(.95)), medianOf(flooded, latency(.99)), ratio,
		medianOf(flooded, func(s spell) float64 { return quantile(s.direct.latencies, .95) }), failed, lost,
		medianOf(flooded, func(s spell) float64 { return s.polls.Answered }), medianOf(flooded, func(s spell) float64 { return s.polls.Closed }),
		100*medianOf(flooded, func(s spell) float64 { return s.cpu }), memory)
	return missed
}

// latency returns the func that tells a quantile of the latencies of those who are in.
func latency(q float64) func(spell) float64 {
	return func(s spell) float64 { return quantile(s.in.latencies, q) }
}
