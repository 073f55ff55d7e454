package main

import (
	"context"
	_ "embed" // the balancer's configuration
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

//go:embed others/balancer.cfg
var balancerCfg string

const (
	calmSpan    = 20 * time.Second // how long those who are in browse before
	outageSpan  = 30 * time.Second // and from when a gate is killed
	spareFiles  = 1000             // that a program needs beside its visitors' connections
	mostOutage  = 2.0              // the p99 of those who are in meanwhile, divided by what it was before
	outageEvery = 20 * time.Second // how often those who wait check in
)

// outage is what the command line asks for: a gate of two is killed while as many wait as the
// machine lets a program open connections.
type outage struct {
	gate              string
	sockets, visitors int
}

// run prints what came out, and returns how many targets were missed.
func (o *outage) run(ctx context.Context) (missed int, err error) {
	if err := allowFiles(o.sockets); err != nil {
		return 0, err
	}
	f, err := newFleet()
	if err != nil {
		return 0, err
	}
	defer f.stop()
	balancer, victim, err := o.start(ctx, f)
	if err != nil {
		return 0, err
	}
	in, err := open(ctx, balancer, o.visitors)
	defer in.close()
	if err != nil {
		return 0, err
	}
	waiters, err := queue(ctx, balancer, o.sockets-spareFiles-o.visitors, address)
	defer waiters.close()
	if err != nil {
		return 0, err
	}
	fmt.Printf("%d visitors are in, %d wait; two gates, HAProxy, Redis; one gate is killed\n", len(in), len(waiters))
	var met struck
	if met.before, _, err = waiters.arrivals(ctx); err != nil {
		return 0, err
	}
	for i, b := range waiters {
		b.next = time.Now().Add(time.Duration(i) * outageEvery / time.Duration(len(waiters)))
	}
	_ = browseBoth(ctx, in, waiters, warmsUp)
	met.calm = browseBoth(ctx, in, waiters, calmSpan)
	if err := syscall.Kill(victim.proc.PID, syscall.SIGKILL); err != nil {
		return 0, fmt.Errorf("killing a gate: %w", err)
	}
	met.browsed = browseBoth(ctx, in, waiters, outageSpan)
	if met.after, met.failed, err = waiters.arrivals(ctx); err != nil {
		return 0, err
	}
	return met.report(), ctx.Err()
}

// struck is what visitors have met with when a gate was killed: when each of those who wait had
// arrived by what they were told before and afterwards, of whom the last request of some failed, and
// how those fared who are in.
type struck struct {
	before, after []string
	failed        int
	calm, browsed *seen
}

// report prints it, and returns how many targets were missed.
func (s *struck) report() (missed int) {
	lost := 0
	for i := range s.before {
		if s.before[i] == "" || s.after[i] != s.before[i] {
			lost++
		}
	}
	judge := func(what string, value, limit float64, format string) {
		verdict := "met"
		if value > limit {
			verdict = "MISSED"
			missed++
		}
		fmt.Printf("  %-52s "+format+", target ≤ "+format+": %s\n", what, value, limit, verdict)
	}
	judge("who waited and has not their place 30 s later", float64(lost), 0, "%.0f")
	if s.failed > 0 {
		fmt.Printf("  %-52s %d\n", "… whose request failed then", s.failed)
	}
	p99 := [2]float64{quantile(s.calm.latencies, .99), quantile(s.browsed.latencies, .99)}
	judge("p99 of those who are in, by that before", p99[1]/p99[0], mostOutage, "%.2f")
	fmt.Printf("  %-52s %.1f ms, then %.1f ms; medians %.1f ms and %.1f ms\n", "… their p99", p99[0], p99[1], quantile(s.calm.latencies, .5), quantile(s.browsed.latencies, .5))
	failures := slices.Concat(s.calm.failures, s.browsed.failures)
	judge("requests of those who are in that failed", float64(len(failures)), 0, "%.0f")
	if len(failures) > 0 {
		fmt.Printf("  %-52s %d before; the first: %v\n", "… of these", len(s.calm.failures), failures[0])
	}
	return missed
}

// browseBoth has all visitors go on for a time, and returns what those met with who are in.
func browseBoth(ctx context.Context, in, waiters browsers, span time.Duration) *seen {
	done := make(chan *seen, 1)
	go func() { done <- waiters.browse(ctx, span) }()
	s := in.browse(ctx, span)
	<-done
	return s
}

// start starts all programs, and returns the balancer and the gate that is to be killed.
func (o *outage) start(ctx context.Context, f *fleet) (balancer, victim *process, err error) {
	origin, err := f.part(ctx, nil, "origin")
	if err != nil {
		return nil, nil, err
	}
	redis, err := f.start(ctx, server{command: []string{"redis-server", "--bind", "127.0.0.1", "--port", "PORT", "--save", "", "--dir", "DIRECTORY"}})
	if err != nil {
		return nil, nil, err
	}
	key, err := exec.CommandContext(ctx, o.gate, "keygen").Output()
	if err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	keys := filepath.Join(f.dir, "keys")
	if err := os.WriteFile(keys, key, 0o600); err != nil {
		return nil, nil, fmt.Errorf("writing the key: %w", err)
	}
	var gates [2]*process
	for i := range gates {
		gates[i], err = f.start(ctx, f.gate(o.gate, origin, false, "--store=redis://"+redis.addr, "--cookie-keys-file="+keys, "--public-health", "--trusted-proxies=127.0.0.1/32",
			fmt.Sprint("--total-active-users=", o.visitors), "--new-users-per-minute=1000000", fmt.Sprint("--refresh-interval=", outageEvery), fmt.Sprint("--refresh-interval-max=", outageEvery)))
		if err != nil {
			return nil, nil, err
		}
	}
	filled := strings.NewReplacer("GATE1", gates[0].addr, "GATE2", gates[1].addr, "CONNECTIONS", fmt.Sprint(o.sockets-spareFiles)).Replace(balancerCfg)
	balancer, err = f.start(ctx, server{configuration: filled, command: []string{"haproxy", "-db", "-f", "DIRECTORY/configuration"}})
	if err == nil {
		err = balancer.healthy(ctx)
	}
	return balancer, gates[0], err
}

// healthy waits until a gate behind the balancer takes visitors.
func (p *process) healthy(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, upWithin)
	defer stop()
	for {
		c, err := p.connect(ctx, nil, false)
		if err != nil {
			return err
		}
		a, err := p.ask(ctx, c, "/.fairdoor/health", navigation, "")
		_ = c.Close()
		if err == nil && a.Status == http.StatusOK {
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("waiting for a gate behind the balancer: %w", err)
		}
	}
}

// address is where the visitor of a number comes from.
func address(i int) net.IP { return net.IPv4(127, 1, byte(i>>8), byte(i)) }

// arrivals asks, as the page does, when each of those who wait arrived; "" of those whose request
// failed, or who have no place.
func (all browsers) arrivals(ctx context.Context) (arrived []string, failed int, err error) {
	arrived = make([]string, len(all))
	errs := make([]error, len(all))
	err = inParallel(len(all), func(i int) error {
		arrived[i], errs[i] = all[i].arrival(ctx)
		return ctx.Err()
	})
	for _, e := range errs {
		if e != nil {
			failed++
		}
	}
	if failed == len(all) {
		err = errors.Join(err, errs[0])
	}
	return arrived, failed, err
}

func (b *browser) arrival(ctx context.Context) (string, error) {
	a, err := b.askFor(ctx, poll)
	if err != nil {
		return "", err
	}
	var told struct {
		Room struct {
			ArrivedAt string `json:"arrivedAt"`
		} `json:"cfWaitingRoom"`
	}
	if err := json.Unmarshal(a.Body, &told); err != nil {
		return "", fmt.Errorf("reading a place: %w", err)
	}
	if ticket := a.ticket(); ticket != "" {
		b.ticket = ticket
	}
	return told.Room.ArrivedAt, nil
}
