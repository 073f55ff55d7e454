package events

import (
	"context"
	"io"
	"net/http"
)

// Line is what a stream is sent over. One goroutine at a time writes or closes.
type Line interface {
	// Write sends an event at once.
	io.Writer

	// Close ends the answer.
	io.Closer

	// Wait waits until the answer has ended or the visitor has gone.
	Wait()
}

// Detach has serve send an answer on a goroutine of its own, and without what a server keeps for
// a request. The answer has its header. Detach returns false if it cannot.
type Detach func(w http.ResponseWriter, r *http.Request, serve func(Line)) bool

// attached is a line that lasts as long as its request.
type attached struct {
	http.ResponseWriter
	gone  context.Context
	ended chan struct{}
}

func newAttached(w http.ResponseWriter, r *http.Request) *attached {
	return &attached{ResponseWriter: w, gone: r.Context(), ended: make(chan struct{})}
}

func (a *attached) Write(p []byte) (int, error) {
	n, err := a.ResponseWriter.Write(p)
	if err == nil {
		err = http.NewResponseController(a.ResponseWriter).Flush()
	}
	return n, err
}

func (a *attached) Wait() {
	select {
	case <-a.gone.Done():
	case <-a.ended:
	}
}

func (a *attached) Close() error {
	close(a.ended)
	return nil
}

// Header values that all streams share; net/http does not change them.
var (
	noStore     = []string{"no-store"}
	noSniff     = []string{"nosniff"}
	eventStream = []string{"text/event-stream"}
	unbuffered  = []string{"no"}
	closed      = []string{"close"}
)

// sendHeader sends the header of a stream. In HTTP/1.1 it says that the connection ends with
// the stream, as it does if the answer is detached.
func sendHeader(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Cache-Control"], h["Content-Type"], h["X-Content-Type-Options"] = noStore, eventStream, noSniff
	h["X-Accel-Buffering"] = unbuffered
	if r.ProtoMajor == 1 {
		h["Connection"] = closed
	}
	w.WriteHeader(http.StatusOK)
}
