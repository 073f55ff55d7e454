package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// streaming is what the command line asks for.
type streaming struct {
	gate    string
	streams int // each on a connection of its own
	shared  int // by HTTP/2, a hundred on a connection
	missed  int
}

// What event streams may cost. Memory of the gate and the time are for 100,000 streams.
const (
	streamLimit = 12   // KiB of the gate's memory a stream
	gateLimit   = 1536 // MiB of the gate's memory
	tellLimit   = 200  // ms of one core to tell all the numbers of their room
)

// kind is a way of opening streams.
type kind struct {
	name    string
	streams int
	each    int // on each connection
	secure  bool
	http2   bool
	judged  bool // it has targets
}

// run measures all, prints what came out, and returns how many targets were missed.
func (c *streaming) run(ctx context.Context) (missed int, err error) {
	if err := allowFiles(c.streams + 1000); err != nil {
		return 0, err
	}
	for _, k := range []kind{
		{name: "HTTP/1.1", streams: c.streams, each: 1, judged: true},
		{name: "HTTP/1.1 over TLS", streams: c.streams, each: 1, secure: true},
		{name: "HTTP/2, each on a connection of its own", streams: c.streams, each: 1, secure: true, http2: true},
		{name: "HTTP/2, a hundred on each connection, as a balancer has them", streams: c.shared, each: 100, secure: true, http2: true},
	} {
		fmt.Printf("%d event streams, %s\n", k.streams, k.name)
		if err := c.measure(ctx, k); err != nil {
			return c.missed, fmt.Errorf("measuring streams: %w", err)
		}
	}
	return c.missed, nil
}

// tell prints a figure.
func (c *streaming) tell(what string, value any) { fmt.Printf("  %-52s %v\n", what, value) }

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

// measure opens the streams of as many visitors at a gate in which everyone waits and nobody has to
// check in while it is measured, and has its numbers change.
func (c *streaming) measure(ctx context.Context, k kind) error {
	f, err := newFleet()
	if err != nil {
		return err
	}
	defer f.stop()
	p, err := f.start(ctx, f.gate(c.gate, &process{addr: "127.0.0.1:9"}, k.secure,
		"--total-active-users=1", "--new-users-per-minute=1", "--queue-all", "--queueing-method=line", "--refresh-interval=2h", "--queue-ticket-ttl=24h"))
	if err != nil {
		return err
	}
	l := &listeners{kind: k, to: p}
	defer l.close()
	if err := l.arrive(ctx); err != nil {
		return fmt.Errorf("getting tickets: %w", err)
	}
	before, _, err := p.memory()
	if err != nil {
		return err
	}
	if err := l.listen(ctx); err != nil {
		return fmt.Errorf("opening the streams: %w", err)
	}
	telling, resting, err := l.costs(ctx)
	if err != nil {
		return fmt.Errorf("telling the numbers: %w", err)
	}
	with, most, err := p.memory()
	share := float64(k.streams) / 100_000
	c.tell("memory of the gate without the streams", fmt.Sprintf("%.0f MiB, with as many visitors who wait", before))
	c.judge("memory of the gate at most", most, max(gateLimit*share, 256), "MiB", k.judged)
	c.judge("memory a stream", (with-before)*1024/float64(k.streams), streamLimit, "KiB", k.judged)
	c.tell("to tell all the numbers", telling)
	c.judge("to tell all the numbers, user and system", telling.total(), tellLimit*share, "ms", k.judged)
	c.tell("a second without anything to tell", resting)
	return err
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

// listeners are visitors who wait and listen to the events of their room.
type listeners struct {
	kind
	to      *process
	tickets []string
	conns   []connection
	round   atomic.Int64 // of numbers
	heard   atomic.Int64 // how many have heard of it
	parts   atomic.Int64 // how often something came
	reading sync.WaitGroup
}

// close ends the connections.
func (l *listeners) close() {
	for _, c := range l.conns {
		if c != nil {
			c.Close()
		}
	}
	l.reading.Wait()
}

// arrive has each visitor get a ticket, a hundred over each connection.
func (l *listeners) arrive(ctx context.Context) error {
	const each = 100
	l.tickets = make([]string, l.streams)
	return inParallel((l.streams+each-1)/each, func(i int) error {
		c, err := l.to.connect(ctx, nil, false)
		if err != nil {
			return err
		}
		defer c.Close()
		for k := i * each; k < min((i+1)*each, l.streams); k++ {
			a, err := l.to.visit(ctx, c, navigation, "")
			if err != nil {
				return err
			}
			l.tickets[k] = a.ticket()
		}
		return nil
	})
}

// listen opens the stream of each visitor, and waits until all have been told the numbers.
func (l *listeners) listen(ctx context.Context) error {
	const perAddress = 20_000 // connections, each of which has a port
	l.conns = make([]connection, (l.streams+l.each-1)/l.each)
	return inParallel(len(l.conns), func(i int) (err error) {
		if l.conns[i], err = l.to.connect(ctx, net.IPv4(127, 0, 1, byte(1+i/perAddress)), l.http2); err != nil {
			return err
		}
		for k := i * l.each; k < min((i+1)*l.each, l.streams); k++ {
			if err := l.open(ctx, l.conns[i], l.tickets[k]); err != nil {
				return err
			}
		}
		return nil
	})
}

// open opens a stream, reads until it has told the numbers, and goes on reading until the
// connection is closed.
func (l *listeners) open(ctx context.Context, c connection, ticket string) error {
	resp, err := l.to.send(ctx, c, "/.fairdoor/events", http.Header{"Accept": {"text/event-stream"}, "User-Agent": {chrome}}, ticket)
	if err != nil {
		return err
	}
	var said []byte
	part := make([]byte, 1<<10)
	for !bytes.Contains(said, []byte("event: numbers")) { // which come last when a stream begins
		n, err := resp.Body.Read(part)
		if err != nil {
			resp.Body.Close()
			return fmt.Errorf("%w after %s: %q", err, resp.Status, said)
		}
		said = append(said, part[:n]...)
	}
	l.reading.Go(func() {
		defer resp.Body.Close()
		for last := l.round.Load(); ; {
			if _, err := resp.Body.Read(part); err != nil {
				return
			}
			l.parts.Add(1)
			if now := l.round.Load(); now != last {
				l.heard.Add(1)
				last = now
			}
		}
	})
	return nil
}

// costs has the numbers of the room change a few times, and returns what telling them to all
// costs the gate, and a second without them: the medians.
func (l *listeners) costs(ctx context.Context) (telling, resting spent, err error) {
	const rounds, tries = 5, 20
	var tellings, restings []spent
	for range tries {
		parts := l.parts.Load()
		quiet, err := l.to.spends(func() error { return pause(ctx, 3*time.Second) })
		if err != nil {
			return telling, resting, err
		}
		disturbed := l.parts.Load() != parts // by the signs that the gate is still there
		began := time.Now()
		told, err := l.to.spends(func() error { return l.update(ctx) })
		if err != nil {
			return telling, resting, err
		}
		if disturbed {
			continue
		}
		restings = append(restings, quiet.scaled(1./3))
		tellings = append(tellings, told.less(quiet.scaled(time.Since(began).Seconds()/3)))
		if len(tellings) == rounds {
			return median(tellings), median(restings), nil
		}
	}
	return telling, resting, errors.New("the gate is never at rest")
}

// median returns the medians of user and system time.
func median(all []spent) spent {
	return spent{medianOf(all, func(s spent) float64 { return s.user }), medianOf(all, func(s spent) float64 { return s.system })}
}

// update has the numbers of the room change, and waits until all have been told.
func (l *listeners) update(ctx context.Context) error {
	all := l.heard.Load() + int64(l.streams)
	l.round.Add(1)
	if _, err := l.to.visitOnce(ctx, navigation, ""); err != nil {
		return err
	}
	for limit := time.Now().Add(time.Minute); l.heard.Load() < all; {
		if time.Now().After(limit) {
			return fmt.Errorf("%d of %d were not told", all-l.heard.Load(), l.streams)
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
