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
	"sync/atomic"
	"time"
)

const (
	// withoutCookies is how many of the connections of a flood bring no ticket: one
	// in so many.
	withoutCookies = 5

	// floodNetworks is how many /24 networks of the loopback a flood comes from.
	floodNetworks = 100

	// startOver is how long a connection of the flood waits after a dial that failed.
	startOver = 100 * time.Millisecond
)

// polls counts what a flood has been told.
type polls struct {
	Open     atomic.Int64 // connections
	Answered atomic.Int64
	Closed   atomic.Int64 // connections that were closed instead of an answer
	Failed   atomic.Int64 // dials
}

// tally is what polls are at a moment.
type tally struct{ Open, Answered, Closed, Failed int64 }

func (p *polls) tally() tally {
	return tally{p.Open.Load(), p.Answered.Load(), p.Closed.Load(), p.Failed.Load()}
}

// flood polls addr as fast as it can on so many connections until ctx ends, each
// with a ticket of its own or, one in withoutCookies, with none. A connection that
// was closed is opened again at once. It tells its tally to everybody who asks.
func flood(ctx context.Context, addr string, connections int) error {
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err) // it goes without
	}
	var p polls
	start := head(addr, poll)
	for i := range connections {
		go func() {
			var ticket string
			for ctx.Err() == nil {
				_ = p.connection(ctx, addr, start, i, &ticket)
			}
		}()
	}
	return serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(p.tally())
	}))
}

// connection polls over one connection until it ends, as visitor i, who keeps the
// newest ticket.
func (p *polls) connection(ctx context.Context, addr, start string, i int, ticket *string) error {
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(1+i%floodNetworks), byte(1+rand.IntN(250)))}}
	conn, err := from.DialContext(ctx, "tcp", addr)
	if err != nil {
		p.Failed.Add(1)
		<-time.After(startOver)
		return err
	}
	p.Open.Add(1)
	defer p.Open.Add(-1)
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 4<<10)
	for ctx.Err() == nil {
		text := start
		if *ticket != "" {
			text += "; " + *ticket
		}
		if _, err := conn.Write([]byte(text + "\r\n\r\n")); err != nil {
			p.Closed.Add(1)
			return err
		}
		a, err := readReply(in)
		if err != nil {
			p.Closed.Add(1)
			return err
		}
		p.Answered.Add(1)
		if a.ticket != "" && i%withoutCookies != 0 {
			*ticket = a.ticket
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
