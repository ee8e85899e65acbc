package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Push counts what becomes of notifications to webhooks.
type Push struct {
	sets    *labelSets
	metrics pushMetrics
}

// pushMetrics are about notifications. What waits is counted every 10 s, and gateways that
// share a state all say the same of it.
type pushMetrics struct {
	// Deliveries are delivered, failed (it will be tried again), dead (given up), gone
	// (given up, the webhook is no more) or refused (given up, nothing was sent).
	Deliveries counterVec `metric:"push_deliveries_total{agent,result=delivered|failed|dead|gone|refused|other}" help:"Attempts to deliver notifications to webhooks."`
	// Duration is of attempts that reached out to a webhook.
	Duration *prometheus.HistogramVec `metric:"push_delivery_duration_seconds{agent}" help:"Time that webhooks took to answer." buckets:"calls"`
	Depth    prometheus.Gauge         `metric:"push_queue_depth" help:"Notifications that wait to be delivered."`
	Dead     prometheus.Gauge         `metric:"push_dead" help:"Notifications that were given up and are still kept."`
	Oldest   prometheus.Gauge         `metric:"push_queue_oldest_seconds" help:"Age of the oldest notification that waits."` // 0 for none
}

// Attempted counts an attempt to deliver a notification of an agent; result is delivered,
// failed, dead, gone or refused. took is 0 where nothing was sent.
func (p *Push) Attempted(agent, result string, took time.Duration) {
	agent = p.sets.agent(agent)
	p.metrics.Deliveries.with(agent, result).Inc()
	if took > 0 {
		p.metrics.Duration.WithLabelValues(agent).Observe(took.Seconds())
	}
}

// Queue says how many notifications wait, how many were given up, and how old the
// oldest is of those that wait.
func (p *Push) Queue(waiting, dead int64, oldest time.Duration) {
	p.metrics.Depth.Set(float64(waiting))
	p.metrics.Dead.Set(float64(dead))
	p.metrics.Oldest.Set(max(oldest, 0).Seconds())
}
