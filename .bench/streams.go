package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// streaming is what the command line asks for.
type streaming struct {
	gate    string
	streams int // each on a connection of its own
	shared  int // by HTTP/2, a hundred on a connection
	idle    int // connections without a request
	out     io.Writer
	missed  int
}

// What event streams and connections may cost. The times are for 100,000 streams.
const (
	streamLimit = 12   // KiB of the gate's memory a stream
	gateLimit   = 1536 // MiB of the gate's memory with 100,000 streams
	tellLimit   = 200  // ms of one core to tell all the numbers of their room
	idleLimit   = 8    // KiB of a connection without a request, besides net/http's
)

// run measures all, prints what came out, and returns how many targets were missed.
func (c *streaming) run(ctx context.Context) (missed int, err error) {
	c.idle = min(c.idle, c.streams)
	if err := allowFiles(c.streams + 1000); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "fairdoor-bench-")
	if err != nil {
		return 0, fmt.Errorf("making a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	length := 0
	for _, k := range []kind{
		{name: "HTTP/1.1", streams: c.streams, judged: true},
		{name: "HTTP/1.1 over TLS", streams: c.streams, secure: true},
		{name: "HTTP/2, each on a connection of its own", streams: c.streams, secure: true, each: 1},
		{name: "HTTP/2, a hundred on each connection, as a balancer has them", streams: c.shared, secure: true, each: 100},
	} {
		fmt.Fprintf(c.out, "%d event streams, %s\n", k.streams, k.name)
		if length, err = c.measureStreams(ctx, filepath.Join(dir, fmt.Sprint(k.secure, k.each)), k); err != nil {
			return c.missed, fmt.Errorf("measuring streams: %w", err)
		}
	}
	halves := c.streams / 2 // both ends are open files of this process
	fmt.Fprintf(c.out, "a bare loop of write(2), %d bytes to each of %d connections\n", length, halves)
	bare, err := bareWrites(ctx, halves, length)
	if err != nil {
		return c.missed, fmt.Errorf("measuring bare writes: %w", err)
	}
	c.tell(fmt.Sprintf("as much for %d", c.streams), bare.scaled(float64(c.streams)/float64(halves)))
	fmt.Fprintf(c.out, "%d connections without a request, after a waiting visitor's page\n", c.idle)
	if err := c.measureIdle(ctx, dir); err != nil {
		return c.missed, fmt.Errorf("measuring idle connections: %w", err)
	}
	return c.missed, nil
}

// kind is a way of opening streams.
type kind struct {
	name    string
	streams int
	secure  bool
	each    int  // so many streams on each connection, by HTTP/2; 0 for HTTP/1.1
	judged  bool // it has targets
}

// tell prints a figure.
func (c *streaming) tell(what string, value any) { fmt.Fprintf(c.out, "  %-52s %v\n", what, value) }

// judge prints a figure, which may have a target.
func (c *streaming) judge(what string, value, limit float64, unit string, judged bool) {
	if !judged {
		c.tell(what, fmt.Sprintf("%.1f %s", value, unit))
		return
	}
	verdict := "met"
	if value > limit {
		verdict = "MISSED"
		c.missed++
	}
	c.tell(what, fmt.Sprintf("%.1f %s, target ≤ %.0f: %s", value, unit, limit, verdict))
}

// measureStreams opens the streams of as many visitors at a gate, and has its numbers
// change. It returns the length of the event that tells them.
func (c *streaming) measureStreams(ctx context.Context, dir string, k kind) (length int, err error) {
	f := &fleet{dir: dir}
	defer f.stop()
	p, err := f.streamGate(ctx, c.gate, nil, k.secure)
	if err != nil {
		return 0, err
	}
	l := &listeners{addr: p.addr, secure: k.secure, each: k.each}
	defer l.close()
	if err := l.arrive(ctx, k.streams); err != nil {
		return 0, fmt.Errorf("getting tickets: %w", err)
	}
	before, err := p.memory("VmRSS")
	if err != nil {
		return 0, err
	}
	if err := l.listen(ctx); err != nil {
		return 0, fmt.Errorf("opening the streams: %w", err)
	}
	telling, resting, length, err := l.costs(ctx, p)
	if err != nil {
		return 0, fmt.Errorf("telling the numbers: %w", err)
	}
	with, withErr := p.memory("VmRSS")
	most, mostErr := p.memory("VmHWM")
	share := float64(k.streams) / 100_000
	c.tell("memory of the gate without the streams", fmt.Sprintf("%d MiB, with as many visitors who wait", before>>20))
	c.judge("memory of the gate at most", float64(most)/(1<<20), max(gateLimit*share, 256), "MiB", k.judged)
	c.judge("memory a stream", float64(with-before)/1024/float64(k.streams), streamLimit, "KiB", k.judged)
	c.tell("to tell all the numbers", telling)
	c.judge("to tell all the numbers, user and system", ms(telling.user+telling.system), tellLimit*share, "ms", k.judged)
	c.tell("a second without anything to tell", resting)
	return length, errors.Join(withErr, mostErr)
}

// streamGate starts a gate in which everyone waits and nobody has to check in while it is
// measured.
func (f *fleet) streamGate(ctx context.Context, program string, env []string, secure bool) (*process, error) {
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a directory: %w", err)
	}
	args := []string{"serve", "--listen=127.0.0.1:0", "--admin=127.0.0.1:0", "--log-format=json",
		"--state-dir=" + filepath.Join(f.dir, "state"), "--origin=http://127.0.0.1:9",
		"--total-active-users=1", "--new-users-per-minute=1", "--queue-all", "--queueing-method=line", "--refresh-interval=2h", "--queue-ticket-ttl=24h", "--session-duration=24h"}
	if secure {
		made, err := newCertificate(f.dir)
		if err != nil {
			return nil, err
		}
		args = append(args, "--tls-cert="+made.cert, "--tls-key="+made.key)
	}
	return f.keep(start(ctx, env, logged, program, args...))
}

// allowFiles allows this process, and those that it starts, to have so many files open.
func allowFiles(n int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("looking up how many files may be open: %w", err)
	}
	if limit.Cur >= uint64(n) {
		return nil
	}
	limit.Cur, limit.Max = uint64(n), max(limit.Max, uint64(n))
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("allowing %d open files (run this as root, after ulimit -n %d, or with fewer streams): %w", n, n, err)
	}
	return nil
}

// spent is processor time.
type spent struct{ user, system time.Duration }

func (s spent) String() string {
	return fmt.Sprintf("%.0f ms user + %.0f ms system", ms(s.user), ms(s.system))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// less returns what was spent besides o.
func (s spent) less(o spent) spent { return spent{s.user - o.user, s.system - o.system} }

// scaled is the part f of what was spent.
func (s spent) scaled(f float64) spent {
	return spent{time.Duration(float64(s.user) * f), time.Duration(float64(s.system) * f)}
}

// median returns the medians of user and system time.
func median(all []spent) spent {
	middle := func(of func(spent) time.Duration) time.Duration {
		var times []time.Duration
		for _, s := range all {
			times = append(times, of(s))
		}
		slices.Sort(times)
		return times[len(times)/2]
	}
	return spent{middle(func(s spent) time.Duration { return s.user }), middle(func(s spent) time.Duration { return s.system })}
}

// costs has the numbers of the room change a few times, and returns what telling them to all
// costs the gate, a second without them, and the length of what is told in bytes.
func (l *listeners) costs(ctx context.Context, p *process) (telling, resting spent, length int, err error) {
	const rounds, tries = 5, 20
	var tellings, restings []spent
	for range tries {
		parts := l.parts.Load()
		quiet, err := p.spends(func() error { return pause(ctx, 3*time.Second) })
		if err != nil {
			return telling, resting, 0, err
		}
		disturbed := l.parts.Load() != parts // by the signs that the gate is still there
		bytes, began := l.bytes.Load(), time.Now()
		told, err := p.spends(func() error { return l.update(ctx) })
		if err != nil {
			return telling, resting, 0, err
		}
		if disturbed {
			continue
		}
		length = int(l.bytes.Load()-bytes) / l.open()
		restings = append(restings, quiet.scaled(1./3))
		tellings = append(tellings, told.less(quiet.scaled(time.Since(began).Seconds()/3)))
		if len(tellings) == rounds {
			return median(tellings), median(restings), length, nil
		}
	}
	return telling, resting, 0, errors.New("the gate is never at rest")
}

// spends returns what the process spends while something is done.
func (p *process) spends(what func() error) (spent, error) {
	before, err := p.times()
	if err != nil {
		return spent{}, err
	}
	if err := what(); err != nil {
		return spent{}, err
	}
	after, err := p.times()
	return after.less(before), err
}

// pause waits for d.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// measureIdle compares what a connection costs that is kept without a request: the gate's,
// after the page of a visitor who waits, and those of a handler that writes the same bytes.
// The collector runs often in both, so that what it leaves counts and little else.
func (c *streaming) measureIdle(ctx context.Context, dir string) error {
	const often = "GOGC=10"
	f := &fleet{dir: filepath.Join(dir, "idle")}
	defer f.stop()
	gate, err := f.streamGate(ctx, c.gate, []string{often}, false)
	if err != nil {
		return err
	}
	a, err := ask(ctx, gate, navigation, "")
	if err != nil {
		return err
	}
	plain, err := f.copier(ctx, a, often)
	if err != nil {
		return err
	}
	ours, err := c.idleCost(ctx, gate)
	if err != nil {
		return err
	}
	theirs, err := c.idleCost(ctx, plain)
	if err != nil {
		return err
	}
	c.tell("memory a connection, net/http alone", fmt.Sprintf("%.1f KiB", theirs))
	c.tell("memory a connection, the gate", fmt.Sprintf("%.1f KiB", ours))
	c.judge("more than net/http alone", ours-theirs, idleLimit, "KiB", true)
	return nil
}

// idleCost is the memory that a process takes for a connection without a request, in KiB.
func (c *streaming) idleCost(ctx context.Context, p *process) (float64, error) {
	l := &listeners{addr: p.addr}
	defer l.close()
	if err := l.arrive(ctx, c.idle); err != nil {
		return 0, err
	}
	before, err := p.memory("VmRSS")
	if err != nil {
		return 0, err
	}
	if err := l.rest(ctx); err != nil {
		return 0, err
	}
	after, err := p.memory("VmRSS")
	return float64(after-before) / 1024 / float64(c.idle), err
}
