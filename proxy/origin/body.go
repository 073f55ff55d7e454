package origin

import (
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// body is a visitor's request body on its way to the origin. It remembers whether the visitor broke
// it off, because that must not count as a failure of the origin. At its end it copies the trailer.
// A transport may read it in a goroutine of its own.
type body struct {
	io.ReadCloser
	in      *http.Request
	trailer http.Header
	broken  atomic.Pointer[error]
	ended   atomic.Bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == io.EOF:
		for name := range b.trailer {
			b.trailer[name] = b.in.Trailer[name]
		}
		b.ended.Store(true)
	case err != nil:
		b.broken.Store(&err)
	}
	return n, err
}

// endEarly says in the header of an answer by HTTP/1.1 to r, if it comes before the end of the
// visitor's body, that the connection ends with it: the rest of the body may never come.
func endEarly(answer http.Header, r *http.Request) {
	if b, ok := r.Body.(*body); ok && b.in.ProtoMajor == 1 && !b.ended.Load() {
		answer["Connection"] = []string{"close"}
	}
}

// continuedOnce answers a request that waits for 100 Continue. net/http says it as soon as the body is
// read, and that begins when the origin has said it: passed on, too, it would be said twice.
type continuedOnce struct{ http.ResponseWriter }

// Unwrap is for http.ResponseController.
func (w continuedOnce) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader passes on the status of an answer, but for 100 Continue.
func (w continuedOnce) WriteHeader(status int) {
	if status != http.StatusContinue {
		w.ResponseWriter.WriteHeader(status)
	}
}

// leaving is for how long a visitor may go on sending a body whose request has its answer.
const leaving = 500 * time.Millisecond

// leave closes the body of a request whose answer came before the body's end. A transport may still
// read the body: net/http would break that read off, and then close the connection at once, so that
// the visitor who is sending may never read the answer.
func leave(w http.ResponseWriter, r *http.Request) {
	if w.Header().Get("Connection") != "close" {
		return
	}
	control := http.NewResponseController(w)
	_ = control.Flush() // it fails for those who have left
	_ = control.SetReadDeadline(time.Now().Add(leaving))
	_ = r.Body.Close()
}

// announced returns the trailer fields that a request has announced and that may pass, without
// values. When net/http has read the body to its end, it sets the values of these fields, and of
// others that were never announced.
func announced(in *http.Request) http.Header {
	if len(in.Trailer) == 0 {
		return nil
	}
	names := make(http.Header, len(in.Trailer))
	for name := range in.Trailer {
		if mayTrail(name) {
			names[name] = nil
		}
	}
	for name := range namedByConnection(in.Header) {
		delete(names, name)
	}
	return names
}

// mayTrail reports whether a field may pass as a trailer. A field may not if the gate removes it
// from headers, or if the origin has to know it before the body (RFC 9110, section 6.5.1). Some
// origins put trailers beside the headers: so a trailer must not have a field that the gate has
// checked in the headers.
func mayTrail(name string) bool {
	name = textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(name, "_", "-"))
	if _, header := slices.BinarySearch(endToEnd, name); header || strings.HasPrefix(name, "Proxy-") {
		return false
	}
	switch name {
	case "Connection", "Content-Length", "Host", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return false
	}
	return fieldKind(name) == ordinary
}

// visitorStatus is the status for a request whose body the visitor did not send as they should,
// else 0.
func visitorStatus(r *http.Request) int {
	b, ok := r.Body.(*body)
	if !ok {
		return 0
	}
	err := b.broken.Load()
	switch {
	case err == nil:
		return 0
	case errors.Is(*err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}
