package origin

import (
	"context"
	"iter"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"slices"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/requestid"
)

// rewrite makes the request for the origin. ReverseProxy has already removed the hop-by-hop headers
// from Out: so a Connection header cannot remove anything that is set here.
func (o *Origin) rewrite(pr *httputil.ProxyRequest) {
	out, in := pr.Out, pr.In
	setTarget(out, in)
	out.URL.Scheme, out.URL.Host, out.URL.User = schemeOf(o.cfg.URL), o.cfg.URL.Host, nil
	out.Host = hostFor(in)
	restore(out.Header, in.Header)
	o.trust.Forward(out.Header, in)
	for f, _ := in.Context().Value(fieldKey{}).(*field); f != nil; f = f.before {
		out.Header[f.name] = f.lines
	}
	if out.Body != nil {
		out.Trailer = announced(in)
		out.Body = &body{ReadCloser: out.Body, in: in, trailer: out.Trailer}
	} else {
		out.Trailer = nil
	}
}

type fieldKey struct{}

// field is a header of the gate's own for the origin, and those that were given before it.
type field struct {
	name   string
	lines  []string
	before *field
}

// WithField returns the request with a header for the origin, whose lines must not be changed. A
// visitor's header of that name does not get there if it is one of the gate's own; see
// [Trust.Forward].
func WithField(r *http.Request, name string, lines []string) *http.Request {
	before, _ := r.Context().Value(fieldKey{}).(*field)
	return r.WithContext(context.WithValue(r.Context(), fieldKey{}, &field{name, lines, before}))
}

// endToEnd are fields that always go to the origin, even if a Connection header names them, which
// RFC 9110, section 7.6.1, forbids. Without this a visitor could have the gate see a Cookie that
// the origin does not see.
var endToEnd = []string{
	"Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control", "Content-Encoding",
	"Content-Language", "Content-Type", "Cookie", "Date", "Expect", "If-Match", "If-Modified-Since", "If-None-Match",
	"If-Range", "If-Unmodified-Since", "Origin", "Pragma", "Range", "Referer", "User-Agent", requestid.Header,
}

// restore puts the end-to-end fields back that a Connection header has removed.
func restore(out, in http.Header) {
	for name := range namedByConnection(in) {
		if _, ok := slices.BinarySearch(endToEnd, name); ok && in[name] != nil {
			out[name] = in[name]
		}
	}
}

// namedByConnection yields the fields that are for the next hop only by the Connection header.
func namedByConnection(h http.Header) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range h["Connection"] {
			for name := range strings.SplitSeq(line, ",") {
				if !yield(textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name))) {
					return
				}
			}
		}
	}
}

// asksForWebsocket reports whether the Upgrade header of a request, or of its answer, is the one
// token websocket. No other protocol passes: with h2c, for example, the gate would not see the
// requests after the switch.
func asksForWebsocket(h http.Header) bool {
	up := h["Upgrade"]
	return len(up) == 1 && strings.EqualFold(textproto.TrimString(up[0]), "websocket")
}

// withoutUpgrade returns r without the request for another protocol. r itself is not changed.
func withoutUpgrade(r *http.Request) *http.Request {
	plain := r.WithContext(r.Context())
	plain.Header = r.Header.Clone()
	plain.Header.Del("Upgrade")
	return plain
}
