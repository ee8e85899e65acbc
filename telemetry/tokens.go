package telemetry

// Throttled counts a caller who presented too many bad credentials.
func (m *Metrics) Throttled() { m.throttled.Inc() }

// UpstreamToken counts the fetch of a token to show to an agent.
func (m *Metrics) UpstreamToken(agent, kind, result string) {
	m.upstreamTokens.WithLabelValues(member(m.sets.Load().agents, agent),
		oneOf(kind, "oauth2", "exchange", "actor"), oneOf(result, "ok", "declined", "failed")).Inc()
}
