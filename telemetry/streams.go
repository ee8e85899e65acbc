package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Stream counts one open event stream while it runs.
type Stream struct {
	active prometheus.Gauge
	events prometheus.Counter
}

// OpenStream counts a stream of an agent as open until its Close.
func (m *Metrics) OpenStream(agent string) Stream {
	id := member(m.sets.Load().agents, agent)
	s := Stream{active: m.streamsActive.WithLabelValues(id), events: m.streamEvents.WithLabelValues(id)}
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
		m.streamJoins.WithLabelValues(agent).Inc()
	}
	if e.DroppedEvents > 0 {
		m.streamDropped.WithLabelValues(agent).Add(float64(e.DroppedEvents))
	}
	if e.Replayed > 0 {
		m.streamReplayed.WithLabelValues(agent).Add(float64(e.Replayed))
	}
	switch {
	case e.Resumed && e.Gap:
		m.streamResumes.WithLabelValues(agent, "gap").Inc()
	case e.Resumed:
		m.streamResumes.WithLabelValues(agent, "exact").Inc()
	}
}

// StreamSkipped counts an event of an agent's that is none of A2A's.
func (m *Metrics) StreamSkipped(agent string) {
	m.streamSkipped.WithLabelValues(member(m.sets.Load().agents, agent)).Inc()
}

// StreamRefused counts a client who came back with an event id that is not theirs.
func (m *Metrics) StreamRefused(agent string) {
	m.streamResumes.WithLabelValues(member(m.sets.Load().agents, agent), "refused").Inc()
}

// StreamRegained counts an agent's stream that broke, and what took its place: regained,
// polled, or lost for nothing.
func (m *Metrics) StreamRegained(agent, result string) {
	result = oneOf(result, "regained", "polled", "lost")
	m.streamRegains.WithLabelValues(member(m.sets.Load().agents, agent), result).Inc()
}

// Grammar counts a breach of one of the rules of what agents may say of their tasks.
func (m *Metrics) Grammar(agent, rule string) {
	m.streamGrammar.WithLabelValues(member(m.sets.Load().agents, agent), oneOf(rule, grammarRules[:]...)).Inc()
}

// grammarRules are their names; docs/streams.md says what they are.
var grammarRules = [...]string{
	"first", "second_message", "mixed", "after_end", "backwards", "other_task", "other_context", "turns",
	"chunk_first", "chunk_after_last", "altered",
}
