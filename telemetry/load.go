package telemetry

// Shed counts a call or a connection that was not taken on, by the limit below
// server.limits that was reached.
func (m *Metrics) Shed(reason string) {
	reason = oneOf(reason, "memory", "requests", "descriptors", "connections", "connectionsPerIP", "streams")
	m.shed.WithLabelValues(reason).Inc()
}

// StreamBuffers says how many bytes are kept of all event streams, and how many may be.
func (m *Metrics) StreamBuffers(used, limit int64) {
	m.streamBuffered.Set(float64(used))
	m.streamBuffer.Set(float64(limit))
}

// Memory says how much memory is in use, and how much may be; 0 for any amount.
func (m *Metrics) Memory(used, limit int64) {
	m.memoryUsed.Set(float64(used))
	m.memoryLimit.Set(float64(limit))
}
