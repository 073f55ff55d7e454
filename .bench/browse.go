package main

import (
	"bufio"
	"context"
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

// browsers are visitors who are in. Each keeps a connection and asks for a page now
// and then.
type browsers []*browsing

type browsing struct {
	addr, start string
	ticket      string // name=value; "" without a gate
	conn        net.Conn
	in          *bufio.Reader
}

// open lets so many visitors in at addr. Without tickets, addr is the origin.
func open(addr string, visitors int, tickets bool) (browsers, error) {
	var all browsers
	for range visitors {
		b := &browsing{addr: addr, start: head(addr, navigation)}
		a, err := b.visit()
		if err == nil && tickets && a.ticket == "" {
			err = errors.New("somebody got no ticket")
		}
		if err != nil {
			return nil, fmt.Errorf("letting the visitors in: %w", err)
		}
		b.ticket = a.ticket
		all = append(all, b)
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
			due := time.Now().Add(rand.N(mostThought))
			for pause(ctx, time.Until(due)) == nil {
				_, err := b.visit()
				took := time.Since(due)
				mu.Lock()
				if err != nil {
					what.failures = append(what.failures, err)
				} else {
					what.latencies = append(what.latencies, float64(took)/float64(time.Millisecond))
				}
				mu.Unlock()
				due = time.Now().Add(leastThought + rand.N(mostThought-leastThought))
			}
		})
	}
	tasks.Wait()
	return &what
}

// visit asks for a page. Every answer but one of 1 KiB, the origin's, is a failure.
func (b *browsing) visit() (a reply, err error) {
	if b.conn == nil {
		if b.conn, err = net.Dial("tcp", b.addr); err != nil {
			b.conn = nil
			return a, err
		}
		b.in = bufio.NewReaderSize(b.conn, 4<<10)
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
	if err == nil && a.length != 1<<10 {
		err = fmt.Errorf("answered with %d bytes", a.length)
	}
	return a, err
}
