package listen

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// stackStep is as much stack as makes the runtime give a goroutine 16 KiB of it in one step, in
// bytes. Nearly all requests fit in these.
const stackStep = 8 << 10

// growStack gives the goroutine of a stream the stack that a request needs. A goroutine begins with
// 2 KiB. When these are full, the runtime copies the stack to one of twice the size. With all the
// frames of a request on it, the copies would cost more than all that the gate does for the
// request. n is any index below stackStep; without it the compiler would leave the frame out.
//
//go:noinline
func growStack(n int) byte {
	var frame [stackStep]byte
	frame[n] = 1
	return frame[n/2]
}

// stall cuts off a stream of HTTP/2 on which a single read or write takes too long. A deadline
// would not do: on a stream it also takes effect while nobody reads or writes.
type stall struct {
	timeout time.Duration
	cut     func(time.Time) error // a stream's SetReadDeadline or SetWriteDeadline

	mu      sync.Mutex
	timer   *time.Timer
	waiting int  // reads or writes under way
	over    bool // the handler has returned: net/http may use the stream's memory for another one
}

func (s *stall) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting++
	if s.timer == nil {
		s.timer = time.AfterFunc(s.timeout, s.strike)
	} else {
		s.timer.Reset(s.timeout)
	}
}

func (s *stall) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting--; s.waiting == 0 {
		s.timer.Stop()
	}
}

// strike ends the read or write that is under way. It fails only on a stream that has ended.
func (s *stall) strike() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting > 0 && !s.over {
		_ = s.cut(time.Unix(1, 0))
	}
}

func (s *stall) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.timer != nil {
		s.timer.Stop()
	}
}

// streamBody is the body of an HTTP/2 request, which has to keep coming in while it is read.
type streamBody struct {
	io.ReadCloser
	stall
	still bool // it may stand still
}

func newStreamBody(w http.ResponseWriter, body io.ReadCloser, timeout time.Duration) *streamBody {
	cut := http.NewResponseController(w).SetReadDeadline
	return &streamBody{ReadCloser: body, stall: stall{timeout: timeout, cut: cut}}
}

// StandStill lets the body stand still, before it is read: that of a call whose two sides may be
// silent for long. The handler that hands it on says so.
func (b *streamBody) StandStill() { b.still = true }

func (b *streamBody) Read(p []byte) (int, error) {
	if b.still {
		return b.ReadCloser.Read(p)
	}
	b.begin()
	defer b.end()
	return b.ReadCloser.Read(p)
}

// streamWriter is the answer on an HTTP/2 stream, which the visitor has to keep reading.
type streamWriter struct {
	http.ResponseWriter
	stall
	control *http.ResponseController
}

func newStreamWriter(w http.ResponseWriter, timeout time.Duration) *streamWriter {
	control := http.NewResponseController(w)
	return &streamWriter{ResponseWriter: w, control: control, stall: stall{timeout: timeout, cut: control.SetWriteDeadline}}
}

// Unwrap is for http.ResponseController.
func (w *streamWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes p in chunks. Each of them has its own time to go out.
func (w *streamWriter) Write(p []byte) (int, error) {
	written := 0
	for {
		n, err := w.write(p[written:min(written+chunk, len(p))])
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

func (w *streamWriter) write(p []byte) (int, error) {
	w.begin()
	defer w.end()
	return w.ResponseWriter.Write(p)
}

// FlushError sends what has been written so far.
func (w *streamWriter) FlushError() error {
	w.begin()
	defer w.end()
	return w.control.Flush()
}

// Flush is FlushError for callers that do not need the error.
func (w *streamWriter) Flush() { _ = w.FlushError() }

// finish ends the watch. What is still buffered goes out after the handler has returned, with a
// deadline of its own.
func (w *streamWriter) finish() {
	w.stall.finish()
	_ = w.control.SetWriteDeadline(time.Now().Add(w.timeout))
}
