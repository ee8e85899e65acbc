package telemetry

import "github.com/prometheus/client_golang/prometheus"

// streamMetrics are about event streams. Heartbeats are not events.
type streamMetrics struct {
	Active gaugeVec   `metric:"streams_active{agent}" help:"Event streams open now."`
	Events counterVec `metric:"stream_events_total{agent}" help:"Events passed on to clients."` // counted as they pass
	// Duration is from arrival, so that a stream that was long in coming is seen.
	Duration *prometheus.HistogramVec `metric:"stream_duration_seconds{agent,method}" help:"Time from arrival to the end of streams." buckets:"streams"`
	// FirstEvent has no streams without any.
	FirstEvent *prometheus.HistogramVec `metric:"time_to_first_event_seconds{agent,method}" help:"Time from arrival to the first event of streams." buckets:"calls"`

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

// StreamBuffers says how many bytes are kept of all event streams, and how many may be.
func (m *Metrics) StreamBuffers(used, limit int64) {
	m.streams.Buffered.Set(float64(used))
	m.streams.Buffer.Set(float64(limit))
}

// Stream counts one open event stream while it runs.
type Stream struct {
	active prometheus.Gauge
	events prometheus.Counter
}

// OpenStream counts a stream of an agent as open until its Close.
func (m *Metrics) OpenStream(agent string) Stream {
	id := member(m.sets.Load().agents, agent)
	s := Stream{active: m.streams.Active.WithLabelValues(id), events: m.streams.Events.WithLabelValues(id)}
	s.active.Inc()
	return s
}

// Event counts one event that was passed on.
func (s Stream) Event() { s.events.Inc() }

// Close counts the stream as ended. Record counts its duration.
func (s Stream) Close() { s.active.Dec() }

// countStream counts what became of a stream beside its plain course.
func (m *Metrics) countStream(agent string, e *Exchange) {
	if e.Joined {
		m.streams.Joins.WithLabelValues(agent).Inc()
	}
	if e.DroppedEvents > 0 {
		m.streams.Dropped.WithLabelValues(agent).Add(float64(e.DroppedEvents))
	}
	if e.Replayed > 0 {
		m.streams.Replayed.WithLabelValues(agent).Add(float64(e.Replayed))
	}
	switch {
	case e.Resumed && e.Gap:
		m.streams.Resumes.WithLabelValues(agent, "gap").Inc()
	case e.Resumed:
		m.streams.Resumes.WithLabelValues(agent, "exact").Inc()
	}
}

// StreamSkipped counts an event of an agent's that is none of A2A's.
func (m *Metrics) StreamSkipped(agent string) {
	m.streams.Skipped.WithLabelValues(member(m.sets.Load().agents, agent)).Inc()
}

// StreamRefused counts a client who came back with an event id that is not theirs.
func (m *Metrics) StreamRefused(agent string) {
	m.streams.Resumes.WithLabelValues(member(m.sets.Load().agents, agent), "refused").Inc()
}

// StreamRegained counts an agent's stream that broke, and what took its place: regained,
// polled, or lost for nothing.
func (m *Metrics) StreamRegained(agent, result string) {
	m.streams.Regains.with(member(m.sets.Load().agents, agent), result).Inc()
}

// Grammar counts a breach of one of the rules of what agents may say of their tasks.
func (m *Metrics) Grammar(agent, rule string) {
	m.streams.Grammar.with(member(m.sets.Load().agents, agent), rule).Inc()
}

// grammarRules are their names; docs/streams.md says what they are.
var grammarRules = [...]string{
	"first", "second_message", "mixed", "after_end", "backwards", "other_task", "other_context", "turns",
	"chunk_first", "chunk_after_last", "altered",
}
