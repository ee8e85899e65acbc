package telemetry

import "time"

func (f factory) push(m *Metrics) {
	m.pushDeliveries = f.counters("push_deliveries_total", "Attempts to deliver notifications to webhooks.",
		"agent", "result=delivered|failed|dead|gone|refused|other")
	m.pushDuration = f.seconds("push_delivery_duration_seconds", "Time that webhooks took to answer.", callSeconds, "agent")
	m.pushDepth = f.gauge("push_queue_depth", "Notifications that wait to be delivered.")
	m.pushDead = f.gauge("push_dead", "Notifications that were given up and are still kept.")
	m.pushOldest = f.gauge("push_queue_oldest_seconds", "Age of the oldest notification that waits.")
}

// Pushed counts an attempt to deliver a notification of an agent; result is delivered,
// failed, dead, gone or refused. took is 0 where nothing was sent.
func (m *Metrics) Pushed(agent, result string, took time.Duration) {
	agent = member(m.sets.Load().agents, agent)
	m.pushDeliveries.WithLabelValues(agent, oneOf(result, "delivered", "failed", "dead", "gone", "refused")).Inc()
	if took > 0 {
		m.pushDuration.WithLabelValues(agent).Observe(took.Seconds())
	}
}

// PushQueue says how many notifications wait, how many were given up, and how old the
// oldest is of those that wait.
func (m *Metrics) PushQueue(waiting, dead int64, oldest time.Duration) {
	m.pushDepth.Set(float64(waiting))
	m.pushDead.Set(float64(dead))
	m.pushOldest.Set(max(oldest, 0).Seconds())
}
