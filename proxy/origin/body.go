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

// announced are the names of a request's announced trailer fields that may pass. net/http fills in the values when it has
// read the body to its end, together with fields that were never announced.
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

// mayTrail tells whether a field may pass as a trailer: neither one that is removed from headers, nor one that says how
// the request is to be taken, which an origin has to know before (RFC 9110, section 6.5.1). Some origins put trailers
// beside the headers, so that there must be nothing in them that the gate has decided about.
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
