package telemetry

import "github.com/a2a-gateway/a2a-gateway/telemetry/metrics"

// count hands a finished call to the topics of metrics that it is about. metrics knows no
// Exchange, since it is below this package; what is copied for it stays on the stack.
func (t *Telemetry) count(e *Exchange) {
	m := t.Metrics
	call := metrics.Call{
		Agent: e.Agent, Method: e.Method, Binding: e.Binding,
		Status: e.Status, Reason: e.Reason,
		Duration: e.Duration, RequestBytes: e.RequestBytes, ResponseBytes: e.ResponseBytes,
		UpstreamStatus: e.UpstreamStatus, UpstreamDuration: e.UpstreamDuration,
		Streamed: e.Streamed, FirstEvent: e.FirstEvent,
	}
	if e.span != nil { // the trace of a call that is not sampled is nowhere to be found
		call.Trace = e.TraceID
	}
	m.Calls.Finish(&call)
	if e.Denied != "" {
		m.Calls.Denied(e.Agent, e.Denied)
	}
	// Its answer says what became of it: the first one's answer, still pending, or a
	// conflict.
	if e.Deduplicated {
		m.Calls.Repeated(e.Agent, e.Reason)
	}
	if e.Streamed {
		t.countStream(e)
	}
	m.Policy.Decided(e.Rule, e.Decision, e.Overruled)
	for _, would := range e.Shadow {
		m.Policy.Shadowed(would)
	}
	m.Extensions.Negotiated(metrics.Negotiation{
		Requested: e.ExtensionsRequested, Provided: e.ExtensionsProvided, Activated: e.ExtensionsActivated,
		Refused: e.ExtensionsRefused, Injected: e.ExtensionsInjected,
	})
	for i := range e.Violations {
		v := &e.Violations[i]
		m.Extensions.Violated(v.Extension, v.Fault, v.Enforced, 1+v.More)
	}
	for i := range e.Guards {
		f := &e.Guards[i]
		action := f.Action
		if f.Shadow {
			action = "shadow"
		}
		m.Guards.Found(f.Guard, f.On, f.Kind, action, f.Count)
	}
	for _, quirk := range e.Quirks {
		m.Agents.Quirk(e.Agent, quirk)
	}
}

// countStream counts what became of a stream beside its plain course. How long it was is
// counted with the call.
func (t *Telemetry) countStream(e *Exchange) {
	streams := &t.Metrics.Streams
	if e.Joined {
		streams.Joined(e.Agent)
	}
	if e.DroppedEvents > 0 {
		streams.Dropped(e.Agent, e.DroppedEvents)
	}
	if e.Replayed > 0 {
		streams.Replayed(e.Agent, e.Replayed)
	}
	if e.Resumed {
		streams.Resumed(e.Agent, e.Gap)
	}
}
