// Package metrics keeps what a gate tells Prometheus.
//
// The gate counts while it answers, in [Counters] that each room has, without looking
// anything up. How the rooms and the origins stand is collected when Prometheus asks,
// from the [Gate]. What else there is to count ([Metrics.Series]) or to look up
// ([Metrics.Collect]), features bring as they are made.
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
	"github.com/fairdoor-gate/fairdoor/proxy/record"
)

// Metrics are a gate's own, in a registry of their own. They are made by New.
type Metrics struct {
	registry      *prometheus.Registry
	decisions     Series
	refused       [refusals]Series
	waits         *prometheus.HistogramVec
	originLatency *prometheus.HistogramVec
	originFailed  Series
	requests      prometheus.Gauge
}

// New returns the metrics of the gate g.
func New(g Gate) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "fairdoor_wait_seconds",
			Help:    "How long those who were admitted from the line had waited.",
			Buckets: []float64{1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400}}, []string{"room"}),
		originLatency: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "fairdoor_origin_response_seconds",
			Help:    "Time until the origin's response header was there, by class of status.",
			Buckets: prometheus.ExponentialBuckets(.001, 2.5, 12)}, []string{"origin", "status"}),
		requests: prometheus.NewGauge(prometheus.GaugeOpts{Name: "fairdoor_requests", Help: "Requests of visitors under way, without event streams that hold no goroutine."}),
	}
	m.decisions = m.Series("fairdoor_decisions_total", "Requests by room and what became of them.", "room", "outcome")
	m.refused = [refusals]Series{
		BadToken:  m.Series("fairdoor_refused_tokens_total", "Requests with a token of the site's that does not count.", "room"),
		BadTicket: m.Series("fairdoor_refused_tickets_total", "Requests with a ticket that does not open: forged, altered, or of a key that is not known any more.", "room"),
		Crowded:   m.Series("fairdoor_crowded_places_total", "Places that did not count when they were asked for, as max_waiting_per_network has it.", "room"),
		Elsewhere: m.Series("fairdoor_tickets_elsewhere_total", "Requests with a ticket that is bound to another network or user agent.", "room"),
	}
	m.originFailed = m.Series("fairdoor_origin_failures_total", "Requests that the origin left unanswered, by kind of failure.", "origin", "failure")
	m.Collect(func(tell Tell) { collect(g, tell) }, standing()...)
	m.registry.MustRegister(m.waits, m.originLatency, m.requests, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Begin counts a visitor's request that is under way until End.
func (m *Metrics) Begin() { m.requests.Inc() }

// End counts the end of a request.
func (m *Metrics) End() { m.requests.Dec() }

// Handler answers with the metrics as Prometheus reads them.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// OriginFailures returns how many requests the origin of an address has left unanswered.
func (m *Metrics) OriginFailures(address string) uint64 {
	sum := uint64(0)
	for _, kind := range []origin.Failure{origin.FailureDial, origin.FailureTimeout, origin.FailureBroken} {
		sum += valueOf(m.originFailed.With(address, string(kind)))
	}
	return sum
}

// classes are those of statuses, by their first digit.
var classes = [...]string{"other", "1xx", "2xx", "3xx", "4xx", "5xx"}

// OriginAnswers returns what the origin of an address has answered.
func (m *Metrics) OriginAnswers(address string) (a record.Answers) {
	for _, class := range classes {
		count, seconds := sumOf(m.originLatency.WithLabelValues(address, class))
		a.Count += count
		a.Seconds += seconds
		if class == "5xx" {
			a.Faults = count
		}
	}
	return a
}

// Origin returns what the origin of an address is to tell the metrics.
func (m *Metrics) Origin(address string) origin.Metrics {
	var latency [len(classes)]prometheus.Observer
	for i, class := range classes {
		latency[i] = m.originLatency.WithLabelValues(address, class)
	}
	_ = m.OriginFailures(address) // so that each kind is told from the start, as none
	return origin.Metrics{
		Answered: func(status int, took time.Duration) {
			class := status / 100
			if class < 1 || class > 5 {
				class = 0
			}
			latency[class].Observe(took.Seconds())
		},
		Failed: func(kind origin.Failure) { m.originFailed.With(address, string(kind)).Inc() },
	}
}
