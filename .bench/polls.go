package main

import (
	"context"
	"encoding/json"
	"expvar"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
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

// torrent is a kind of flood: connections that ask as fast as they can. It is a row of the report.
type torrent struct {
	name, title string
	connections int
	streams     int // so many on each connection, by HTTP/2; 0 for HTTP/1.1
	target      string
	header      http.Header // besides cookies
	newcomers   bool        // nobody brings a ticket; otherwise it is one connection or stream in withoutCookies
	anew        bool        // each request comes over a connection of its own
}

var torrents = []torrent{
	{name: "http1", title: "2,500 connections", connections: 2500, target: target, header: poll},
	{name: "http2", title: "20 connections of 100 streams", connections: 20, streams: 100, target: target, header: poll},
	{name: "http2-100", title: "100 connections of 100 streams", connections: 100, streams: 100, target: target, header: poll},
	{name: "http1-1900", title: "1,900 connections", connections: 1900, target: target, header: poll},
	{name: "renew", title: "2,500 that renew a session", connections: 2500, target: "/.fairdoor/session?renew=1", header: poll},
	{name: "image", title: "2,500 for parts of pages", connections: 2500, target: target, header: pollWith("Sec-Fetch-Dest", "image")},
	{name: "prefetch", title: "2,500 that prefetch", connections: 2500, target: target, header: pollWith("Sec-Purpose", "prefetch")},
	{name: "anew", title: "2,500 newcomers, a connection each time", connections: 2500, target: target, header: poll, newcomers: true, anew: true},
}

// pollWith is the header of a poll with another value.
func pollWith(name, value string) http.Header {
	h := maps.Clone(poll)
	h[name] = []string{value}
	return h
}

// secure says whether a torrent comes by TLS.
func (t *torrent) secure() bool { return t.streams > 0 }

// torrentsNamed returns those that are named, by commas; all without a name.
func torrentsNamed(names string) ([]torrent, error) {
	if names == "" {
		return torrents, nil
	}
	var some []torrent
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(torrents, func(t torrent) bool { return t.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no flood %q", name)
		}
		some = append(some, torrents[i])
	}
	return some, nil
}

// polls is a flood, and counts what it has been told.
type polls struct {
	torrent
	to     *process
	counts expvar.Map // of answered; and of closed, instead of an answer: connections or streams
}

// flood asks a gate as fast as it can until ctx ends, as a torrent does. Each connection
// or stream has a ticket of its own or, one in withoutCookies, none. One that was closed
// is opened again at once. The handler tells the counts to everybody who asks.
func flood(ctx context.Context, gate *url.URL, name string) (http.Handler, error) {
	of, err := torrentsNamed(name)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err) // it goes without
	}
	p := &polls{torrent: of[0], to: &process{addr: gate.Host, secure: gate.Scheme == "https"}}
	for i := range p.connections {
		tickets := make([]string, max(p.streams, 1))
		go func() {
			for ctx.Err() == nil {
				p.connection(ctx, i, tickets)
			}
		}()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, p.counts.String()) }), nil
}

// connection asks over one connection until it ends, as the visitors with these tickets: each has a
// request under way all the time.
func (p *polls) connection(ctx context.Context, i int, tickets []string) {
	from := net.IPv4(127, 0, byte(1+i%floodNetworks), byte(1+rand.IntN(250)))
	conn, err := p.to.connect(ctx, from, p.streams > 0)
	if err != nil {
		_ = pause(ctx, startOver)
		return
	}
	defer conn.Close()
	var tasks sync.WaitGroup
	for v := range tickets {
		keeps := !p.newcomers && (i*len(tickets)+v)%withoutCookies != 0
		tasks.Go(func() {
			for conn.Err() == nil && ctx.Err() == nil {
				a, err := p.to.ask(ctx, conn, p.target, p.header, tickets[v])
				if err != nil {
					p.counts.Add("closed", 1)
					continue
				}
				p.counts.Add("answered", 1)
				if a.ticket() != "" && keeps {
					tickets[v] = a.ticket()
				}
				if p.anew {
					return
				}
			}
		})
	}
	tasks.Wait()
}

// tally is what a flood has been told until now.
type tally struct{ Answered, Closed float64 }

// askFlood returns the tally of a flood that another process makes.
func askFlood(ctx context.Context, p *process) (t tally, err error) {
	a, err := p.visitOnce(ctx, http.Header{}, "")
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(a.Body, &t); err != nil {
		return t, fmt.Errorf("the flood does not tell how it does: %w", err)
	}
	return t, nil
}
