package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// perAddress is how many connections come from one address of this machine: each has a port
// of its own.
const perAddress = 20_000

// listeners are visitors who wait and listen to the events of their room.
type listeners struct {
	addr    string
	secure  bool
	each    int // so many streams on each connection, by HTTP/2; 0 for HTTP/1.1
	tickets []string
	conns   []net.Conn
	round   atomic.Int64 // of numbers
	heard   atomic.Int64 // how many have heard of it
	parts   atomic.Int64 // how often something came
	bytes   atomic.Int64 // how much
	reading sync.WaitGroup
}

// open is how many listen.
func (l *listeners) open() int { return len(l.tickets) }

// close ends the connections.
func (l *listeners) close() {
	for _, c := range l.conns {
		if c != nil {
			c.Close()
		}
	}
	l.reading.Wait()
}

// inParallel calls f for each number below n, on a few goroutines, until one fails.
func inParallel(ctx context.Context, n int, f func(i int) error) error {
	var (
		tasks  sync.WaitGroup
		next   atomic.Int64
		failed = make(chan error, connections)
	)
	for range connections {
		tasks.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil && len(failed) == 0; i = int(next.Add(1)) - 1 {
				if err := f(i); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	tasks.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return ctx.Err()
	}
}

// dial connects from the address of the i-th visitor.
func (l *listeners) dial(ctx context.Context, i int, protocol string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i/perAddress))}, Timeout: time.Minute}
	c, err := d.DialContext(ctx, "tcp", l.addr)
	if err != nil {
		return nil, err
	}
	// Closed with a reset, the port is free at once for the next trial.
	if err := c.(*net.TCPConn).SetLinger(0); err != nil || !l.secure {
		return c, err
	}
	return tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}), nil
}

// arrive has n visitors get a ticket, a hundred over each connection.
func (l *listeners) arrive(ctx context.Context, n int) error {
	const each = 100
	l.tickets = make([]string, n)
	return inParallel(ctx, (n+each-1)/each, func(i int) error {
		c, err := l.dial(ctx, 0, "http/1.1")
		if err != nil {
			return err
		}
		defer c.Close()
		in := bufio.NewReader(c)
		for k := i * each; k < min((i+1)*each, n); k++ {
			if l.tickets[k], err = visit(c, in, head(l.addr, navigation)); err != nil {
				return err
			}
		}
		return nil
	})
}

// visit sends a request and returns the ticket that the answer brings.
func visit(c net.Conn, in *bufio.Reader, request string) (ticket string, err error) {
	if _, err := io.WriteString(c, request+"\r\n\r\n"); err != nil {
		return "", err
	}
	a, err := readReply(in)
	return a.ticket, err
}

// listen opens the stream of each visitor, and waits until all have been told the numbers.
func (l *listeners) listen(ctx context.Context) error {
	if l.each > 0 {
		return l.listenByHTTP2(ctx)
	}
	l.conns = make([]net.Conn, len(l.tickets))
	return inParallel(ctx, len(l.conns), func(i int) error {
		c, err := l.dial(ctx, i, "http/1.1")
		if err != nil {
			return err
		}
		l.conns[i] = c
		request := "GET " + eventsPath + " HTTP/1.1\r\nHost: " + l.addr + "\r\nAccept: text/event-stream\r\nUser-Agent: " + browser +
			"\r\nCookie: " + l.tickets[i] + "\r\n\r\n"
		if _, err := io.WriteString(c, request); err != nil {
			return err
		}
		var said []byte
		for part := make([]byte, 4<<10); !bytes.Contains(said, told); {
			n, err := c.Read(part)
			if err != nil {
				return fmt.Errorf("%w after %q", err, said)
			}
			said = append(said, part[:n]...)
		}
		if s, ok := c.(*tls.Conn); ok {
			c = s.NetConn() // how much comes is enough to know
		}
		l.reading.Go(func() { l.read(c) })
		return nil
	})
}

// told is in what comes last when a stream begins.
var told = []byte("event: numbers")

// listenByHTTP2 is listen by HTTP/2.
func (l *listeners) listenByHTTP2(ctx context.Context) error {
	shares := slices.Collect(slices.Chunk(l.tickets, l.each))
	l.conns = make([]net.Conn, len(shares))
	return inParallel(ctx, len(shares), func(i int) error {
		c, err := l.dial(ctx, i, "h2")
		if err != nil {
			return err
		}
		l.conns[i] = c
		return l.openStreams(c, shares[i])
	})
}

// openStreams opens a stream of HTTP/2 for each of the tickets, one after the other.
func (l *listeners) openStreams(c net.Conn, tickets []string) error {
	var header bytes.Buffer
	framer, fields := http2.NewFramer(c, c), hpack.NewEncoder(&header)
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		return err
	}
	if err := framer.WriteSettings(); err != nil {
		return err
	}
	for i, ticket := range tickets {
		header.Reset()
		if err := l.describe(fields, ticket); err != nil {
			return err
		}
		if err := openStream(framer, uint32(2*i+1), header.Bytes()); err != nil {
			return err
		}
	}
	l.reading.Go(func() { l.readFrames(framer, len(tickets)) })
	return nil
}

// describe writes the header of a request for the events of the holder of a ticket.
func (l *listeners) describe(to *hpack.Encoder, ticket string) error {
	for _, f := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", l.addr}, {":path", eventsPath},
		{"accept", "text/event-stream"}, {"user-agent", browser}, {"cookie", ticket}} {
		if err := to.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
			return err
		}
	}
	return nil
}

// openStream opens a stream, and waits until it has told the numbers.
func openStream(framer *http2.Framer, id uint32, header []byte) error {
	err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: header, EndStream: true, EndHeaders: true})
	for err == nil {
		var of uint32
		var data []byte
		if of, data, err = receive(framer); of == id && bytes.Contains(data, told) {
			break
		}
	}
	return err
}

// receive reads a frame, does what it asks for, and returns the stream that it is of, and its data.
func receive(framer *http2.Framer) (id uint32, data []byte, err error) {
	frame, err := framer.ReadFrame()
	if err != nil {
		return 0, nil, err
	}
	id = frame.Header().StreamID
	switch f := frame.(type) {
	case *http2.PingFrame:
		return 0, nil, framer.WritePing(true, f.Data)
	case *http2.SettingsFrame:
		if !f.IsAck() {
			return 0, nil, framer.WriteSettingsAck()
		}
	case *http2.DataFrame:
		n := uint32(len(f.Data()))
		return id, f.Data(), errors.Join(framer.WriteWindowUpdate(0, n), framer.WriteWindowUpdate(id, n))
	}
	return id, nil, nil
}

// eventsPath is where a gate has its event streams.
const eventsPath = "/.fairdoor/events"

// read counts what comes.
func (l *listeners) read(c net.Conn) {
	part, last := make([]byte, 1<<10), l.round.Load()
	for {
		n, err := c.Read(part)
		if err != nil {
			return
		}
		last = l.came(n, last)
	}
}

// readFrames counts what comes on the streams of a connection.
func (l *listeners) readFrames(framer *http2.Framer, streams int) {
	last := make([]int64, streams)
	for i := range last {
		last[i] = l.round.Load()
	}
	for {
		id, data, err := receive(framer)
		if err != nil {
			return
		}
		if len(data) > 0 {
			last[id/2] = l.came(len(data), last[id/2])
		}
	}
}

// came counts n bytes that have come to somebody who has heard of a round last, and returns
// of which they have heard now.
func (l *listeners) came(n int, last int64) int64 {
	l.parts.Add(1)
	l.bytes.Add(int64(n))
	now := l.round.Load()
	if now != last {
		l.heard.Add(1)
	}
	return now
}

// update has the numbers of the room change, and waits until all have been told.
func (l *listeners) update(ctx context.Context) error {
	all := l.heard.Load() + int64(l.open())
	l.round.Add(1)
	c, err := l.dial(ctx, 0, "http/1.1")
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := visit(c, bufio.NewReader(c), head(l.addr, navigation)); err != nil {
		return err
	}
	for limit := time.Now().Add(time.Minute); l.heard.Load() < all; {
		if time.Now().After(limit) {
			return fmt.Errorf("%d of %d were not told", all-l.heard.Load(), l.open())
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// rest has each visitor make a request over a connection that is kept then.
func (l *listeners) rest(ctx context.Context) error {
	l.conns = make([]net.Conn, len(l.tickets))
	return inParallel(ctx, len(l.conns), func(i int) error {
		c, err := l.dial(ctx, i, "http/1.1")
		if err != nil {
			return err
		}
		l.conns[i] = c
		_, err = visit(c, bufio.NewReader(c), head(l.addr, navigation)+"; "+l.tickets[i])
		return err
	})
}

// bareWrites returns what it costs to write so many bytes to each of n connections, and
// nothing else.
func bareWrites(ctx context.Context, n, length int) (spent, error) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return spent{}, fmt.Errorf("listening: %w", err)
	}
	defer server.Close()
	l := &listeners{addr: server.Addr().String()}
	defer l.close()
	accepted, err := l.connect(ctx, server, n)
	if err != nil {
		return spent{}, err
	}
	var all []spent
	for range 5 {
		s, err := writeToAll(accepted, make([]byte, length))
		if err != nil {
			return spent{}, err
		}
		all = append(all, s)
	}
	return median(all), nil
}

// connect connects n times to a server here, and returns the server's ends.
func (l *listeners) connect(ctx context.Context, to net.Listener, n int) (ends []syscall.RawConn, err error) {
	for i := range n {
		c, err := l.dial(ctx, i, "")
		if err != nil {
			return nil, err
		}
		end, err := to.Accept()
		if err != nil {
			return nil, err
		}
		raw, err := end.(*net.TCPConn).SyscallConn()
		if err != nil {
			return nil, err
		}
		l.conns, ends = append(l.conns, c, end), append(ends, raw)
		l.reading.Go(func() { l.read(c) })
	}
	return ends, nil
}

// writeToAll writes b to each connection, and returns what that costs its thread.
func writeToAll(to []syscall.RawConn, b []byte) (spent, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := threadTimes()
	if err != nil {
		return spent{}, err
	}
	var fault error
	for _, c := range to {
		_ = c.Control(func(fd uintptr) {
			if n, err := syscall.Write(int(fd), b); err != nil || n < len(b) {
				fault = fmt.Errorf("wrote %d of %d bytes: %w", n, len(b), err)
			}
		})
	}
	after, err := threadTimes()
	return after.less(before), errors.Join(fault, err)
}

func threadTimes() (spent, error) {
	const thread = 1 // RUSAGE_THREAD, of Linux
	var used syscall.Rusage
	err := syscall.Getrusage(thread, &used)
	return spent{time.Duration(used.Utime.Nano()), time.Duration(used.Stime.Nano())}, err
}
