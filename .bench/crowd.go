package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// crowdSize is how many visitors wait. They check in one after the other,
	// each when their own last answer said they may: with the shortest refresh
	// interval that there is, so many keep a processor busy.
	crowdSize = 50_000

	// connections is how many requests are under way at a time, wrk's -c64.
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
	headers []header
	fresh   bool // each answer must bring a ticket that was not known: it does not in a copy of one answer
	places  chan place
	seated  atomic.Int64
}

func newCrowd(headers []header, fresh bool) *crowd {
	c := &crowd{headers: headers, fresh: fresh, places: make(chan place, crowdSize)}
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
	return nil
}

// load has the crowd check in for a time, and returns how many did.
func (c *crowd) load(ctx context.Context, p *process, span time.Duration) (int, error) {
	ctx, stop := context.WithTimeout(ctx, span)
	defer stop()
	var (
		tasks sync.WaitGroup
		total atomic.Int64
		errs  = make(chan error, connections)
		start = head(p.addr, c.headers)
	)
	for range connections {
		tasks.Go(func() {
			n, err := c.connection(ctx, p.addr, start)
			total.Add(int64(n))
			if err != nil {
				errs <- err
				stop()
			}
		})
	}
	tasks.Wait()
	select {
	case err := <-errs:
		return 0, fmt.Errorf("asking %s: %w", p.addr, err)
	default:
		return int(total.Load()), nil
	}
}

// connection sends one visitor after the other over one connection until ctx
// ends.
func (c *crowd) connection(ctx context.Context, addr, start string) (n int, err error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return 0, err
	}
	in, out := bufio.NewReaderSize(conn, 8<<10), []byte(start)
	for newcomers := 0; newcomers < newcomersAtOnce; {
		p, ok := c.next(ctx)
		if !ok {
			return n, nil
		}
		out = out[:len(start)]
		if p.ticket != "" {
			out = append(append(out, "; "...), p.ticket...)
		}
		if _, err := conn.Write(append(out, "\r\n\r\n"...)); err != nil {
			return n, err
		}
		a, err := readReply(in)
		switch {
		case err != nil:
			return n, err
		case a.ticket == "" || c.fresh && a.ticket == p.ticket:
			return n, errors.New("an answer brought no new ticket: nobody has checked in")
		case p.ticket == "":
			c.seated.Add(1)
			newcomers++
		}
		n++
		c.places <- place{a.ticket, time.Now().Add(a.retryAfter)}
	}
	return n, nil
}

// next returns the visitor whose turn it is, when they are due, or false when
// ctx has ended.
func (c *crowd) next(ctx context.Context) (place, bool) {
	if ctx.Err() != nil {
		return place{}, false
	}
	var p place
	select {
	case p = <-c.places:
	case <-ctx.Done():
		return place{}, false
	}
	wait := time.Until(p.due)
	if wait <= 0 {
		return p, true
	}
	select {
	case <-time.After(wait):
		return p, true
	case <-ctx.Done():
		c.places <- p
		return place{}, false
	}
}

// reply is what a waiting visitor reads in an answer.
type reply struct {
	status     int
	ticket     string // name=value
	retryAfter time.Duration
	length     int
}

// readReply reads one answer with status 200 and a Content-Length.
func readReply(in *bufio.Reader) (reply, error) {
	a, err := readAnyReply(in)
	switch {
	case err != nil:
		return a, err
	case a.status != 200:
		return a, fmt.Errorf("answered with status %d", a.status)
	case a.length < 0:
		return a, errors.New("an answer has no Content-Length")
	}
	return a, nil
}

// readAnyReply reads one answer. Without a Content-Length, it has no body.
func readAnyReply(in *bufio.Reader) (reply, error) {
	var a reply
	line, err := in.ReadSlice('\n')
	if err != nil {
		return a, err
	}
	_, status, _ := bytes.Cut(line, []byte("HTTP/1.1 "))
	if a.status, err = strconv.Atoi(string(status[:min(3, len(status))])); err != nil {
		return a, fmt.Errorf("answered %q", bytes.TrimSpace(line))
	}
	a.length = -1
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return a, err
		}
		name, value, ok := bytes.Cut(line, []byte(": "))
		if !ok {
			break
		}
		if err := a.note(string(name), bytes.TrimSpace(value)); err != nil {
			return a, err
		}
	}
	_, err = in.Discard(max(a.length, 0))
	return a, err
}

// note notes a line of an answer's header.
func (a *reply) note(name string, value []byte) (err error) {
	switch name {
	case "Set-Cookie":
		ticket, _, _ := bytes.Cut(value, []byte(";"))
		a.ticket = string(ticket)
	case "Retry-After":
		seconds, err := strconv.Atoi(string(value))
		if err != nil {
			return fmt.Errorf("reading Retry-After: %w", err)
		}
		a.retryAfter = time.Duration(seconds) * time.Second
	case "Content-Length":
		if a.length, err = strconv.Atoi(string(value)); err != nil {
			return fmt.Errorf("reading Content-Length: %w", err)
		}
	}
	return nil
}
