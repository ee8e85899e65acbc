package telemetry

import "time"

// Limited counts a call that a limit refused.
func (m *Metrics) Limited(limit string) {
	m.limited.WithLabelValues(member(m.sets.Load().limits, limit)).Inc()
}

// LimitUncounted counts a limit that could not be counted where it is kept.
func (m *Metrics) LimitUncounted(limit string) {
	m.limitsFell.WithLabelValues(member(m.sets.Load().limits, limit)).Inc()
}

// AuthorizerAsked counts a question to an authorizer.
func (m *Metrics) AuthorizerAsked(name, result string, took time.Duration) {
	name = member(m.sets.Load().authorizers, name)
	m.authorizers.WithLabelValues(name, oneOf(result, "allow", "deny", "error", "cached")).Inc()
	if result != "cached" {
		m.authorizerSeconds.WithLabelValues(name).Observe(took.Seconds())
	}
}

// Stored counts an operation of the state. Operations are named by the gateway.
func (m *Metrics) Stored(operation string, took time.Duration, err error) {
	operation = oneOf(operation, m.operations...)
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.state.WithLabelValues(operation, result).Inc()
	m.stateSeconds.WithLabelValues(operation).Observe(took.Seconds())
}

// named is a closed set of names.
func named(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}
