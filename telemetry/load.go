package telemetry

import (
	"strings"
	"time"
)

// shedReasons are the limits that something is refused for.
const shedReasons = "delay|softMemory|memory|requests|streams|descriptors|connections|connectionsPerIP|other"

// rungs are those of the limits that are compared with what is measured.
const rungs = "delay|softMemory|memory|descriptors"

// Shed counts a call or a connection that was not taken on, by the limit below
// server.limits that was reached.
func (m *Metrics) Shed(reason string) {
	reason = oneOf(reason, "delay", "softMemory", "memory", "requests", "streams", "descriptors", "connections", "connectionsPerIP")
	m.shed.WithLabelValues(reason).Inc()
}

// wrong are the rules of internal/server/strict.
const wrong = "line_end|empty_line|method|target|target_size|version|other_version|folded_line|field_name|field_value|host|" +
	"content_length|transfer_encoding|other_encoding|length_and_encoding|head_size|" +
	"chunk_size|chunk_extension|chunk_end|trailer|other"

// Malformed counts a connection that ended because a request was not written as HTTP/1.1
// is, by the rule that it broke.
func (m *Metrics) Malformed(rule string) {
	m.malformed.WithLabelValues(oneOf(rule, strings.Split(wrong, "|")...)).Inc()
}

// frames are the kinds of internal/server/flood.
const frames = "headers|continuation|data|reset|made_reset|ping|settings|priority|window_update|other"

// Flooded counts an HTTP/2 connection that ended because of frames that serve no call, by
// the kind that it sent most of.
func (m *Metrics) Flooded(frame string) {
	m.flooded.WithLabelValues(oneOf(frame, strings.Split(frames, "|")...)).Inc()
}

// StreamBuffers says how many bytes are kept of all event streams, and how many may be.
func (m *Metrics) StreamBuffers(used, limit int64) {
	m.streamBuffered.Set(float64(used))
	m.streamBuffer.Set(float64(limit))
}

// Memory says how much memory is in use, how much may be, and how much may be before
// streams and large bodies are refused; 0 for any amount.
func (m *Metrics) Memory(used, soft, limit int64) {
	m.memoryUsed.Set(float64(used))
	m.memorySoft.Set(float64(soft))
	m.memoryLimit.Set(float64(limit))
}

// Delayed says how long work waits for a processor.
func (m *Metrics) Delayed(wait time.Duration) { m.delay.Set(wait.Seconds()) }

// Stands says whether calls are refused for what a limit is compared with.
func (m *Metrics) Stands(rung string, stands bool) {
	value := 0.0
	if stands {
		value = 1
	}
	m.overloaded.WithLabelValues(oneOf(rung, strings.Split(rungs, "|")...)).Set(value)
}
