// Package traces tells a collector of OpenTelemetry what became of requests, and what took how long:
// a span for each request, and below it one for each call of the store that it waited for, and one
// for the answer of the site. It goes by the standard variables, and is not there without them.
package traces

import (
	"context"
	"fmt"
	"os"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
)

// Tracer makes the spans of a gate and its store. It is made by FromEnvironment and ended by Close.
type Tracer struct {
	provider *sdk.TracerProvider
	trace.Tracer
}

// FromEnvironment returns what traces a program of a version as the standard variables want it; nil
// if they name neither an exporter nor an endpoint. The endpoint, its headers, the sampler and what
// the service is called are read by the SDK. What cannot be delivered is logged.
func FromEnvironment(ctx context.Context, version string, log *zap.Logger) (*Tracer, error) {
	kind, named := os.LookupEnv("OTEL_TRACES_EXPORTER")
	switch {
	case strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true"), kind == "none":
		return nil, nil
	case !named && os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "":
		return nil, nil
	case named && kind != "otlp":
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER=%s: it is otlp or none", kind)
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if protocol := os.Getenv(name); protocol != "" && protocol != "http/protobuf" {
			return nil, fmt.Errorf("%s=%s: it is http/protobuf", name, protocol)
		}
	}
	to, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("making the exporter of traces: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "fairdoor"), attribute.String("service.version", version)),
		resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("saying of what traces are: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("traces are not as they should be", zap.Error(err))
	}))
	return New(sdk.WithBatcher(&exporter{SpanExporter: to, log: log}), sdk.WithResource(about)), nil
}

// exporter delivers spans. It logs that an outage of the collector begins, and that it has ended: with
// each batch that fails the log would be full of it.
type exporter struct {
	sdk.SpanExporter
	log   *zap.Logger
	fails bool // its calls do not overlap
}

// ExportSpans implements [sdk.SpanExporter]. It returns no error, of which each would be logged.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil && !e.fails:
		e.log.Warn("traces are lost until their collector takes them", zap.Error(err))
	case err == nil && e.fails:
		e.log.Info("the collector takes traces again")
	}
	e.fails = err != nil
	return nil
}

// New returns a tracer of a provider with options.
func New(options ...sdk.TracerProviderOption) *Tracer {
	p := sdk.NewTracerProvider(options...)
	return &Tracer{p, p.Tracer("github.com/fairdoor-gate/fairdoor")}
}

// Close sends the spans that wait, until ctx ends. It may be called on a nil Tracer.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}
