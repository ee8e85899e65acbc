package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Load counts what is refused because there is too much of it, and shows what is measured for that.
type Load struct{ metrics loadMetrics }

// loadMetrics are about what the gateway has to do, and what it refuses because that is
// too much.
type loadMetrics struct {
	// Shed names the limit below server.limits that was reached.
	Shed counterVec `metric:"shed_total{reason=delay|softMemory|memory|requests|streams|descriptors|connections|connectionsPerIP|other}" help:"Calls and connections that were not taken on."`
	// Malformed names the rule of internal/server/strict that a request broke.
	Malformed counterVec `metric:"malformed_requests_total{wrong=$strict}" help:"HTTP/1.1 connections that ended because of how a request was written."`
	// Flooded names the kind that most of server.limits.connectionFrames went for.
	Flooded counterVec `metric:"floods_total{frame=$frames}" help:"HTTP/2 connections that ended because of frames that serve no call."`

	// MemoryUsed is what no collection would give back, which is what the limits are about.
	MemoryUsed  prometheus.Gauge `metric:"memory_used_bytes" help:"Memory in use, garbage not counted."`
	MemoryLimit prometheus.Gauge `metric:"memory_limit_bytes" help:"Memory in use beyond which calls are refused, 0 for none."`
	MemorySoft  prometheus.Gauge `metric:"memory_soft_limit_bytes" help:"Memory in use beyond which streams and large bodies are refused, 0 for none."`
	// Delay is the shortest wait of the last tenth of a second; 0 while nothing is called.
	Delay prometheus.Gauge `metric:"queueing_delay_seconds" help:"How long work waits for a processor, at least."`
	// Overloaded is 1 for a limit below server.limits while calls are refused for it.
	Overloaded gaugeVec `metric:"overloaded{rung=delay|softMemory|memory|descriptors|other}" help:"Whether calls are refused for what is measured."`
}

// strictRules are those of internal/server/strict.
func strictRules() []string {
	return []string{
		"line_end", "empty_line", "method", "target", "target_size", "version", "other_version", "folded_line", "field_name",
		"field_value", "host", "content_length", "transfer_encoding", "other_encoding", "length_and_encoding", "head_size",
		"chunk_size", "chunk_extension", "chunk_end", "trailer", labelOther,
	}
}

// frames are the kinds of internal/server/flood.
func frames() []string {
	return []string{
		"headers", "continuation", "data", "reset", "made_reset", "ping", "settings", "priority", "window_update", labelOther,
	}
}

// Shed counts a call or a connection that was not taken on, by the limit below
// server.limits that was reached.
func (l *Load) Shed(reason string) { l.metrics.Shed.with(reason).Inc() }

// Malformed counts a connection that ended because a request was not written as HTTP/1.1
// is, by the rule that it broke.
func (l *Load) Malformed(rule string) { l.metrics.Malformed.with(rule).Inc() }

// Flooded counts an HTTP/2 connection that ended because of frames that serve no call, by
// the kind that it sent most of.
func (l *Load) Flooded(frame string) { l.metrics.Flooded.with(frame).Inc() }

// Memory says how much memory is in use, how much may be, and how much may be before
// streams and large bodies are refused; 0 for any amount.
func (l *Load) Memory(used, soft, limit int64) {
	l.metrics.MemoryUsed.Set(float64(used))
	l.metrics.MemorySoft.Set(float64(soft))
	l.metrics.MemoryLimit.Set(float64(limit))
}

// Delayed says how long work waits for a processor.
func (l *Load) Delayed(wait time.Duration) { l.metrics.Delay.Set(wait.Seconds()) }

// Stands says whether calls are refused for what a limit is compared with.
func (l *Load) Stands(rung string, stands bool) {
	l.metrics.Overloaded.with(rung).Set(truth(stands))
}
