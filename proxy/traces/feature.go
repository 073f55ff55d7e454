package traces

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairdoor-gate/fairdoor/proxy/feature"
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/requestid"
	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/room"
)

// Feature traces the requests of a gate.
type Feature struct {
	gate feature.Gate
	*Tracer
}

// NewFeature returns what traces the requests of a gate.
func NewFeature(g feature.Gate, t *Tracer) *Feature { return &Feature{g, t} }

// carried are the headers by which a trace goes on (W3C Trace Context).
var carried propagation.TraceContext

// Begin implements [feature.Escort]: it begins the span of a request. A trace goes on that a proxy has
// begun which is trusted: a stranger may not choose what is traced.
func (f *Feature) Begin(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request, feature.Ender) {
	ctx := r.Context()
	if f.gate.Trust().TrustsPeer(r) {
		ctx = carried.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	delete(r.Header, "Tracestate")
	ctx, span := f.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", r.Method), attribute.String("url.path", path(r.URL.Path)),
		attribute.String("server.address", r.Host), attribute.String("fairdoor.request_id", requestid.Of(r))))
	carried.Inject(ctx, propagation.HeaderCarrier(r.Header))
	answer, end := watched(w, span)
	return answer, r.WithContext(ctx), end
}

// path is an address's; of the gate's own, which may have secrets, only what it is for.
func path(path string) string {
	if below, own := strings.CutPrefix(path, feature.Paths); own {
		name, _, _ := strings.Cut(below, "/")
		return feature.Paths + name
	}
	return path
}

// watched is a writer of an answer whose end, and status, a span tells.
func watched(w http.ResponseWriter, span trace.Span) (http.ResponseWriter, feature.Ender) {
	a := &answer{feature.Noted{ResponseWriter: w}, span}
	if !span.IsRecording() {
		return w, a
	}
	return a, a
}

// answer is one that a span tells of.
type answer struct {
	feature.Noted
	span trace.Span
}

// End implements [feature.Ender]. Of an answer that was broken off before it began, there is no
// status.
func (a *answer) End() {
	if a.Status != 0 {
		a.span.SetAttributes(attribute.Int("http.response.status_code", a.Status))
	}
	if a.Status >= http.StatusInternalServerError {
		a.span.SetStatus(codes.Error, "")
	}
	a.span.End()
}

// note says of the span of a request what was decided about it.
func note(r *http.Request, of string, what metrics.Result) trace.Span {
	span := trace.SpanFromContext(r.Context())
	if span.IsRecording() {
		span.SetName(r.Method + " " + of)
		span.SetAttributes(attribute.String("fairdoor.room", of), attribute.String("fairdoor.decision", what.String()))
	}
	return span
}

// Visit implements [feature.Witness].
func (*Feature) Visit(r *http.Request, v *feature.Visit, d *room.Decision) {
	span := note(r, v.Room.Queue.Name(), v.Result(d))
	if span.IsRecording() && d.Ticket.ID != (queue.ID{}) {
		code := v.Setup.Pages.Support.CodeOf(d.Ticket.ID)
		span.SetAttributes(attribute.String("fairdoor.support_code", string(code[:])))
	}
}

// Aside implements [feature.Witness]: of such a request nothing is decided.
func (*Feature) Aside(*http.Request) {}

// Withheld implements [feature.Witness].
func (*Feature) Withheld(r *http.Request, by feature.Counted) { note(r, by.Of(), metrics.Withheld) }

// Exempt implements [feature.Witness].
func (*Feature) Exempt(r *http.Request, by feature.Counted) { note(r, by.Of(), metrics.Exempt) }

// Renewal implements [feature.Witness]: a span tells of the first of the rooms that are asked about.
func (f *Feature) Renewal(r *http.Request, visitors []*feature.Visit, decisions []room.Decision) {
	if len(visitors) > 0 {
		f.Visit(r, visitors[0], &decisions[0])
	}
}

// part traces the answers of a room's site.
type part struct{ *Tracer }

// Part implements [feature.Feature].
func (f *Feature) Part(context.Context, *feature.Setup) (feature.Part, error) {
	return part{f.Tracer}, nil
}

// Ask implements [feature.Asker]: the site gets the span of its own answer, which Writer ends.
func (p part) Ask(r *http.Request, _ *feature.Room, v *feature.Visit) *http.Request {
	if v == nil {
		return r
	}
	ctx, _ := p.Start(r.Context(), "origin", trace.WithSpanKind(trace.SpanKindClient))
	carried.Inject(ctx, propagation.HeaderCarrier(r.Header))
	return r.WithContext(ctx)
}

// Writer implements [feature.Watcher].
func (part) Writer(w http.ResponseWriter, r *http.Request, _ *feature.Visit, _ queue.ID) (http.ResponseWriter, feature.Ender) {
	return watched(w, trace.SpanFromContext(r.Context()))
}
