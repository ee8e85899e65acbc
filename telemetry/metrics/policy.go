package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// policyMetrics are about who may do what, and how much of it.
type policyMetrics struct {
	// Authz is allow, deny or error for a call; beside that, shadow is counted for each shadow
	// rule that would have decided otherwise, and overruled for a rule that let a call through
	// which something else denied. The rule is none where something else than the rules
	// decided: what comes before them, such as authentication, or behind, such as a limit.
	Authz counterVec `metric:"authz_decisions_total{decision=$decisions,rule}" help:"Authorization decisions; rule is none where something else than the rules decided."`

	Limited counterVec `metric:"rate_limited_total{limit}" help:"Calls that a limit refused."`
	// Uncounted are those that policy.limits.onLoss decided.
	Uncounted counterVec `metric:"limits_uncounted_total{limit}" help:"Limits that could not be counted where they are kept."`

	Authorizers       counterVec               `metric:"authorizer_requests_total{authorizer,result=allow|deny|error|cached|other}" help:"Questions to authorizers."`
	AuthorizerSeconds *prometheus.HistogramVec `metric:"authorizer_request_duration_seconds{authorizer}" help:"Time that authorizers took to answer." buckets:"calls"`
}

// Limited counts a call that a limit refused.
func (m *Metrics) Limited(limit string) {
	m.policy.Limited.WithLabelValues(member(m.sets.Load().limits, limit)).Inc()
}

// LimitUncounted counts a limit that could not be counted where it is kept.
func (m *Metrics) LimitUncounted(limit string) {
	m.policy.Uncounted.WithLabelValues(member(m.sets.Load().limits, limit)).Inc()
}

// AuthorizerAsked counts a question to an authorizer.
func (m *Metrics) AuthorizerAsked(name, result string, took time.Duration) {
	name = member(m.sets.Load().authorizers, name)
	m.policy.Authorizers.with(name, result).Inc()
	if result != "cached" {
		m.policy.AuthorizerSeconds.WithLabelValues(name).Observe(took.Seconds())
	}
}

// named is a closed set of names.
func named(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}
