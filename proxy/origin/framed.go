package origin

import (
	"io"
	"net"
	"sync"
)

// framed is a connection for net/http's transport, which has the answers end where they end: what
// comes after an answer and before the next request is not passed on, and ends the connection.
// net/http alone would take some of it for the next answer.
type framed struct {
	net.Conn
	unasked func(begin []byte) // is called with how begins what belongs to no answer

	mu      sync.Mutex // net/http reads and writes on goroutines of their own
	at      part
	heading heading
	left    int64 // of a body of known length
	chunks  chunks
}

// part is what comes next on a framed connection.
type part uint8

const (
	inHeader part = iota
	inLength      // a body of known length
	inChunks
	untilEnd // bytes until the connection ends
	between  // nothing, until the next request
	atEnd    // nothing any more
)

func newFramed(c net.Conn, unasked func(begin []byte)) *framed {
	f := &framed{Conn: c, unasked: unasked}
	f.heading.begin()
	return f
}

// Write sends a request, or a part of one.
func (f *framed) Write(p []byte) (int, error) {
	f.mu.Lock()
	if f.at == between {
		f.at = inHeader
		f.heading.begin()
	}
	f.mu.Unlock()
	return f.Conn.Write(p)
}

// Read reads on, up to the end of the answer. The connection ends with an answer after which it
// must not be used again.
func (f *framed) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	f.mu.Lock()
	defer f.mu.Unlock()
	used, bad := f.take(p[:n])
	switch {
	case bad != nil:
		return 0, bad
	case used < n:
		f.at = atEnd
		f.unasked(p[used:min(n, used+lookahead)])
	}
	if f.at == atEnd {
		return used, io.EOF
	}
	return used, err
}

// take returns how many of the bytes that have come belong to an answer. mu is held.
func (f *framed) take(p []byte) (used int, err error) {
	if f.at == inHeader {
		if used, err = f.heading.take(p); err != nil || !f.heading.whole {
			return used, err
		}
		f.beginBody()
	}
	rest := p[used:]
	switch f.at {
	case inLength:
		n := min(f.left, int64(len(rest)))
		if f.left -= n; f.left == 0 {
			f.at = between
		}
		return used + int(n), nil
	case inChunks:
		n := f.chunks.take(rest)
		if f.chunks.ended {
			f.at = between
		}
		return used + n, nil
	case untilEnd:
		return len(p), nil
	default:
	}
	return used, nil
}

// beginBody finds out what follows a header.
func (f *framed) beginBody() {
	h := &f.heading
	switch {
	case h.status < 200: // a switch of protocols, or no status
		f.at = untilEnd
	case h.liesInWait():
		f.at = atEnd
	case h.bodiless(), h.length == 0 && !h.chunked:
		f.at = between
	case h.chunked:
		f.at, f.chunks = inChunks, chunks{line: f.chunks.line[:0]}
	case h.length > 0:
		f.at, f.left = inLength, h.length
	default:
		f.at = untilEnd
	}
}

// CloseWrite lets a websocket end in one direction.
func (f *framed) CloseWrite() error { return endWrite(f.Conn) }
