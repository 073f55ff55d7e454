package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
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
type browsers []*browsing

type browsing struct {
	to     *process
	start  string
	ticket string        // name=value; "" without a gate
	told   time.Duration // when to ask again, of somebody who waits
	next   time.Time     // when that is; the zero Time of somebody who is in
	conn   net.Conn
	in     *bufio.Reader
}

// open has so many visitors come to a gate, or to an origin, which gives no tickets.
func open(to *process, visitors int, tickets bool) (browsers, error) {
	var all browsers
	for range visitors {
		b := &browsing{to: to, start: head(to.addr, navigation)}
		a, err := b.visit()
		if err == nil && tickets && a.ticket == "" {
			err = errors.New("somebody got no ticket")
		}
		if err != nil {
			return nil, fmt.Errorf("letting the visitors in: %w", err)
		}
		b.ticket, b.told = a.ticket, a.retryAfter
		all = append(all, b)
	}
	return all, nil
}

// queue has so many visitors come to a gate whose slots are taken. They come in the course of an interval.
func queue(to *process, visitors int) (browsers, error) {
	all, err := open(to, visitors, true)
	for i, b := range all {
		b.next = time.Now().Add(b.told + time.Duration(i)*interval/time.Duration(visitors))
	}
	return all, err
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

// browse has all visitors browse for a time.
func (all browsers) browse(ctx context.Context, span time.Duration) *seen {
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
				_, err := b.visit()
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
func (b *browsing) due(first bool) time.Time {
	switch {
	case !b.next.IsZero():
		return b.next
	case first:
		return time.Now().Add(rand.N(mostThought))
	}
	return time.Now().Add(leastThought + rand.N(mostThought-leastThought))
}

// visit asks for a page. Who is in gets one of 1 KiB, the origin's, who waits gets a new ticket, and everything else is a failure.
func (b *browsing) visit() (a reply, err error) {
	if !b.next.IsZero() {
		b.next = time.Now().Add(interval)
	}
	if b.conn == nil {
		if err := b.connect(); err != nil {
			return a, err
		}
	}
	defer func() {
		if err != nil {
			b.conn.Close()
			b.conn = nil
		}
	}()
	if err := b.conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return a, err
	}
	text := b.start
	if b.ticket != "" {
		text += "; " + b.ticket
	}
	if _, err := b.conn.Write([]byte(text + "\r\n\r\n")); err != nil {
		return a, err
	}
	a, err = readReply(b.in)
	switch {
	case err != nil || b.ticket == "":
	case b.next.IsZero():
		if a.length != 1<<10 {
			err = fmt.Errorf("answered with %d bytes", a.length)
		}
	case a.ticket == "" || a.retryAfter == 0:
		err = errors.New("somebody who waits has not checked in")
	default:
		b.ticket, b.next = a.ticket, time.Now().Add(a.retryAfter)
	}
	return a, err
}

// connect opens the visitor's connection.
func (b *browsing) connect() error {
	conn, err := net.Dial("tcp", b.to.addr)
	if err != nil {
		return err
	}
	if b.to.roots != nil {
		conn = tls.Client(conn, &tls.Config{RootCAs: b.to.roots, ServerName: "127.0.0.1"})
	}
	b.conn, b.in = conn, bufio.NewReaderSize(conn, 4<<10)
	return nil
}
