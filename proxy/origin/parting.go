package origin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// parting is how long a websocket lasts after one side has ended it. The other side may still end
// its own; if it never does, it does not keep the connection open.
const parting = 3 * time.Second

// halfCloser is a connection that can end in one direction.
type halfCloser interface{ CloseWrite() error }

// endWrite ends one direction of a connection.
func endWrite(conn any) error {
	half, ok := conn.(halfCloser)
	if !ok {
		return fmt.Errorf("closing one direction: %w", errors.ErrUnsupported)
	}
	return half.CloseWrite()
}

// partingWriter gives out the visitor's connection as one that ends soon after the origin has ended
// its side.
type partingWriter struct{ http.ResponseWriter }

// Unwrap is for http.ResponseController.
func (w partingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack takes over the connection.
func (w partingWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err // ReverseProxy looks at the error
	}
	return partingConn{conn}, buffered, nil
}

// partingConn is the visitor's end of a websocket.
type partingConn struct{ net.Conn }

// CloseWrite ends the direction to the visitor, who then has the time of parting to end the other
// one.
func (c partingConn) CloseWrite() error {
	if err := c.SetReadDeadline(time.Now().Add(parting)); err != nil {
		return fmt.Errorf("setting the time of parting: %w", err)
	}
	return endWrite(c.Conn)
}

// partingBody is the origin's end of a websocket.
type partingBody struct{ io.ReadWriteCloser }

// Read reads what the origin sends. After the origin has ended its side, it has the time of parting
// to read on.
func (b partingBody) Read(p []byte) (int, error) {
	n, err := b.ReadWriteCloser.Read(p)
	if err != nil {
		b.part()
	}
	return n, err
}

// part closes the connection soon.
func (b partingBody) part() { time.AfterFunc(parting, func() { _ = b.Close() }) }

// CloseWrite ends the direction to the origin, which then has the time of parting to end the other
// one.
func (b partingBody) CloseWrite() error {
	b.part()
	return endWrite(b.ReadWriteCloser)
}
