package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Streams counts event streams. How long they last is with Calls, as it is for other calls.
type Streams struct {
	sets    *labelSets
	metrics streamMetrics
}

// streamMetrics are about event streams. Heartbeats are not events.
type streamMetrics struct {
	Active gaugeVec   `metric:"streams_active{agent}" help:"Event streams open now."`
	Events counterVec `metric:"stream_events_total{agent}" help:"Events passed on to clients."` // counted as they pass

	Skipped counterVec `metric:"stream_events_skipped_total{agent}" help:"Events of agents that are none of A2A's, and were not passed on."`
	Grammar counterVec `metric:"stream_grammar_violations_total{agent,rule=$grammar}" help:"Breaches of the rules of what agents may say of their tasks."`
	// Dropped are those that an agent sent after the gateway had given up on it.
	Dropped counterVec `metric:"stream_events_dropped_total{agent}" help:"Events that clients were not given, as the gateway had ended their streams with an error."`

	Resumes  counterVec `metric:"stream_resumes_total{agent,result=exact|gap|refused}" help:"Streams that clients came back to: exact, gap (the task as it is in the place of what is not kept), or refused."`
	Replayed counterVec `metric:"stream_events_replayed_total{agent}" help:"Events given to clients who had missed them."`
	Joins    counterVec `metric:"stream_joins_total{agent}" help:"Streams that share an agent's with others."`
	// Regains are of streams that broke while their task went on.
	Regains counterVec `metric:"stream_regains_total{agent,result=regained|polled|lost|other}" help:"Agents' streams that broke: regained, polled, or lost."`

	Buffered prometheus.Gauge `metric:"stream_buffer_bytes" help:"Bytes kept of all event streams."`
	Buffer   prometheus.Gauge `metric:"stream_buffer_limit_bytes" help:"Bytes that may be kept of all event streams."` // streams.buffer.total
}

// Buffers says how many bytes are kept of all event streams, and how many may be.
func (s *Streams) Buffers(used, limit int64) {
	s.metrics.Buffered.Set(float64(used))
	s.metrics.Buffer.Set(float64(limit))
}

// Stream counts one open event stream while it runs.
type Stream struct {
	active prometheus.Gauge
	events prometheus.Counter
}

// Open counts a stream of an agent as open until its Close.
func (s *Streams) Open(agent string) Stream {
	id := s.sets.agent(agent)
	one := Stream{active: s.metrics.Active.WithLabelValues(id), events: s.metrics.Events.WithLabelValues(id)}
	one.active.Inc()
	return one
}

// Event counts one event that was passed on.
func (s Stream) Event() { s.events.Inc() }

// Close counts the stream as ended. Calls.Finish counts its duration.
func (s Stream) Close() { s.active.Dec() }

// Joined counts a stream that shares an agent's with others.
func (s *Streams) Joined(agent string) { s.metrics.Joins.WithLabelValues(s.sets.agent(agent)).Inc() }

// Dropped counts n events that a client was not given, as its stream had ended with an error.
func (s *Streams) Dropped(agent string, n int64) {
	s.metrics.Dropped.WithLabelValues(s.sets.agent(agent)).Add(float64(n))
}

// Resumed counts a client who came back to a stream; gap is whether what was missed is not kept
// any more. A client who is refused is Refused instead.
func (s *Streams) Resumed(agent string, gap bool) {
	result := "exact"
	if gap {
		result = "gap"
	}
	s.metrics.Resumes.WithLabelValues(s.sets.agent(agent), result).Inc()
}

// Replayed counts n events given to a client who had missed them.
func (s *Streams) Replayed(agent string, n int64) {
	s.metrics.Replayed.WithLabelValues(s.sets.agent(agent)).Add(float64(n))
}

// Skipped counts an event of an agent's that is none of A2A's.
func (s *Streams) Skipped(agent string) {
	s.metrics.Skipped.WithLabelValues(s.sets.agent(agent)).Inc()
}

// Refused counts a client who came back with an event id that is not theirs.
func (s *Streams) Refused(agent string) {
	s.metrics.Resumes.WithLabelValues(s.sets.agent(agent), "refused").Inc()
}

// Regained counts an agent's stream that broke, and what took its place: regained,
// polled, or lost for nothing.
func (s *Streams) Regained(agent, result string) {
	s.metrics.Regains.with(s.sets.agent(agent), result).Inc()
}

// Grammar counts a breach of one of the rules of what agents may say of their tasks.
func (s *Streams) Grammar(agent, rule string) {
	s.metrics.Grammar.with(s.sets.agent(agent), rule).Inc()
}

// grammarRules are their names; docs/streams.md says what they are.
var grammarRules = [...]string{
	"first", "second_message", "mixed", "after_end", "backwards", "other_task", "other_context", "turns",
	"chunk_first", "chunk_after_last", "altered",
}
