package metrics

// Anomalies counts what telemetry/anomaly finds.
type Anomalies struct {
	sets    *labelSets
	metrics anomalyMetrics
}

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

// Count counts an anomaly that begins, or one that ends.
func (a *Anomalies) Count(detector, agent string, ended bool) {
	active := a.metrics.Active.with(detector)
	if ended {
		active.Dec()
		return
	}
	active.Inc()
	a.metrics.Begun.with(detector, a.sets.agent(agent)).Inc()
}

// Throttled counts a call that is refused because its caller is held back.
func (a *Anomalies) Throttled(detector string) {
	a.metrics.Throttled.with(detector).Inc()
}
