// Package metrics keeps what a gate tells Prometheus.
//
// The gate counts while it answers, in [Counters] that each room has, without looking
// anything up. How the rooms, the waitlists and the origins stand is collected when
// Prometheus asks, from the [Gate].
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// Metrics are a gate's own, in a registry of their own. They are made by New.
type Metrics struct {
	registry      *prometheus.Registry
	decisions     *prometheus.CounterVec
	waits         *prometheus.HistogramVec
	badTokens     *prometheus.CounterVec
	badTickets    *prometheus.CounterVec
	crowded       *prometheus.CounterVec
	elsewhere     *prometheus.CounterVec
	challenges    *prometheus.CounterVec
	originLatency *prometheus.HistogramVec
	originFailed  *prometheus.CounterVec
	signUps       *prometheus.CounterVec
	mailsSent     *prometheus.CounterVec
	mailsFailed   *prometheus.CounterVec
}

// New returns the metrics of the gate g, which goes by the clock.
func New(g Gate, clock func() time.Time) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairdoor_decisions_total",
			Help: "Requests by room and what became of them."}, []string{"room", "outcome"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "fairdoor_wait_seconds",
			Help:    "How long those who were admitted from the line had waited.",
			Buckets: []float64{1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400}}, []string{"room"}),
		badTokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairdoor_refused_tokens_total",
			Help: "Requests with a token of the site's that does not count."}, []string{"room"}),
		badTickets: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairdoor_refused_tickets_total",
			Help: "Requests with a ticket that does not open: forged, altered, or of a key that is not known any more."}, []string{"room"}),
		crowded: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairdoor_crowded_places_total",
			Help: "Places that did not count when they were asked for, as max_waiting_per_network has it."}, []string{"room"}),
		elsewhere: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairdoor_tickets_elsewhere_total",
			Help: "Requests with a ticket that is bound to another network or user agent."}, []string{"room"}),
		challenges: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairdoor_challenges_total",
			Help: "Answers to the challenge by what became of them."}, []string{"room", "outcome"}),
		originLatency: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "fairdoor_origin_response_seconds",
			Help:    "Time until the origin's response header was there, by class of status.",
			Buckets: prometheus.ExponentialBuckets(.001, 2.5, 12)}, []string{"origin", "status"}),
		originFailed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairdoor_origin_failures_total",
			Help: "Requests that the origin left unanswered, by kind of failure."}, []string{"origin", "failure"}),
		signUps: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairdoor_waitlist_sign_ups_total",
			Help: "Sign-ups by what became of them."}, []string{"waitlist", "result"}),
		mailsSent: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairdoor_waitlist_mails_sent_total",
			Help: "Mails that were sent."}, []string{"waitlist"}),
		mailsFailed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairdoor_waitlist_mails_failed_total",
			Help: "Mails that could not be sent, each time; they are tried again."}, []string{"waitlist"}),
	}
	m.registry.MustRegister(m.decisions, m.waits, m.badTokens, m.badTickets, m.crowded, m.elsewhere, m.challenges, m.originLatency, m.originFailed, m.signUps, m.mailsSent, m.mailsFailed,
		&collector{gate: g, waitlists: waitlists{clock: clock, asked: map[string]*figures{}}},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler answers with the metrics as Prometheus reads them.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// OriginFailures returns how many requests the origin of an address has left unanswered.
func (m *Metrics) OriginFailures(address string) uint64 {
	sum := uint64(0)
	for _, kind := range []origin.Failure{origin.FailureDial, origin.FailureTimeout, origin.FailureBroken} {
		sum += valueOf(m.originFailed.WithLabelValues(address, string(kind)))
	}
	return sum
}

// Origin returns what the origin of an address is to tell the metrics.
func (m *Metrics) Origin(address string) origin.Metrics {
	classes := [...]string{"other", "1xx", "2xx", "3xx", "4xx", "5xx"}
	m.OriginFailures(address) // so that they are told from the start, as none
	var latency [len(classes)]prometheus.Observer
	for i, class := range classes {
		latency[i] = m.originLatency.WithLabelValues(address, class)
	}
	_ = m.OriginFailures(address) // so that each kind is there from the start
	return origin.Metrics{
		Answered: func(status int, took time.Duration) {
			class := status / 100
			if class < 1 || class > 5 {
				class = 0
			}
			latency[class].Observe(took.Seconds())
		},
		Failed: func(kind origin.Failure) { m.originFailed.WithLabelValues(address, string(kind)).Inc() },
	}
}
