package proxy

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/anteroom-gate/anteroom/proxy/origin"
	queueroom "github.com/anteroom-gate/anteroom/queue/room"
)

// result is what became of a request in a room, as the metrics tell it.
type result int

// The results.
const (
	accepted result = iota // was in already
	admitted               // was let in
	queued                 // waits
	rejected               // the room takes nobody
	busy                   // would have had to wait, and the request could not
	withheld               // a part of a page, asked for without being in
	exempt                 // passed the room by
	left                   // said goodbye
	revoked                // the origin ended the session
	results
)

var resultNames = [results]string{"accepted", "admitted", "queued", "rejected", "busy", "withheld", "exempt", "left", "revoked"}

// metrics are the gate's own, in a registry of their own.
type metrics struct {
	registry      *prometheus.Registry
	decisions     *prometheus.CounterVec
	waits         *prometheus.HistogramVec
	badTokens     *prometheus.CounterVec
	originLatency *prometheus.HistogramVec
	originFailed  *prometheus.CounterVec
}

func newMetrics(g *Gate) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "anteroom_decisions_total",
			Help: "Requests by room and what became of them."}, []string{"room", "outcome"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "anteroom_wait_seconds",
			Help:    "How long those who were admitted from the line had waited.",
			Buckets: []float64{1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400}}, []string{"room"}),
		badTokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "anteroom_refused_tokens_total",
			Help: "Requests with a token of the site's that does not count."}, []string{"room"}),
		originLatency: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "anteroom_origin_response_seconds",
			Help:    "Time until the origin's response header was there, by class of status.",
			Buckets: prometheus.ExponentialBuckets(.001, 2.5, 12)}, []string{"origin", "status"}),
		originFailed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "anteroom_origin_failures_total",
			Help: "Requests that the origin left unanswered, by kind of failure."}, []string{"origin", "failure"}),
	}
	m.registry.MustRegister(m.decisions, m.waits, m.badTokens, m.originLatency, m.originFailed, &standing{g},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// roomMetrics are a room's own counters.
type roomMetrics struct {
	decisions [results]prometheus.Counter
	waits     prometheus.Observer
	badTokens prometheus.Counter
}

func (m *metrics) room(name string) roomMetrics {
	r := roomMetrics{waits: m.waits.WithLabelValues(name), badTokens: m.badTokens.WithLabelValues(name)}
	for i, outcome := range resultNames {
		r.decisions[i] = m.decisions.WithLabelValues(name, outcome)
	}
	return r
}

func (r *roomMetrics) count(what result) { r.decisions[what].Inc() }

// countDecision counts a decision of the queue.
func (r *roomMetrics) countDecision(d queueroom.Decision) {
	switch d.Outcome {
	case queueroom.Admitted:
		if !d.Fresh {
			r.count(accepted)
			return
		}
		r.count(admitted)
		if d.Waited > 0 {
			r.waits.Observe(d.Waited.Seconds())
		}
	case queueroom.Queued:
		r.count(queued)
	case queueroom.Rejected:
		r.count(rejected)
	case queueroom.Busy:
		r.count(busy)
	}
}

// origin returns what an origin is to tell the metrics.
func (m *metrics) origin(key string) origin.Metrics {
	classes := [...]string{"other", "1xx", "2xx", "3xx", "4xx", "5xx"}
	var latency [len(classes)]prometheus.Observer
	for i, class := range classes {
		latency[i] = m.originLatency.WithLabelValues(key, class)
	}
	return origin.Metrics{
		Answered: func(status int, took time.Duration) {
			class := status / 100
			if class < 1 || class > 5 {
				class = 0
			}
			latency[class].Observe(took.Seconds())
		},
		Failed: func(kind origin.Failure) { m.originFailed.WithLabelValues(key, string(kind)).Inc() },
	}
}

// standing collects how the rooms and origins stand when somebody asks.
type standing struct{ gate *Gate }

var (
	queuedDesc   = prometheus.NewDesc("anteroom_queued_users", "People present in line.", []string{"room"}, nil)
	activeDesc   = prometheus.NewDesc("anteroom_active_users", "Sessions that hold a slot.", []string{"room"}, nil)
	openDesc     = prometheus.NewDesc("anteroom_open_slots", "Slots that are open.", []string{"room"}, nil)
	limitDesc    = prometheus.NewDesc("anteroom_total_active_users_limit", "The limit total_active_users in force.", []string{"room"}, nil)
	minuteDesc   = prometheus.NewDesc("anteroom_admitted_this_minute", "Admissions in this calendar minute.", []string{"room"}, nil)
	perMinute    = prometheus.NewDesc("anteroom_new_users_per_minute_limit", "The limit new_users_per_minute in force.", []string{"room"}, nil)
	storeDesc    = prometheus.NewDesc("anteroom_store_failing", "1 while the store does not answer.", []string{"room"}, nil)
	errorsDesc   = prometheus.NewDesc("anteroom_store_errors_total", "Calls that the store left unanswered.", []string{"room"}, nil)
	blindDesc    = prometheus.NewDesc("anteroom_admitted_without_store_total", "Visitors let in by on_store_error.", []string{"room"}, nil)
	roomsDesc    = prometheus.NewDesc("anteroom_family_rooms", "Rooms that there are, of those with braces in their path.", []string{"room"}, nil)
	maxRoomsDesc = prometheus.NewDesc("anteroom_family_rooms_limit", "The limit max_rooms.", []string{"room"}, nil)
	streamDesc   = prometheus.NewDesc("anteroom_event_streams", "Open event streams.", []string{"room"}, nil)
	originDesc   = prometheus.NewDesc("anteroom_origin_failing", "1 while the origin does not answer and admissions are paused.", []string{"origin"}, nil)
)

// Describe implements prometheus.Collector.
func (*standing) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{queuedDesc, activeDesc, openDesc, limitDesc, minuteDesc, perMinute, storeDesc, errorsDesc, blindDesc, roomsDesc, maxRoomsDesc, streamDesc, originDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (s *standing) Collect(to chan<- prometheus.Metric) {
	current := s.gate.current.Load()
	if current == nil {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, label string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, label)
	}
	for i, guard := range current.guards {
		n, name := s.sumOf(guard), current.setups[i].cfg.Name
		gauge(queuedDesc, float64(n.waiting), name)
		gauge(activeDesc, float64(n.active), name)
		gauge(openDesc, float64(n.open), name)
		gauge(limitDesc, float64(n.limit), name)
		gauge(minuteDesc, float64(n.admitted), name)
		gauge(perMinute, float64(n.perMinute), name)
		gauge(streamDesc, float64(n.streams), name)
		gauge(storeDesc, oneIf(n.failing), name)
		to <- prometheus.MustNewConstMetric(errorsDesc, prometheus.CounterValue, float64(n.unanswered), name)
		to <- prometheus.MustNewConstMetric(blindDesc, prometheus.CounterValue, float64(n.letIn), name)
		if _, ok := guard.(*family); ok {
			gauge(roomsDesc, float64(n.rooms), name)
			gauge(maxRoomsDesc, float64(current.setups[i].cfg.MaxRooms), name)
		}
	}
	for key, o := range current.origins {
		gauge(originDesc, oneIf(o.Failing()), key)
	}
}

// sum is how a room stands, or all rooms of a family together: a label for each of
// those would be one for whatever strangers ask for.
type sum struct {
	rooms, waiting, active, open, limit, admitted, perMinute, streams int

	failing bool
	storeErrors
}

func (s *standing) sumOf(of guard) (all sum) {
	rooms, gone := of.rooms()
	all.storeErrors = gone
	for _, r := range rooms {
		n := r.queue.Numbers()
		all.rooms++
		all.waiting += n.Waiting
		all.active += n.Active
		all.open += n.Open
		all.limit += n.Settings.TotalActiveUsers
		all.admitted += n.Admitted
		all.perMinute += n.Settings.NewUsersPerMinute
		all.failing = all.failing || r.queue.StoreFailing()
		all.streams += s.gate.events.Count(r.forEvents())
		all.add(r)
	}
	return all
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
