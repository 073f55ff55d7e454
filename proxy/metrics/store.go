package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairdoor-gate/fairdoor/queue"
)

// Store returns the store, whose calls are timed from now on: how long each took, by its name, also
// those that it has left unanswered.
func (m *Metrics) Store(of queue.Store) queue.Store {
	took := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "fairdoor_store_seconds",
		Help:    "How long calls of the store took, as a native histogram, too.",
		Buckets: prometheus.ExponentialBuckets(.0001, 3, 9), NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100}, []string{"call"})
	m.registry.MustRegister(took)
	return &timedStore{of, took.WithLabelValues("configure"), took.WithLabelValues("admit"), took.WithLabelValues("sync"), took.WithLabelValues("roster")}
}

// timedStore is a store whose calls are timed.
type timedStore struct {
	queue.Store
	configure, admit, sync, roster prometheus.Observer
}

// observe takes in a call that began then and ends now.
func observe(in prometheus.Observer, began time.Time) { in.Observe(time.Since(began).Seconds()) }

// Configure implements [queue.Store].
func (s *timedStore) Configure(ctx context.Context, room string, c queue.Configuration) error {
	defer observe(s.configure, time.Now())
	return s.Store.Configure(ctx, room, c)
}

// Admit implements [queue.Store].
func (s *timedStore) Admit(ctx context.Context, room string, report *queue.Report, claims []queue.Claim, grants []queue.Grant) (queue.Status, error) {
	defer observe(s.admit, time.Now())
	return s.Store.Admit(ctx, room, report, claims, grants)
}

// Sync implements [queue.Store].
func (s *timedStore) Sync(ctx context.Context, room string, report *queue.Report) (*queue.View, error) {
	defer observe(s.sync, time.Now())
	return s.Store.Sync(ctx, room, report)
}

// Roster implements [queue.Store].
func (s *timedStore) Roster(ctx context.Context, room string, ids []queue.ID) (*queue.Roster, error) {
	defer observe(s.roster, time.Now())
	return s.Store.Roster(ctx, room, ids)
}
