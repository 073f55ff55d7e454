package traces_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/protobuf/proto"

	"github.com/fairdoor-gate/fairdoor/proxy"
	"github.com/fairdoor-gate/fairdoor/proxy/gatetest"
	"github.com/fairdoor-gate/fairdoor/proxy/traces"
)

// receiver is a collector of OTLP/HTTP.
type receiver struct {
	t     *testing.T
	mu    sync.Mutex
	spans []*otlp.Span
	of    map[string]string // the attributes of the resource

	came, refuses int // batches; how it refuses those to come, 0 for not at all
}

// ServeHTTP takes spans.
func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	assert.Equal(c.t, "/v1/traces", r.URL.Path)
	text, err := io.ReadAll(r.Body)
	assert.NoError(c.t, err)
	var sent collector.ExportTraceServiceRequest
	assert.NoError(c.t, proto.Unmarshal(text, &sent))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.came++; c.refuses != 0 {
		w.WriteHeader(c.refuses)
		return
	}
	for _, resource := range sent.GetResourceSpans() {
		c.of = map[string]string{}
		for _, a := range resource.GetResource().GetAttributes() {
			c.of[a.GetKey()] = a.GetValue().GetStringValue()
		}
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
}

// named are the spans of a name.
func (c *receiver) named(name string) (list []*otlp.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.GetName() == name {
			list = append(list, s)
		}
	}
	return list
}

func attributes(s *otlp.Span) map[string]string {
	all := map[string]string{}
	for _, a := range s.GetAttributes() {
		all[a.GetKey()] = a.GetValue().GetStringValue()
		if n, is := a.GetValue().GetValue().(*common.AnyValue_IntValue); is {
			all[a.GetKey()] = strconv.FormatInt(n.IntValue, 10)
		}
	}
	return all
}

// start starts a gate whose spans a receiver gets once sent is called.
func start(t *testing.T, changes ...func(*proxy.Config, *proxy.Options)) (f *gatetest.Fixture, c *receiver, sent func()) {
	t.Helper()
	return startLogging(t, zap.NewNop(), changes...)
}

// startLogging has what is wrong with spans logged.
func startLogging(t *testing.T, log *zap.Logger, changes ...func(*proxy.Config, *proxy.Options)) (f *gatetest.Fixture, c *receiver, sent func()) {
	t.Helper()
	c = &receiver{t: t}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	tracer, err := traces.FromEnvironment(t.Context(), "v1", log)
	require.NoError(t, err)
	f = gatetest.Start(t, append(changes, func(_ *proxy.Config, o *proxy.Options) { o.Traces = tracer })...)
	return f, c, func() { require.NoError(t, tracer.Close(t.Context())) }
}

const (
	theirTrace  = "0af7651916cd43dd8448eb211c80319c"
	traceparent = "00-" + theirTrace + "-b7ad6b7169203331-01"
)

func TestARequestIsASpanWithThoseOfTheStoreAndTheSiteBelowIt(t *testing.T) {
	f, c, sent := start(t, gatetest.TrustingLoopback)
	require.True(t, f.Visitor().Get("/tickets?code=secret", gatetest.With("Traceparent", traceparent), gatetest.With("X-Request-Id", "the-proxy's")).In())
	toSite := f.Site.Requests()[0].Header.Get("Traceparent")
	code := f.Waits().Get("/", gatetest.AsJSON).Told("supportCode")
	sent()

	requests := c.named("GET shop")
	require.Len(t, requests, 3)
	first := requests[0]
	assert.Equal(t, theirTrace, hex.EncodeToString(first.GetTraceId()))
	assert.Equal(t, "b7ad6b7169203331", hex.EncodeToString(first.GetParentSpanId()))
	told := attributes(first)
	assert.Equal(t, [4]string{"shop", "admitted", "/tickets", "the-proxy's"}, [4]string{told["fairdoor.room"], told["fairdoor.decision"], told["url.path"], told["fairdoor.request_id"]})
	last := attributes(requests[2])
	assert.Equal(t, [2]string{"queued", code.(string)}, [2]string{last["fairdoor.decision"], last["fairdoor.support_code"]})
	for _, name := range []string{"store admit", "origin"} {
		below := c.named(name)
		require.NotEmpty(t, below, name)
		assert.Equal(t, first.GetSpanId(), below[0].GetParentSpanId(), name)
	}
	assert.Equal(t, "00-"+theirTrace+"-"+hex.EncodeToString(c.named("origin")[0].GetSpanId())+"-01", toSite)
	assert.Equal(t, [2]string{"fairdoor", "v1"}, [2]string{c.of["service.name"], c.of["service.version"]})
}

func TestASpanHasTheStatusOfTheAnswerAndFailsByAnErrorOfTheSite(t *testing.T) {
	f, c, sent := start(t)
	v := f.Visitor()
	for _, status := range []int{http.StatusNoContent, http.StatusNotFound, http.StatusServiceUnavailable} {
		f.Site.Will(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		require.Equal(t, status, v.Get("/").Status)
	}
	f.Site.Will(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	require.Equal(t, http.StatusBadGateway, v.Get("/").Status)
	sent()
	for _, name := range []string{"GET shop", "origin"} {
		var told []string
		for _, s := range c.named(name) {
			told = append(told, attributes(s)["http.response.status_code"]+" "+s.GetStatus().GetCode().String())
		}
		assert.Equal(t, []string{"204 STATUS_CODE_UNSET", "404 STATUS_CODE_UNSET", "503 STATUS_CODE_ERROR", "502 STATUS_CODE_ERROR"}, told, name)
	}
}

func TestAnOutageOfTheCollectorIsOneWarning(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	core, logged := observer.New(zap.InfoLevel)
	f, c, sent := startLogging(t, zap.New(core))
	v := f.Visitor()
	// batches has the collector answer some batches with a status.
	batches := func(status int) {
		c.mu.Lock()
		c.refuses = status
		until := c.came + 3
		c.mu.Unlock()
		f.Soon(func() bool {
			v.Get("/")
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.came >= until
		})
	}
	batches(http.StatusBadRequest)
	batches(0)
	batches(http.StatusBadRequest)
	sent()
	var lines []string
	for _, l := range logged.All() {
		lines = append(lines, l.Message)
	}
	lost := "traces are lost until their collector takes them"
	assert.Equal(t, []string{lost, "the collector takes traces again", lost}, lines)
}

func TestAStrangerChoosesNoTrace(t *testing.T) {
	f, c, sent := start(t)
	require.True(t, f.Visitor().Get("/", gatetest.With("Traceparent", traceparent), gatetest.With("Tracestate", "a=b")).In())
	toSite := f.Site.Requests()[0].Header
	sent()
	require.Len(t, c.named("GET shop"), 1)
	assert.Empty(t, c.named("GET shop")[0].GetParentSpanId())
	assert.NotContains(t, toSite.Get("Traceparent"), theirTrace)
	assert.Empty(t, toSite.Get("Tracestate"))
}

func TestOwnPathsAreCut(t *testing.T) {
	f, c, sent := start(t)
	f.Visitor().Get("/.fairdoor/pass/secret")
	sent()
	require.Len(t, c.named("GET"), 1)
	assert.Equal(t, "/.fairdoor/pass", attributes(c.named("GET")[0])["url.path"])
}

func TestWhatTheVariablesSay(t *testing.T) {
	for name, c := range map[string]struct {
		set  map[string]string
		on   bool
		want string // the fault
	}{
		"nothing":                    {nil, false, ""},
		"none":                       {map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, false, ""},
		"disabled":                   {map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "otlp"}, false, ""},
		"an exporter":                {map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true, ""},
		"an endpoint of traces":      {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318/v1/traces"}, true, ""},
		"another exporter":           {map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}, false, "it is otlp or none"},
		"a protocol that is not had": {map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, "it is http/protobuf"},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range c.set {
				t.Setenv(key, value)
			}
			tracer, err := traces.FromEnvironment(t.Context(), "v1", zap.NewNop())
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.on, tracer != nil)
		})
	}
}

// BenchmarkRequest is a request of somebody new: without the variables, a gate allocates as much as if
// it could not trace.
func BenchmarkRequest(b *testing.B) {
	for _, c := range []struct {
		name   string
		change func(*proxy.Config, *proxy.Options)
	}{
		{"off", func(*proxy.Config, *proxy.Options) {}},
		{"not configured", func(_ *proxy.Config, o *proxy.Options) {
			o.Traces, _ = traces.FromEnvironment(b.Context(), "v1", zap.NewNop())
		}},
		{"on", func(_ *proxy.Config, o *proxy.Options) { o.Traces = traces.New() }},
	} {
		b.Run(c.name, func(b *testing.B) {
			f := gatetest.Start(b, c.change)
			r := httptest.NewRequest(http.MethodGet, "http://shop.test/", nil)
			to := &gatetest.Discard{Fields: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				f.Gate.ServeHTTP(to, r)
				to.Reset()
			}
		})
	}
}
