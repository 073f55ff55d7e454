package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// The time that a visitor who browses takes between two pages.
const (
	leastThought = 200 * time.Millisecond
	mostThought  = time.Second
)

// browsers are visitors who are in, or who wait and ask when they are told. Each keeps a
// connection and asks for a page now and then.
type browsers []*browser

type browser struct {
	to     *process
	ticket string    // name=value; "" without a gate
	next   time.Time // when to ask again, of somebody who waits; the zero Time of somebody who is in
	conn   connection
	from   net.IP // the address that they come from; nil for any
}

// open has so many visitors come to a gate that lets them in, or to an origin, which gives no
// tickets.
func open(ctx context.Context, to *process, visitors int) (all browsers, err error) {
	for range visitors {
		b := &browser{to: to}
		all = append(all, b)
		a, err := b.ask(ctx)
		if err != nil {
			return all, fmt.Errorf("letting the visitors in: %w", err)
		}
		b.ticket = a.ticket()
	}
	return all, nil
}

// queue has so many visitors come to a gate whose slots are taken, each from an address. They ask
// again in the course of an interval.
func queue(ctx context.Context, to *process, visitors int, from func(i int) net.IP) (all browsers, err error) {
	for i := range visitors {
		b := &browser{to: to, next: time.Now(), from: from(i)}
		all = append(all, b)
		if err := b.visit(ctx); err != nil {
			return all, fmt.Errorf("having visitors wait: %w", err)
		}
		b.next = b.next.Add(time.Duration(i) * interval / time.Duration(visitors))
	}
	return all, nil
}

func (all browsers) close() {
	for _, b := range all {
		if b.conn != nil {
			b.conn.Close()
		}
	}
}

// seen is what visitors have met with.
type seen struct {
	latencies []float64 // milliseconds, from when the request was due
	failures  []error
}

// browse has all visitors browse for a time. What is under way then is waited for.
func (all browsers) browse(ctx context.Context, span time.Duration) *seen {
	whole := context.WithoutCancel(ctx)
	ctx, stop := context.WithTimeout(ctx, span)
	defer stop()
	var (
		mu    sync.Mutex
		what  seen
		tasks sync.WaitGroup
	)
	for _, b := range all {
		tasks.Go(func() {
			for due := b.due(true); pause(ctx, time.Until(due)) == nil; due = b.due(false) {
				err := b.visit(whole)
				took := time.Since(due)
				mu.Lock()
				if err != nil {
					what.failures = append(what.failures, err)
				} else {
					what.latencies = append(what.latencies, float64(took)/float64(time.Millisecond))
				}
				mu.Unlock()
			}
		})
	}
	tasks.Wait()
	return &what
}

// due is when the visitor asks next.
func (b *browser) due(first bool) time.Time {
	switch {
	case !b.next.IsZero():
		return b.next
	case first:
		return time.Now().Add(rand.N(mostThought))
	}
	return time.Now().Add(leastThought + rand.N(mostThought-leastThought))
}

// visit asks for a page. Who is in gets one of 1 KiB, the origin's, who waits gets a new ticket,
// and everything else is a failure.
func (b *browser) visit(ctx context.Context) error {
	waits := !b.next.IsZero()
	if waits {
		b.next = time.Now().Add(interval)
	}
	a, err := b.ask(ctx)
	switch {
	case err != nil:
		return err
	case !waits && len(a.Body) != 1<<10:
		return fmt.Errorf("answered with %d bytes", len(a.Body))
	case !waits:
		return nil
	}
	again, err := a.retryAfter()
	if err != nil {
		return err
	}
	b.ticket, b.next = a.ticket(), time.Now().Add(again)
	return nil
}

// ask asks for a page.
func (b *browser) ask(ctx context.Context) (*answer, error) { return b.askFor(ctx, navigation) }

// askFor asks with a header over the visitor's connection, which is opened anew if the last answer
// failed.
func (b *browser) askFor(ctx context.Context, header http.Header) (a *answer, err error) {
	if b.conn == nil {
		if b.conn, err = b.to.connect(ctx, b.from, false); err != nil {
			return nil, err
		}
	}
	a, err = b.to.visit(ctx, b.conn, header, b.ticket)
	if err != nil {
		err = errors.Join(err, b.conn.Close())
		b.conn = nil
	}
	return a, err
}
