package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// crowdSize is how many visitors wait. They check in one after the other,
	// each when their own last answer said they may: with the shortest refresh
	// interval that there is, so many keep a processor busy.
	crowdSize = 50_000

	// connections is how many requests are under way at a time.
	connections = 64

	// newcomersAtOnce is how many newcomers come over one connection: with more of
	// them it is one of a flood for the gate, which closes it.
	newcomersAtOnce = 2
)

// place is a visitor who waits: the newest ticket, and when it is due.
type place struct {
	ticket string // name=value, or "" for a newcomer
	due    time.Time
}

// crowd is a load of visitors who wait: every request brings another ticket,
// the newest of its visitor and not before it is due, so that it has to be
// opened, checked in and sealed again.
type crowd struct {
	header http.Header
	places chan place
	seated atomic.Int64
}

func newCrowd(header http.Header) *crowd {
	c := &crowd{header: header, places: make(chan place, crowdSize)}
	for range crowdSize {
		c.places <- place{}
	}
	return c
}

// seat sends the newcomers until all of them have a ticket.
func (c *crowd) seat(ctx context.Context, p *process) error {
	for c.seated.Load() < crowdSize {
		if _, err := c.load(ctx, p, time.Second); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// load has the crowd check in for a time, and returns how many did.
func (c *crowd) load(ctx context.Context, p *process, span time.Duration) (int, error) {
	ctx, stop := context.WithTimeout(ctx, span)
	defer stop()
	var total atomic.Int64
	err := inParallel(connections, func(int) error {
		for ctx.Err() == nil {
			n, err := c.connection(ctx, p)
			total.Add(int64(n))
			if err != nil {
				stop()
				return fmt.Errorf("asking %s: %w", p.addr, err)
			}
		}
		return nil
	})
	return int(total.Load()), err
}

// connection sends one visitor after the other over one connection until ctx
// ends or enough of them were newcomers. What is under way then is waited for.
func (c *crowd) connection(ctx context.Context, to *process) (n int, err error) {
	whole := context.WithoutCancel(ctx)
	conn, err := to.connect(whole, nil, false)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	for newcomers := 0; newcomers < newcomersAtOnce; n++ {
		p, ok := c.next(ctx)
		if !ok {
			break
		}
		a, err := to.visit(whole, conn, c.header, p.ticket)
		if err != nil {
			return n, err
		}
		again, err := a.retryAfter()
		switch {
		case err != nil:
			return n, err
		case a.ticket() == p.ticket:
			return n, errors.New("an answer brought no new ticket: nobody has checked in")
		case p.ticket == "":
			c.seated.Add(1)
			newcomers++
		}
		c.places <- place{a.ticket(), time.Now().Add(again)}
	}
	return n, nil
}

// next returns the visitor whose turn it is, when they are due, or false when
// ctx has ended.
func (c *crowd) next(ctx context.Context) (place, bool) {
	select {
	case <-ctx.Done():
		return place{}, false
	case p := <-c.places:
		if err := pause(ctx, time.Until(p.due)); err != nil {
			c.places <- p
			return place{}, false
		}
		return p, true
	}
}

// inParallel calls f for each number below n, on a few goroutines, until one fails.
func inParallel(n int, f func(i int) error) error {
	var (
		tasks  sync.WaitGroup
		next   atomic.Int64
		failed = make(chan error, connections)
	)
	for range connections {
		tasks.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && len(failed) == 0; i = int(next.Add(1)) - 1 {
				if err := f(i); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	tasks.Wait()
	close(failed)
	return <-failed
}
