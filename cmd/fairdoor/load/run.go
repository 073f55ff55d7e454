package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/fairdoor-gate/fairdoor/queue/simulate"
)

// run is a crowd under way. Its goroutine alone keeps the schedule and the measures.
type run struct {
	Config
	transport *http.Transport
	rng       *rand.Rand
	people    []person
	schedule  appointments
	left      int // people who are not through
	begun     time.Time

	measures
}

// Run sends the crowd until everybody but the bots is through, or ctx ends, and reports what
// came of it. It fails if c is not valid.
func Run(ctx context.Context, c Config) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("sending a crowd: %w", err)
	}
	r := &run{Config: c, rng: rand.New(rand.NewPCG(c.Crowd.Seed, 0)), begun: time.Now()}
	r.transport = newTransport(&c)
	defer r.transport.CloseIdleConnections()
	if err := c.consents(ctx, r.transport); err != nil {
		return nil, err
	}
	r.invite()
	before := processorTime()
	whole := r.play(ctx)
	r.lasted, r.processor = time.Since(r.begun), processorTime()-before
	if c.Gather != nil {
		if err := c.Gather(); err != nil {
			return nil, err
		}
	}
	return r.report(whole), nil
}

// invite gives everybody their first appointment.
func (r *run) invite() {
	drawn := simulate.DrawCrowd(r.Crowd)
	r.people = make([]person, len(drawn))
	for i := range drawn {
		p := &r.people[i]
		p.Person, p.number, p.interval = drawn[i], i, r.Crowd.Room.WithDefaults().RefreshInterval
		r.schedule.add(p, r.begun.Add(p.Joins))
		if !p.Bot {
			r.left++
		}
	}
}

// newTransport keeps as many connections to the gate as are used at a time, and makes none
// to anywhere else.
func newTransport(c *Config) *http.Transport {
	address := c.address()
	return &http.Transport{
		MaxConnsPerHost: c.Connections, MaxIdleConnsPerHost: c.Connections, DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			if err != nil {
				return nil, err
			}
			if at, err := netip.ParseAddrPort(conn.RemoteAddr().String()); isLoopback(c.Gate.Hostname()) && (err != nil || !at.Addr().Unmap().IsLoopback()) {
				conn.Close()
				return nil, fmt.Errorf("%s is %s: %w", address, conn.RemoteAddr(), errNotHere)
			}
			return conn, nil
		},
	}
}

// play keeps the schedule until all people are through, which it returns, or ctx ends.
func (r *run) play(ctx context.Context) (whole bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	due, done := make(chan *person), make(chan *person, r.Connections)
	var workers sync.WaitGroup
	for range r.Connections {
		workers.Go(func() {
			for p := range due {
				p.act(ctx, &r.Config, r.transport)
				done <- p
			}
		})
	}
	defer workers.Wait()
	defer close(due)
	defer stop() // before the workers are waited for
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for r.left > 0 {
		var ready chan<- *person
		var first *person
		if len(r.schedule) > 0 {
			if wait := time.Until(r.schedule[0].at); wait <= 0 {
				first, ready = r.schedule[0].person, due
				first.last.due = r.schedule[0].at
			} else {
				alarm.Reset(wait)
			}
		}
		select {
		case ready <- first:
			r.schedule.next()
		case p := <-done:
			if ctx.Err() != nil { // by which it may have been broken off
				return false
			}
			r.settle(p)
		case <-alarm.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// settle takes up what came of a person's request, and gives them their next appointment.
func (r *run) settle(p *person) {
	r.note(p)
	next := p.next(&r.Config, r.around)
	switch {
	case !next.IsZero():
		r.schedule.add(p, next)
	case !p.Bot:
		r.left--
		if r.Progress != nil {
			r.Progress(len(r.people)-r.left, len(r.people))
		}
	}
}

// around draws a time from half of d to one and a half of it.
func (r *run) around(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (.5 + r.rng.Float64()))
}

// retry is how long people wait after an error that does not say for how long.
const retry = 5 * time.Second

// next is when p does the next thing after the last exchange; zero if they are through.
func (p *person) next(c *Config, around func(time.Duration) time.Duration) time.Time {
	now, answer := p.last.answered, p.last.answer
	switch {
	case p.last.goodbye:
		p.phase, p.gaveUp = gone, true
		return time.Time{}
	case p.last.err != nil:
		return p.patient(now.Add(max(answer.Again, retry)))
	case p.Bot && (answer.In || answer.Waits):
		return now.Add(p.interval)
	case answer.In:
		return p.browse(now, around(c.PageView))
	case p.phase == inside:
		p.phase, p.interrupted = gone, true
		return time.Time{}
	case !answer.Waits:
		p.phase, p.refused = gone, true
		return time.Time{}
	default:
		return p.wait(now, c.Crowd.SpamRate, around)
	}
}

// browse is when a person who is in looks at the next page, the last of them at the very end
// of their time.
func (p *person) browse(now time.Time, pageView time.Duration) time.Time {
	if p.phase != inside {
		p.phase, p.letIn, p.until = inside, now, now.Add(p.Browse)
	}
	if !now.Before(p.until) {
		p.phase = gone
		return time.Time{}
	}
	if next := now.Add(pageView); next.Before(p.until) {
		return next
	}
	return p.until
}

// wait is when a person who is to wait asks again.
func (p *person) wait(now time.Time, spamRate int, around func(time.Duration) time.Duration) time.Time {
	if p.waits++; p.waits == 1 {
		p.told = p.last.answer.Wait
	}
	p.phase, p.interval = waiting, p.last.answer.Again
	if p.Spams {
		return p.patient(now.Add(around(p.interval / time.Duration(spamRate))))
	}
	return p.patient(now.Add(p.interval))
}

// patient is the given moment, or that at which patience ends if that is sooner.
func (p *person) patient(next time.Time) time.Time {
	if p.phase == waiting && !p.leaves.IsZero() && p.leaves.Before(next) {
		return p.leaves
	}
	return next
}
