package listen

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// serverKey is the key of a request's *Server, in the request's context.
type serverKey struct{}

// context is what the contexts of all requests come from.
func (s *Server) context(net.Listener) context.Context {
	return context.WithValue(context.Background(), serverKey{}, s)
}

// Detached is the body of an answer that net/http has forgotten. It is for answers that take long
// and on which little is sent, such as event streams: net/http would keep two buffers, two
// goroutines and the request for each of them. Detach makes it.
type Detached struct {
	conn    net.Conn
	chunked bool
}

// Detach has serve write the body of an answer, on a goroutine of its own. The answer has its
// header (WriteHeader), which says that the connection is closed afterwards. The handler had best
// return then: what net/http keeps for a request is free when it has. The connection is closed when
// serve returns, and Shutdown waits for that as for a handler.
//
// Detach does nothing and returns false if the answer cannot be detached: another server serves the
// request, or it came by HTTP/2, where many answers share a connection.
func Detach(w http.ResponseWriter, r *http.Request, serve func(*Detached)) bool {
	s, ok := r.Context().Value(serverKey{}).(*Server)
	if !ok || r.ProtoMajor != 1 {
		return false
	}
	if !s.tunnels.enter() {
		return false
	}
	conn, _, err := http.NewResponseController(w).Hijack() // sends the header
	if err != nil {
		s.tunnels.leave()
		return false
	}
	d := &Detached{conn: conn, chunked: r.ProtoAtLeast(1, 1)} // as the header says
	go func() {
		defer s.tunnels.leave()
		defer d.conn.Close()
		serve(d)
	}()
	return true
}

var chunks = sync.Pool{New: func() any { return new([]byte) }}

// Write sends p at once.
func (d *Detached) Write(p []byte) (int, error) {
	if !d.chunked {
		return d.conn.Write(p)
	}
	buf := chunks.Get().(*[]byte)
	defer chunks.Put(buf)
	*buf = append(strconv.AppendInt((*buf)[:0], int64(len(p)), 16), "\r\n"...)
	*buf = append(append(*buf, p...), "\r\n"...)
	if _, err := d.conn.Write(*buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close ends the body and closes the connection. Nobody may write meanwhile.
func (d *Detached) Close() error {
	if d.chunked {
		_, _ = d.conn.Write([]byte("0\r\n\r\n")) // a visitor who does not get it takes the body for cut short
	}
	return d.conn.Close()
}

// Wait waits until the connection is closed here, or by the visitor, and closes it then. What the
// visitor sends means nothing: they have been told that the connection ends with the answer.
func (d *Detached) Wait() {
	in := d.conn
	if secure, ok := in.(interface{ NetConn() net.Conn }); ok {
		in = secure.NetConn() // the end of a connection shows below TLS too, where reading takes less memory
	}
	if _, err := in.Read(make([]byte, 1)); err == nil {
		_, _ = io.CopyN(io.Discard, in, 64<<10) // with a buffer, which few need
	}
	_ = d.conn.Close()
}
