package telemetry

// anomalyMetrics are about what telemetry/anomaly finds. detector is the name of a key of
// telemetry.anomalies.
type anomalyMetrics struct {
	Begun     counterVec `metric:"anomalies_total{detector,agent}" help:"Anomalies that have begun."`
	Active    gaugeVec   `metric:"anomalies_active{detector}" help:"Anomalies that go on."`
	Throttled counterVec `metric:"anomalies_throttled_total{detector}" help:"Calls refused because their caller is held back."`
}

// detectors are those of telemetry/anomaly, which are the keys of telemetry.anomalies.
func detectors() []string {
	return []string{"denials", "probing", "skills", "cards", "cancels", "agentCancels", "openTasks", labelOther}
}

// Anomaly counts an anomaly that begins, or one that ends.
func (m *Metrics) Anomaly(detector, agent string, ended bool) {
	active := m.anomalies.Active.with(detector)
	if ended {
		active.Dec()
		return
	}
	active.Inc()
	m.anomalies.Begun.with(detector, member(m.sets.Load().agents, agent)).Inc()
}

// AnomalyThrottled counts a call that is refused because its caller is held back.
func (m *Metrics) AnomalyThrottled(detector string) {
	m.anomalies.Throttled.with(detector).Inc()
}
