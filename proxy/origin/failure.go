package origin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"go.uber.org/zap"
)

// Failure is a way in which an origin fails to answer.
type Failure string

// The ways in which an origin fails to answer.
const (
	FailureDial    Failure = "dial"    // no connection: refused, unreachable, unknown name, TLS handshake failed
	FailureTimeout Failure = "timeout" // no connection, or no answer, in time
	FailureBroken  Failure = "broken"  // the connection broke before the answer, or what came was no HTTP
)

// fault is why a round trip failed and what the visitor is told. Its kind is empty where the origin is not to blame.
type fault struct {
	kind   Failure
	status int // 0 if nobody is left to be told
	err    error
}

func (f *fault) Error() string { return f.err.Error() }

func (f *fault) Unwrap() error { return f.err }

// blame finds out whose fault the end of a round trip was. What a visitor can bring about must not count against the
// origin: admissions would be paused at a stranger's word.
func (o *Origin) blame(r *http.Request, err error) *fault {
	err = fmt.Errorf("asking the origin: %w", err)
	if status := visitorStatus(r); status != 0 { // looked at first: net/http cancels a request that it cannot read on
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

// failed takes note of a failure to answer.
func (o *Origin) failed(r *http.Request, f *fault) {
	o.cfg.Metrics.Failed(f.kind)
	if !o.Failing() {
		o.log.Warn("origin did not answer", zap.String("failure", string(f.kind)), zap.Error(f.err))
	}
	if f.kind != FailureBroken || !breakable(r) {
		note(&o.hosts.failed, r.Host)
		o.breaker.failed(r, f.err)
	}
}

// breakable tells whether an origin that is well may break off the connection that a request came by: it need not know
// websockets, and it may have answered before the end of a body, which nobody reads who is still sending.
func breakable(r *http.Request) bool { return r.Body != nil || r.Header["Upgrade"] != nil }

// explain answers a request that has no answer of the origin.
func (o *Origin) explain(w http.ResponseWriter, r *http.Request, err error) {
	var f *fault
	switch {
	case !errors.As(err, &f): // it did answer, but with a switch of protocols that cannot be passed on
		o.log.Warn("origin's answer cannot be passed on", zap.Error(err))
		o.cfg.ErrorHandler(w, r, http.StatusBadGateway)
	case f.status == 0:
		panic(http.ErrAbortHandler)
	default:
		o.cfg.ErrorHandler(w, r, f.status)
	}
}
