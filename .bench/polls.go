package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// withoutCookies is how many of the connections or streams of a flood bring no
	// ticket: one in so many.
	withoutCookies = 5

	// floodNetworks is how many /24 networks of the loopback a flood comes from.
	floodNetworks = 100

	// startOver is how long a connection of the flood waits after a dial that failed.
	startOver = 100 * time.Millisecond
)

// polls counts what a flood has been told.
type polls struct {
	torrent
	addr string

	Open     atomic.Int64 // connections
	Answered atomic.Int64
	Closed   atomic.Int64 // connections or streams that were closed instead of an answer
	Failed   atomic.Int64 // dials
}

// tally is what polls are at a moment.
type tally struct{ Open, Answered, Closed, Failed int64 }

func (p *polls) tally() tally {
	return tally{p.Open.Load(), p.Answered.Load(), p.Closed.Load(), p.Failed.Load()}
}

// flood asks addr as fast as it can until ctx ends, as a torrent does. Each connection
// or stream has a ticket of its own or, one in withoutCookies, none. One that was closed
// is opened again at once. It tells its tally to everybody who asks.
func flood(ctx context.Context, addr, name string) error {
	of, err := torrentsNamed(name)
	if err != nil {
		return err
	}
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err) // it goes without
	}
	p := &polls{torrent: of[0], addr: addr}
	ask := p.connection
	if p.streams > 0 {
		ask = p.connectionOfStreams
	}
	for i := range p.connections {
		tickets := make([]string, max(p.streams, 1))
		go func() {
			for ctx.Err() == nil {
				_ = ask(ctx, i, tickets)
			}
		}()
	}
	return serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(p.tally())
	}))
}

// dial connects from the network of the i-th connection.
func (p *polls) dial(ctx context.Context, i int) (net.Conn, error) {
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(1+i%floodNetworks), byte(1+rand.IntN(250)))}}
	conn, err := from.DialContext(ctx, "tcp", p.addr)
	if err != nil {
		p.Failed.Add(1)
		<-time.After(startOver)
		return nil, err
	}
	return conn, conn.(*net.TCPConn).SetLinger(0) // its port is free again at once
}

// keeps says whether the i-th connection or stream keeps its ticket.
func (p *polls) keeps(i int) bool { return !p.newcomers && i%withoutCookies != 0 }

// connection asks over one connection until it ends, as visitor i, whose newest ticket
// is kept in tickets.
func (p *polls) connection(ctx context.Context, i int, tickets []string) error {
	conn, err := p.dial(ctx, i)
	if err != nil {
		return err
	}
	p.Open.Add(1)
	defer p.Open.Add(-1)
	defer conn.Close()
	in, start := bufio.NewReaderSize(conn, 4<<10), strings.Replace(head(p.addr, p.headers), target, p.target, 1)
	for ctx.Err() == nil {
		text := start
		if tickets[0] != "" {
			text += "; " + tickets[0]
		}
		if _, err := conn.Write([]byte(text + "\r\n\r\n")); err != nil {
			p.Closed.Add(1)
			return err
		}
		a, err := readAnyReply(in)
		if err != nil {
			p.Closed.Add(1)
			return err
		}
		p.Answered.Add(1)
		if a.ticket != "" && p.keeps(i) {
			tickets[0] = a.ticket
		}
		if p.anew {
			break
		}
	}
	return nil
}

// askFlood returns the tally of a flood that another process makes.
func askFlood(ctx context.Context, p *process) (t tally, err error) {
	a, err := ask(ctx, p, nil, "")
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(a.Body, &t); err != nil {
		return t, errors.New("the flood does not tell how it does")
	}
	return t, nil
}
