package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/a2a-gateway/a2a-gateway/internal/detect"
)

// Guards counts what guards find in messages and artifacts, and what they ask services.
type Guards struct {
	sets    *labelSets
	metrics guardMetrics
}

// guardMetrics are about policy.guards.
type guardMetrics struct {
	// Findings are redacted or refused unless action is report, shadow, or passed: of what a service gave
	// no answer about. What a service finds is of kind other.
	Findings counterVec               `metric:"guard_findings_total{guard,on=request|answer|event|other,kind=$guardKinds,action=report|redact|refuse|passed|shadow|other}" help:"What guards found in messages and artifacts."`
	Requests counterVec               `metric:"guard_requests_total{guard,result=clean|found|error|cached|other}" help:"Questions of guards to services."`
	Seconds  *prometheus.HistogramVec `metric:"guard_request_duration_seconds{guard}" help:"Time that the services of guards took to answer." buckets:"calls"`
	Delay    *prometheus.HistogramVec `metric:"guard_event_delay_seconds{agent}" help:"Time that events of streams, which a guard looked at, waited for what came behind them." buckets:"calls"`
}

// guardKinds are what guards find that ask no service. What a service finds is counted as the last.
func guardKinds() (names []string) {
	for _, k := range detect.Kinds("") {
		names = append(names, k.Name)
	}
	return append(names, "injection", "link", "text", "parts", "schema", "unavailable", labelOther)
}

// Found counts n findings of one kind; action is what became of them.
func (g *Guards) Found(guard, on, kind, action string, n int64) {
	if !slices.Contains(guardKinds(), kind) {
		kind = labelOther
	}
	g.metrics.Findings.with(member(g.sets.Load().guards, guard), on, kind, action).Add(float64(n))
}

// Asked counts a question to a service.
func (g *Guards) Asked(guard, result string, took time.Duration) {
	guard = member(g.sets.Load().guards, guard)
	g.metrics.Requests.with(guard, result).Inc()
	if result != "cached" {
		g.metrics.Seconds.WithLabelValues(guard).Observe(took.Seconds())
	}
}

// Held counts an event of an agent's stream that has waited for so long, which may be not at all.
func (g *Guards) Held(agent string, long time.Duration) {
	g.metrics.Delay.WithLabelValues(g.sets.agent(agent)).Observe(long.Seconds())
}
