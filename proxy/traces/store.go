package traces

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Store returns a store whose admissions are traced, of the requests that wait for them. It returns
// the store itself for a nil Tracer.
func (t *Tracer) Store(of queue.Store) queue.Store {
	if t == nil {
		return of
	}
	return &store{of, t}
}

type store struct {
	queue.Store
	tracer *Tracer
}

// Admit implements [queue.Store].
func (s *store) Admit(ctx context.Context, room string, report *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return s.Store.Admit(ctx, room, report, claims, grants)
	}
	ctx, span := s.tracer.Start(ctx, "store admit", trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	status, err := s.Store.Admit(ctx, room, report, claims, grants)
	if err != nil {
		span.SetStatus(codes.Error, "the store does not answer")
	}
	return status, err
}
