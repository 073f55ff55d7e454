package watch

import (
	"github.com/fairdoor-gate/fairdoor/proxy/metrics"
	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
)

var (
	deliveries  = metrics.Total("fairdoor_webhook_deliveries_total", "Deliveries by what became of them.", "webhook", "result")
	failedTries = metrics.Total("fairdoor_webhook_failed_tries_total", "Tries that the receiver did not answer with success.", "webhook")
	waiting     = metrics.Gauge("fairdoor_webhook_waiting", "Deliveries that have not been taken yet.", "webhook")
)

// collect tells how the webhooks stand.
func collect(tell metrics.Tell, list []webhooks.Status) {
	for _, s := range list {
		tell(deliveries, float64(s.Sent), s.Name, "delivered")
		tell(deliveries, float64(s.Dropped), s.Name, "dropped")
		tell(failedTries, float64(s.Failed), s.Name)
		tell(waiting, float64(s.Waiting), s.Name)
	}
}
