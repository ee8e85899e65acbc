package telemetry

func (f factory) anomalies(m *Metrics) {
	m.anomalies = f.counters("anomalies_total", "Anomalies that have begun.", "detector", "agent")
	m.anomaliesActive = f.gauges("anomalies_active", "Anomalies that go on.", "detector")
	m.anomaliesThrottled = f.counters("anomalies_throttled_total",
		"Calls refused because their caller is held back.", "detector")
}

// detectors are those of telemetry/anomaly, which are the keys of telemetry.anomalies.
func detectors() []string {
	return []string{"denials", "probing", "skills", "cards", "cancels", "agentCancels", "openTasks", labelOther}
}

// Anomaly counts an anomaly that begins, or one that ends.
func (m *Metrics) Anomaly(detector, agent string, ended bool) {
	detector = oneOf(detector, detectors()...)
	active := m.anomaliesActive.WithLabelValues(detector)
	if ended {
		active.Dec()
		return
	}
	active.Inc()
	m.anomalies.WithLabelValues(detector, member(m.sets.Load().agents, agent)).Inc()
}

// AnomalyThrottled counts a call that is refused because its caller is held back.
func (m *Metrics) AnomalyThrottled(detector string) {
	m.anomaliesThrottled.WithLabelValues(oneOf(detector, detectors()...)).Inc()
}
