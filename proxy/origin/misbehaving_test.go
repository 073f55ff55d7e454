package origin_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// misbehaving is an origin on raw sockets. It does on each connection what the connection's script
// says, and behaves when a script has come to its end.
type misbehaving struct {
	net.Listener
	scripts [][]step                   // of the first connections
	notices bool                       // whether the gate closes a spoilt connection by itself, not only when it is to be used again
	patient *sync.Cond                 // of mu; told of every change
	wires   []*wire                    // the connections, in the order in which they came
	came    int                        // how many connections have come
	seen    []string                   // the requests, each with the number of its connection, from 1
	habit   func(target string) []step // what it does when it is asked for something, nil to behave; with mu
	visited bool                       // nobody visits at this moment
	mu      sync.Mutex
	running sync.WaitGroup
}

// wire is a connection to a misbehaving origin.
type wire struct {
	net.Conn
	origin *misbehaving
	number int
	in     *bufio.Reader
	raw    bytes.Buffer // what has come and is not yet in seen

	latest string // request
	idle   bool   // it waits for a request
	spoilt bool   // the gate must not use it any more
	gone   bool   // the gate has to end it by itself
	ended  bool
}

// step is what an origin does next on a connection. An error ends the connection.
type step func(*wire) error

func newMisbehaving(t testing.TB, config *tls.Config, scripts ...[]step) *misbehaving {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	if config != nil {
		l = tls.NewListener(l, config)
	}
	m := &misbehaving{Listener: l, scripts: scripts, visited: true}
	m.patient = sync.NewCond(&m.mu)
	m.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w := m.accept(c)
			m.running.Go(w.serve)
		}
	})
	t.Cleanup(func() { l.Close() })
	return m
}

func (m *misbehaving) accept(c net.Conn) *wire {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.came++
	w := &wire{Conn: c, origin: m, number: m.came}
	w.in = bufio.NewReader(io.TeeReader(c, &w.raw))
	m.wires = append(m.wires, w)
	return w
}

// script is what the next connections' steps are, from the first connection that has not come yet.
func (w *wire) script() []step {
	if w.number <= len(w.origin.scripts) {
		return w.origin.scripts[w.number-1]
	}
	return nil
}

func (w *wire) serve() {
	defer w.set(func() { w.ended = true })
	defer w.Close()
	err := w.do(w.script())
	for err == nil {
		if err = hear(w); err == nil {
			err = w.behave()
		}
	}
}

func (w *wire) do(steps []step) error {
	for _, do := range steps {
		if err := do(w); err != nil {
			return err
		}
	}
	return nil
}

// behave answers the latest request as an origin should, with what was asked for, or as it is asked
// to.
func (w *wire) behave() error {
	w.origin.mu.Lock()
	last, habit := w.latest, w.origin.habit
	w.origin.mu.Unlock()
	request := strings.Fields(last)
	if habit != nil {
		if steps := habit(request[2]); steps != nil {
			return w.do(steps)
		}
	}
	method, body := request[1], "fine "+request[2]
	header := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(body))
	if method == http.MethodHead {
		body = ""
	}
	return say(header + body)(w)
}

// set changes the state of the connection and tells who waits for it.
func (w *wire) set(change func()) {
	w.origin.mu.Lock()
	defer w.origin.mu.Unlock()
	change()
	w.origin.patient.Broadcast()
}

// hear waits for a request and reads it to its end.
func hear(w *wire) error {
	if err := peek(w); err != nil {
		return err
	}
	req, err := http.ReadRequest(w.in)
	if err == nil {
		_, err = io.Copy(io.Discard, req.Body)
	}
	w.set(func() {
		text := string(w.raw.Next(w.raw.Len() - w.in.Buffered()))
		w.latest = fmt.Sprintf("%d: %s", w.number, strings.ReplaceAll(text, w.origin.Addr().String(), "ORIGIN"))
		w.origin.seen = append(w.origin.seen, w.latest)
	})
	return err
}

// say sends text in one piece.
func say(text string) step {
	return func(w *wire) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// peek waits for the first byte of a request.
func peek(w *wire) error {
	w.set(func() { w.idle = true })
	defer w.set(func() { w.idle = false })
	if err := w.SetDeadline(time.Now().Add(2 * patience)); err != nil {
		return err
	}
	_, err := w.in.Peek(1)
	return err
}

// pass lets time pass.
func pass(d time.Duration) step {
	return func(*wire) error {
		<-time.After(d)
		return nil
	}
}

// drip sends text byte by byte.
func drip(text string) step {
	return func(w *wire) error {
		for i := range len(text) {
			if err := say(text[i : i+1])(w); err != nil {
				return err
			}
		}
		return nil
	}
}

// unused waits until the visitor has got the answer, so that the connection is unused.
func unused(w *wire) error {
	w.origin.until(func() bool { return w.origin.visited })
	return nil
}

// spoil says that the connection cannot be used any more after what comes next.
func spoil(w *wire) error {
	w.set(func() { w.spoilt = true })
	return nil
}

// hangUp ends the origin's side and waits for the gate to end its own.
func hangUp(w *wire) error {
	half, ok := w.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	if err := half.CloseWrite(); err != nil {
		return err
	}
	return leave(w)
}

// leave waits until the gate ends the connection, and sees whether it sends another request before.
func leave(w *wire) error {
	for {
		if err := hear(w); err != nil {
			return err
		}
	}
}

// expire waits for the gate to end an unused connection by itself.
func expire(w *wire) error {
	w.set(func() { w.gone = true })
	return leave(w)
}

// truncate closes the TCP connection below TLS without the end that TLS asks for.
func truncate(w *wire) error {
	c, ok := w.Conn.(*tls.Conn)
	if !ok {
		return errors.ErrUnsupported
	}
	half, ok := c.NetConn().(*net.TCPConn)
	if !ok {
		return errors.ErrUnsupported
	}
	if err := half.CloseWrite(); err != nil {
		return err
	}
	return leave(w)
}

// reset ends the connection by a reset.
func reset(w *wire) error {
	c, ok := w.Conn.(*net.TCPConn)
	if !ok {
		return errors.ErrUnsupported
	}
	if err := c.SetLinger(0); err != nil {
		return err
	}
	return io.EOF
}

// until waits for a condition, and reports whether it came.
func (m *misbehaving) until(is func() bool) bool {
	late := false
	timer := time.AfterFunc(patience, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		late = true
		m.patient.Broadcast()
	})
	defer timer.Stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for !is() && !late {
		m.patient.Wait()
	}
	return is()
}

// visit says that a visitor is there until the end of do, and then waits until all connections are
// still.
func (m *misbehaving) visit(t testing.TB, do func()) {
	t.Helper()
	m.tell(func() { m.visited = false })
	do()
	m.tell(func() { m.visited = true })
	assert.True(t, m.until(func() bool { return !slices.ContainsFunc(m.wires, m.moves) }), "the origin becomes still")
}

func (m *misbehaving) tell(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	m.patient.Broadcast()
}

// moves reports whether a connection has to come to rest before the next visitor may come.
func (m *misbehaving) moves(w *wire) bool {
	if w.gone || w.spoilt && m.notices {
		return !w.ended
	}
	return !w.idle && !w.ended
}

// requests are the requests that have come, and whether the last one came over a connection that
// had been used before.
func (m *misbehaving) requests() (seen []string, kept bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count := make(map[string]int)
	for _, text := range m.seen {
		number, _, _ := strings.Cut(text, ":")
		count[number]++
		kept = count[number] > 1
	}
	return slices.Clone(m.seen), kept
}

// othersEnd waits until all connections have ended but the one of the last request.
func (m *misbehaving) othersEnd(t testing.TB) {
	t.Helper()
	m.mu.Lock()
	last, _, _ := strings.Cut(m.seen[len(m.seen)-1], ":")
	m.mu.Unlock()
	assert.True(t, m.until(func() bool {
		return !slices.ContainsFunc(m.wires, func(w *wire) bool { return fmt.Sprint(w.number) != last && !w.ended })
	}), "the connections that cannot be used any more are closed")
}

// allEnd waits until all connections have ended.
func (m *misbehaving) allEnd(t testing.TB) {
	t.Helper()
	m.Close()
	m.running.Wait()
}

// disturb sends bytes on every unused connection, and ends it.
func (m *misbehaving) disturb(bytes string, end bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.wires {
		if half, ok := w.Conn.(*net.TCPConn); ok && w.idle && !w.ended {
			_, _ = io.WriteString(w, bytes)
			if end {
				_ = half.CloseWrite()
			}
		}
	}
}
