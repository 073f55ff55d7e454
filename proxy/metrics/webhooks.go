package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairdoor-gate/fairdoor/proxy/webhooks"
)

var (
	hookLabels      = []string{"webhook"}
	deliveriesDesc  = prometheus.NewDesc("fairdoor_webhook_deliveries_total", "Deliveries by what became of them.", []string{"webhook", "result"}, nil)
	triesDesc       = prometheus.NewDesc("fairdoor_webhook_failed_tries_total", "Tries that the receiver did not answer with success.", hookLabels, nil)
	undeliveredDesc = prometheus.NewDesc("fairdoor_webhook_waiting", "Deliveries that have not been taken yet.", hookLabels, nil)
)

var webhookDescs = []*prometheus.Desc{deliveriesDesc, triesDesc, undeliveredDesc}

// collectWebhooks collects how the webhooks stand.
func collectWebhooks(to chan<- prometheus.Metric, list []webhooks.Status) {
	counter := func(d *prometheus.Desc, n uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	for _, s := range list {
		counter(deliveriesDesc, s.Sent, s.Name, "delivered")
		counter(deliveriesDesc, s.Dropped, s.Name, "dropped")
		counter(triesDesc, s.Failed, s.Name)
		to <- prometheus.MustNewConstMetric(undeliveredDesc, prometheus.GaugeValue, float64(s.Waiting), s.Name)
	}
}
