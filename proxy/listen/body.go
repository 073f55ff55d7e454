package listen

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// connBody is the body of an HTTP/1.1 request, which has to keep coming in. Its deadline is the
// connection's read deadline. It is set from the start, so that it also bounds the time in which
// net/http reads the rest of a body that the handler has left. It is taken away at the body's end,
// because from then on net/http reads to notice when the visitor leaves.
//
// A deadline that passes while nobody reads does no harm, since every Read renews it first.
type connBody struct {
	io.ReadCloser
	control *http.ResponseController
	timeout time.Duration

	mu       sync.Mutex
	renewed  time.Time
	finished bool // the handler has returned: the deadline is net/http's again
}

func newConnBody(w http.ResponseWriter, body io.ReadCloser, timeout time.Duration) *connBody {
	b := &connBody{ReadCloser: body, control: http.NewResponseController(w), timeout: timeout}
	b.renew()
	return b
}

func (b *connBody) Read(p []byte) (int, error) {
	b.renew()
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.end()
	}
	return n, err
}

// renew gives the next read its time. It moves the deadline only when a quarter of the time has
// passed. For that the deadline is a quarter later.
func (b *connBody) renew() {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.renewed) >= b.timeout/4 {
		b.renewed = now
		b.set(now.Add(b.timeout + b.timeout/4))
	}
}

// end takes the deadline away.
func (b *connBody) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(time.Time{})
}

// set sets the deadline, with mu held. It fails only on a connection that is closed, and then so
// does the next read.
func (b *connBody) set(deadline time.Time) {
	if !b.finished {
		_ = b.control.SetReadDeadline(deadline)
	}
}

// finish leaves the deadline to net/http. A transport may go on reading for a moment after the
// handler has returned.
func (b *connBody) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.finished = true
}

// withBody returns r with another body, in a copy: net/http goes by the type of the body that r
// has.
func withBody(r *http.Request, body io.ReadCloser) *http.Request {
	r = r.WithContext(r.Context())
	r.Body = body
	return r
}
