package origin

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/textproto"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// recordWait is how long somebody who looks for an unused connection waits at most for the rest of
// the TLS records that have begun to come in. The connections that they come in on are closed, in
// any case.
const recordWait = 50 * time.Millisecond

// conn is a connection to the origin. It carries one request at a time, on the goroutine of that
// request.
type conn struct {
	of     *direct
	stream net.Conn // with TLS if the origin speaks it
	wire   net.Conn // below TLS
	socket *socket
	in     *bufio.Reader   // of Read
	out    *bufio.Writer   // to Write
	ahead  [lookahead]byte // the beginning of what the origin has sent unasked over TLS

	sent, received bool // whether a byte of the request was sent, and one of its answer received
	heading        heading
	headerLeft     int64 // how many bytes of headers may still come
	inBody         bool  // the header is there
	failure        error // of reading the header

	// For the pool. Its lock guards ctx, began, place and cut.
	ctx       context.Context // of the request under way; nil without one
	began     time.Time       // when that request began
	place     int             // of the connection, in pool.busy
	cut       error           // why the pool has cut the connection off, for good
	settled   atomic.Bool     // either the header of the answer is there, or the pool has found it late
	idleSince time.Time       // when the last request ended
}

func newConn(stream net.Conn, of *direct) (*conn, error) {
	wire := stream
	if secure, ok := stream.(*tls.Conn); ok {
		wire = secure.NetConn()
	}
	s, err := socketOf(wire)
	if err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	c := &conn{of: of, stream: stream, wire: wire, socket: s}
	c.in, c.out = bufio.NewReader(c), bufio.NewWriter(c)
	return c, nil
}

// roundTrip sends a request with its body, and waits for the header of the answer. An error closes
// the connection. Else the connection is kept or closed when the answer's body ends.
func (c *conn) roundTrip(req *http.Request, body []byte) (*http.Response, error) {
	resp, err := c.exchange(req, body)
	if err == nil {
		c.carry(resp)
		return resp, nil
	}
	cut := c.of.pool.drop(c)
	switch left := req.Context().Err(); {
	case left != nil:
		return nil, left
	case cut != nil:
		return nil, cut
	}
	return nil, err
}

// exchange sends a request and reads the header of its answer.
func (c *conn) exchange(req *http.Request, body []byte) (*http.Response, error) {
	c.sent, c.received, c.inBody, c.failure = false, false, false, nil
	c.heading.begin()
	broken := c.send(req, body)
	if broken != nil && !c.sent {
		return nil, broken
	}
	resp, err := c.receive(req)
	if broken != nil { // the origin may have answered before it ended the connection
		if err != nil {
			return nil, broken
		}
		resp.Close = true
	}
	if err == nil && !c.settled.CompareAndSwap(false, true) {
		return nil, errLate
	}
	return resp, err
}

// send writes a request with its body, if it has one.
func (c *conn) send(req *http.Request, body []byte) error {
	if body != nil {
		req = req.WithContext(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	if err := req.Write(c.out); err != nil {
		return fmt.Errorf("sending the request: %w", err)
	}
	if err := c.out.Flush(); err != nil {
		return fmt.Errorf("sending the request: %w", err)
	}
	return nil
}

// receive reads the header of the answer, and passes on the 1xx answers before it. Each of them may
// be as large as the header.
func (c *conn) receive(req *http.Request) (*http.Response, error) {
	for {
		c.headerLeft = maxResponseHeader
		resp, err := http.ReadResponse(c.in, req)
		switch {
		case err != nil:
			return nil, c.noAnswer(err)
		case resp.StatusCode/100 != 1 || resp.StatusCode == http.StatusSwitchingProtocols:
			c.inBody = true
			return resp, c.checkChunks(resp)
		}
		if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.Got1xxResponse != nil {
			if err := trace.Got1xxResponse(resp.StatusCode, textproto.MIMEHeader(resp.Header)); err != nil {
				return nil, fmt.Errorf("passing on an answer %d: %w", resp.StatusCode, err)
			}
		}
	}
}

// noAnswer says why there is no answer, for which http.ReadResponse has given its reason. If the
// stream failed in the middle of a line, that reason is about the line.
func (c *conn) noAnswer(reason error) error {
	switch {
	case c.failure != nil:
		reason = c.failure
	case !c.received:
		return errors.New("the origin ended the connection without an answer")
	}
	return fmt.Errorf("reading the answer's header: %w", reason)
}

// checkers read chunks without taking them.
var checkers = sync.Pool{New: func() any { return bufio.NewReader(nil) }}

// checkChunks returns what is wrong with those chunks of an answer that have come with its header.
// Nothing has been answered so far, so the visitor is told that there is no answer. What is wrong
// with later ones breaks the answer off.
func (c *conn) checkChunks(resp *http.Response) error {
	if resp.Body == http.NoBody || resp.TransferEncoding == nil || c.in.Buffered() == 0 {
		return nil
	}
	come, err := c.in.Peek(c.in.Buffered())
	if err != nil {
		return fmt.Errorf("looking at the answer's chunks: %w", err)
	}
	checker := checkers.Get().(*bufio.Reader)
	defer checkers.Put(checker)
	checker.Reset(bytes.NewReader(come))
	if _, err := io.Copy(io.Discard, httputil.NewChunkedReader(checker)); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("reading the answer's chunks: %w", err)
	}
	return nil
}

// Read reads from the stream, for in. It bounds the headers of answers, and looks at them.
func (c *conn) Read(p []byte) (int, error) {
	if c.inBody {
		return c.stream.Read(p)
	}
	if c.headerLeft <= 0 {
		c.failure = fmt.Errorf("it is longer than %d bytes", maxResponseHeader)
		return 0, c.failure
	}
	n, err := c.stream.Read(p[:min(int64(len(p)), c.headerLeft)])
	c.headerLeft -= int64(n)
	c.received = c.received || n > 0
	if _, bad := c.heading.take(p[:n]); bad != nil {
		n, err = 0, bad
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.failure = err
	}
	return n, err
}

// Write writes to the stream, for out.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.stream.Write(p)
	c.sent = c.sent || n > 0
	return n, err
}

// carry has the connection end with the body of the answer. After a switch of protocols it speaks
// no HTTP any more, and an origin whose status is below 100 does not anyway.
func (c *conn) carry(resp *http.Response) {
	b := &answerBody{ReadCloser: resp.Body, conn: c, req: resp.Request}
	b.keep = !resp.Close && resp.StatusCode >= 200
	if resp.Body == http.NoBody {
		b.end(b.keep)
		return
	}
	resp.Body = b
}

// close closes the connection.
func (c *conn) close() { _ = c.stream.Close() }

// quiet reports whether the connection may carry another request: the origin has neither ended it
// nor sent anything unasked. now is when somebody began to look for a connection.
func (c *conn) quiet(now time.Time) bool {
	came, quiet := c.socket.look()
	if secure, ok := c.stream.(*tls.Conn); ok {
		came, quiet = lookInto(secure, c.ahead[:], quiet, now)
	}
	if len(came) > 0 {
		c.of.unasked(came)
	}
	return quiet
}

// lookInto reads what has come in on a TLS connection. It returns how that begins, and whether the
// connection is quiet. It does not ask a quiet socket: it reads with a deadline that has passed.
// From any other socket it reads a whole record.
func lookInto(secure *tls.Conn, ahead []byte, quiet bool, now time.Time) ([]byte, bool) {
	deadline := time.Unix(1, 0)
	if !quiet {
		deadline = now.Add(recordWait)
	}
	if secure.SetReadDeadline(deadline) != nil {
		return nil, false
	}
	n, err := secure.Read(ahead)
	return ahead[:n], quiet && n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && secure.SetReadDeadline(time.Time{}) == nil
}

// answerBody is the body of an answer. With its end the connection is free for the next request.
type answerBody struct {
	io.ReadCloser // never closed, for that would read the rest
	conn          *conn
	req           *http.Request
	keep, ended   bool
}

// Read reads on. If the visitor has left, that is the error.
func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == nil {
		return n, nil
	}
	b.end(b.keep && err == io.EOF)
	if left := b.req.Context().Err(); left != nil && err != io.EOF {
		return n, left
	}
	return n, err
}

// Close ends the answer. It closes the connection if something of the answer is left.
func (b *answerBody) Close() error {
	b.end(false)
	return nil
}

// end keeps the connection for other requests, or closes it.
func (b *answerBody) end(keep bool) {
	if b.ended {
		return
	}
	b.ended = true
	if !keep {
		_ = b.conn.of.pool.drop(b.conn)
		return
	}
	b.conn.of.ended(b.conn)
}
