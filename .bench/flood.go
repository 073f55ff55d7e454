package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"
)

const (
	// warmsUp is how long the visitors browse before they are measured.
	warmsUp = 2 * time.Second

	// settles is how long a flood is given to find its pace.
	settles = 8 * time.Second

	// interval is how often those who wait check in.
	interval = 5 * time.Second

	// waiting is how many wait and ask when they are told.
	waiting = 50
)

// The targets of a flood.
const (
	mostSlower = 3.0       // the p95 of those who are in, divided by what it is without the flood
	mostMemory = 400 << 20 // of the gate, in bytes
)

// deluge is what the command line asks for: floods that ask as fast as they can, while visitors
// who are in browse.
type deluge struct {
	gate            string
	torrents        []torrent
	visitors        int
	rounds, seconds int
}

// spell is a part of a round, with the flood or without it.
type spell struct {
	in, direct *seen   // of the gate's visitors, and of those who ask the origin itself
	waiters    *seen   // of those who wait and come as told
	polls      tally   // in that time, each second
	cpu        float64 // of the gate, of one processor
	memory     int64   // of the gate, at most
}

// gateTrial is a gate in one round, and its visitors.
type gateTrial struct {
	*deluge
	torrent
	gate                *process
	in, direct, waiters browsers
}

// run makes the rounds and prints what came out. It returns how many targets were
// missed.
func (d *deluge) run(ctx context.Context) (missed int, err error) {
	if d.rounds < 1 || d.seconds < 1 {
		return 0, errors.New("-rounds and -seconds are at least 1")
	}
	fmt.Fprintf(os.Stdout, "%d visitors who are in, each with a connection, ask for a page every %v to %v, and %d who wait come as told, while a flood asks as fast as it can.\n"+
		"The gate has processor 0; the visitors, the origin and the flood have the others. Latency is from when a request was due.\n"+
		"%d rounds of %d s; medians of the rounds' figures, in milliseconds. \"origin\" are visitors who ask the origin itself: what the load's side adds.\n\n",
		d.visitors, leastThought, mostThought, waiting, d.rounds, d.seconds)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "flood\tcalm p50\tp95\tflood p50\tp95\tp99\tratio\torigin p95\tfailed\twaiting failed\tanswers/s\tshed/s\tprocessor\tMiB\t")
	var verdicts []string
	for _, t := range d.torrents {
		calm, flooded, err := d.measure(ctx, t)
		if err != nil {
			return 0, err
		}
		verdicts = append(verdicts, d.row(table, t, calm, flooded)...)
	}
	progress("")
	_ = table.Flush()
	for _, v := range verdicts {
		fmt.Println(v)
	}
	return len(verdicts), nil
}

// measure makes the rounds of one torrent.
func (d *deluge) measure(ctx context.Context, t torrent) (calm, flooded []spell, err error) {
	for round := range d.rounds {
		progress("%s, round %d of %d", t.title, round+1, d.rounds)
		one, other, err := d.round(ctx, t)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", t.title, err)
		}
		calm, flooded = append(calm, one), append(flooded, other)
	}
	return calm, flooded, nil
}

// round has visitors browse at a new gate without a flood, and then with it.
func (d *deluge) round(ctx context.Context, t torrent) (calm, flooded spell, err error) {
	dir, err := os.MkdirTemp("", "fairdoor-bench-")
	if err != nil {
		return calm, flooded, fmt.Errorf("making a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	f := &fleet{dir: dir}
	defer f.stop()
	one := &gateTrial{deluge: d, torrent: t}
	if err := one.open(ctx, f); err != nil {
		return calm, flooded, err
	}
	defer one.close()
	one.in.browse(ctx, warmsUp)
	if calm, err = one.spell(ctx, nil); err != nil {
		return calm, flooded, err
	}
	flooded, err = one.flooded(ctx)
	return calm, flooded, err
}

// open starts the gate, and has the visitors come.
func (t *gateTrial) open(ctx context.Context, f *fleet) error {
	origin, err := f.part(ctx, gogc, "origin")
	if err != nil {
		return err
	}
	args := []string{"-c", "0", t.deluge.gate, "serve", "--listen=127.0.0.1:0", "--admin=127.0.0.1:0", "--state-dir=" + filepath.Join(f.dir, "state"), "--log-format=json",
		"--origin=http://" + origin.addr, fmt.Sprint("--total-active-users=", t.visitors), "--new-users-per-minute=1000000", "--session-duration=24h", fmt.Sprint("--refresh-interval=", interval)}
	var cert *certificate
	if t.secure() {
		if cert, err = newCertificate(f.dir); err != nil {
			return err
		}
		args = append(args, "--tls-cert="+cert.cert, "--tls-key="+cert.key)
	}
	if t.gate, err = f.keep(start(ctx, nil, logged, "taskset", args...)); err != nil {
		return err
	}
	t.gate.trust(cert)
	if t.in, err = open(t.gate, t.visitors, true); err != nil {
		return err
	}
	if t.direct, err = open(origin, t.visitors/4, false); err != nil {
		return err
	}
	t.waiters, err = queue(t.gate, waiting)
	return err
}

func (t *gateTrial) close() {
	for _, all := range []browsers{t.in, t.direct, t.waiters} {
		all.close()
	}
}

// flooded is a spell with a flood that has found its pace.
func (t *gateTrial) flooded(ctx context.Context) (spell, error) {
	self, err := os.Executable()
	if err != nil {
		return spell{}, fmt.Errorf("finding this program: %w", err)
	}
	p, err := start(ctx, nil, anAddress, "chrt", "--other", "0", self, "polls", "-to", t.gate.addr, "-flood", t.name)
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
	before, err := t.gate.cpu()
	if err != nil {
		return s, err
	}
	var from tally
	if polls != nil {
		if from, err = askFlood(ctx, polls); err != nil {
			return s, err
		}
	}
	begun := time.Now()
	s = t.browse(ctx, time.Duration(t.seconds)*time.Second)
	took := time.Since(begun)
	after, err := t.gate.cpu()
	if err != nil {
		return s, err
	}
	s.cpu = float64(after-before) / float64(took)
	if polls != nil {
		to, err := askFlood(ctx, polls)
		if err != nil {
			return s, err
		}
		each := func(now, then int64) int64 { return int64(float64(now-then) / took.Seconds()) }
		s.polls = tally{to.Open, each(to.Answered, from.Answered), each(to.Closed, from.Closed), each(to.Failed, from.Failed)}
	}
	if s.memory, err = t.gate.memory("VmHWM"); err != nil {
		return s, err
	}
	return s, ctx.Err()
}

// row writes what came out of a torrent, and returns the targets that were missed.
func (d *deluge) row(w io.Writer, t torrent, calm, flooded []spell) (missed []string) {
	var ratios []float64
	for i := range calm {
		ratios = append(ratios, of(.95)(flooded[i])/of(.95)(calm[i]))
	}
	ratio, failed := quantile(ratios, .5), total(flooded, func(s spell) int { return len(s.in.failures) })
	lost, memory := total(flooded, func(s spell) int { return len(s.waiters.failures) }), medianOf(flooded, func(s spell) float64 { return float64(s.memory) })
	fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%d\t%d\t%.0f\t%.0f\t%.0f %%\t%.0f\t\n", t.title,
		medianOf(calm, of(.5)), medianOf(calm, of(.95)), medianOf(flooded, of(.5)), medianOf(flooded, of(.95)), medianOf(flooded, of(.99)), ratio,
		medianOf(flooded, func(s spell) float64 { return quantile(s.direct.latencies, .95) }), failed, lost,
		medianOf(flooded, func(s spell) float64 { return float64(s.polls.Answered) }), medianOf(flooded, func(s spell) float64 { return float64(s.polls.Closed) }),
		100*medianOf(flooded, func(s spell) float64 { return s.cpu }), memory/(1<<20))
	miss := func(format string, args ...any) {
		missed = append(missed, t.title+": MISSED: "+fmt.Sprintf(format, args...))
	}
	if ratio > mostSlower {
		miss("p95 with the flood / without: %.2f, target ≤ %.1f", ratio, mostSlower)
	}
	if memory > mostMemory {
		miss("the gate's memory: %.0f MiB, target < %d", memory/(1<<20), mostMemory>>20)
	}
	for _, s := range flooded {
		for _, one := range []struct {
			who string
			*seen
		}{{"are in", s.in}, {"wait and come as told", s.waiters}} {
			if n := len(one.failures); n > 0 {
				miss("%d requests of those who %s failed, target 0; the first: %v", n, one.who, one.failures[0])
			}
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
