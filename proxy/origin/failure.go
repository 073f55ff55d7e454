package origin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"go.uber.org/zap"

	"github.com/fairdoor-gate/fairdoor/proxy/requestid"
)

// Failure is a way in which an origin fails to answer.
type Failure string

// The ways in which an origin fails to answer.
const (
	FailureDial    Failure = "dial"    // no connection: refused, unreachable, unknown name
	FailureTimeout Failure = "timeout" // no connection, or no answer, in time
	FailureBroken  Failure = "broken"  // the TLS handshake failed, the connection broke before the answer, or what came was no HTTP
)

// fault is why a round trip failed, and the status that the visitor gets. Its kind is empty where
// the origin is not to blame.
type fault struct {
	kind   Failure
	status int // 0 if the visitor has left
	err    error
}

func (f *fault) Error() string { return f.err.Error() }

func (f *fault) Unwrap() error { return f.err }

// blame finds out whose fault it was that a round trip failed. A failure that a visitor can cause
// must not count against the origin: else a stranger could stop the admissions.
func (o *Origin) blame(r *http.Request, err error) *fault {
	err = brief{fmt.Errorf("asking the origin: %w", err)}
	if status := visitorStatus(r); status != 0 { // before the context: net/http cancels a request whose body it cannot read on
		return &fault{status: status, err: err}
	}
	if errors.Is(r.Context().Err(), context.Canceled) {
		return &fault{err: err}
	}
	var (
		network net.Error
		dial    *net.OpError
	)
	switch {
	case errors.As(err, &network) && network.Timeout():
		return &fault{kind: FailureTimeout, status: http.StatusGatewayTimeout, err: err}
	case errors.As(err, &dial) && dial.Op == "dial":
		return &fault{kind: FailureDial, status: http.StatusBadGateway, err: err}
	}
	return &fault{kind: FailureBroken, status: http.StatusBadGateway, err: err}
}

// maxReason bounds the text of an error, in bytes. net/http quotes what it cannot read, which may
// be as long as a header.
const maxReason = 512

// brief is an error with a text of at most maxReason bytes.
type brief struct{ error }

func (b brief) Error() string {
	text := b.error.Error()
	if len(text) > maxReason {
		return strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}

func (b brief) Unwrap() error { return b.error }

// failed counts a failure to answer.
func (o *Origin) failed(r *http.Request, f *fault) {
	o.cfg.Metrics.Failed(f.kind)
	if !o.Failing() {
		o.log.Warn("origin did not answer", requestid.Field(r), zap.String("failure", string(f.kind)), zap.Error(f.err))
	}
	if f.kind != FailureBroken || !breakable(r) {
		remember(&o.hosts.failed, r.Host)
		o.breaker.failed(r, f.err)
	}
}

// breakable reports whether an origin that does not fail may break off the connection of such a
// request. An origin need not know websockets. And it may answer before the end of a body, which
// the gate does not see while it is still sending.
func breakable(r *http.Request) bool { return r.Body != nil || r.Header["Upgrade"] != nil }

// explain answers a request that has no answer of the origin.
func (o *Origin) explain(w http.ResponseWriter, r *http.Request, err error) {
	endEarly(w.Header(), r)
	var f *fault
	switch {
	case !errors.As(err, &f): // the origin did answer, but with a switch of protocols that cannot be passed on
		o.log.Warn("origin's answer cannot be passed on", requestid.Field(r), zap.Error(err))
		o.cfg.ErrorHandler(w, r, http.StatusBadGateway)
	case f.status == 0:
		panic(http.ErrAbortHandler)
	default:
		o.cfg.ErrorHandler(w, r, f.status)
	}
}
