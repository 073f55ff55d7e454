package metrics

import "github.com/prometheus/client_golang/prometheus"

// Counter counts something.
type Counter = prometheus.Counter

// Series are the counters of one name, by the values of their labels.
type Series struct{ of *prometheus.CounterVec }

// Series makes counters that are told from now on.
func (m *Metrics) Series(name, help string, labels ...string) Series {
	of := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(of)
	return Series{of}
}

// With is the counter whose labels have the values.
func (s Series) With(values ...string) Counter { return s.of.WithLabelValues(values...) }

// Number is something that is looked up when Prometheus asks.
type Number struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// Gauge is a number that goes up and down.
func Gauge(name, help string, labels ...string) *Number {
	return &Number{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue}
}

// Total is a number that only grows.
func Total(name, help string, labels ...string) *Number {
	return &Number{prometheus.NewDesc(name, help, labels, nil), prometheus.CounterValue}
}

// Tell tells Prometheus a number, with the values of its labels.
type Tell func(n *Number, value float64, labels ...string)

// Source is what a program tells besides its gate: Collect is as in [Metrics.Collect]. The zero Source
// tells nothing.
type Source struct {
	Collect func(Tell)
	Numbers []*Number
}

// Collect has collect tell the numbers whenever Prometheus asks, from now on. It may be called by
// several at a time.
func (m *Metrics) Collect(collect func(Tell), numbers ...*Number) {
	m.registry.MustRegister(&collector{collect, numbers})
}

// collector implements prometheus.Collector.
type collector struct {
	collect func(Tell)
	numbers []*Number
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, n := range c.numbers {
		to <- n.desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	c.collect(func(n *Number, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(n.desc, n.kind, value, labels...)
	})
}

// If is 1 if something is so, and 0 if not.
func If(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
