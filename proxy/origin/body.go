package origin

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
)

// body is a visitor's request body on its way to the origin. It remembers whether the visitor broke it off, which must
// not count as a failure of the origin, and hands over the trailer at its end. The transport reads it in a goroutine of
// its own.
type body struct {
	io.ReadCloser
	in      *http.Request
	trailer http.Header
	broken  atomic.Pointer[error]
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == io.EOF:
		for name := range b.trailer {
			b.trailer[name] = b.in.Trailer[name]
		}
	case err != nil:
		b.broken.Store(&err)
	}
	return n, err
}

// announced are the names of a request's announced trailer fields, the ones that may pass. net/http fills in the values
// when it has read the body to its end, together with fields that were never announced.
func announced(trailer http.Header) http.Header {
	if len(trailer) == 0 {
		return nil
	}
	names := make(http.Header, len(trailer))
	for name := range trailer {
		if fieldKind(name) == ordinary {
			names[name] = nil
		}
	}
	return names
}

// visitorStatus is the answer to a request whose body the visitor did not send properly, and 0 if that was not so.
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
