package telemetry

import (
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// endServer gives the server span its name and attributes and ends it. They are set at the
// end and all at once: what a call is about is not known when its span begins, and a span
// that is not sampled has none to set. The end is that of the exchange and not now:
// recording takes place a little later.
func (t *Telemetry) endServer(e *Exchange) {
	span := e.span
	if span == nil {
		return
	}
	span.SetName(t.spanName(e))
	setCommon(span, e)
	setText(span, attrRequestID, e.RequestID)
	setText(span, attrClientAddress, e.ClientIP)
	setText(span, attrSkill, e.Skill)
	setText(span, attrDecision, e.Decision)
	setText(span, attrRule, e.Rule)
	setIdentity(span, e)
	setText(span, attrError, e.Reason)
	setTexts(span, attrRequested, e.ExtensionsRequested)
	setTexts(span, attrActivated, e.ExtensionsActivated)
	setTexts(span, attrInjected, e.ExtensionsInjected)
	setTexts(span, attrProvided, e.ExtensionsProvided)
	setTexts(span, attrRefused, e.ExtensionsRefused)
	setNumber(span, attrViolated, violated(e.Violations))
	setNumber(span, attrGuarded, int(guardFindings(e.Guards)))
	setNumber(span, attrStatus, e.Status)
	setText(span, attrVerb, verb(e.Verb))
	setText(span, attrRoute, e.Route)
	setText(span, attrAgentName, e.AgentName)
	setText(span, attrLimit, e.Limit)
	setNumber(span, attrTries, e.Tries)
	if e.Deduplicated {
		span.SetAttributes(attrRepeated.Bool(true))
	}
	if e.Streamed {
		span.SetAttributes(attrEvents.Int64(e.Events))
		setText(span, attrEnd, e.End)
		setNumber(span, attrRegained, int(e.Regained))
	}
	if e.Denied == "" { // else the task may be somebody else's
		t.JoinTask(e, "")
	}
	if e.Status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "") // a refusal is the client's error, not the server's
	}
	span.End(trace.WithTimestamp(e.Start.Add(e.Duration)))
	e.span = nil
}

// verb is an HTTP method that is known, by the conventions _OTHER for any other. A client
// can write anything as a method, and an attribute with any text as its value could not be
// searched or counted by.
func verb(name string) string {
	switch name {
	case "", http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodHead,
		http.MethodOptions:
		return name
	}
	return "_OTHER"
}

// StreamEvent adds an event of a stream to the call's span: its kind, and the state that
// it shows the task in. Those beyond telemetry.traces.streamEvents are only counted.
func (t *Telemetry) StreamEvent(e *Exchange, kind, state string) {
	if e.span == nil || e.Events > int64(t.config.Traces.events()) {
		return
	}
	attributes := append(make([]attribute.KeyValue, 0, 3), attrEventNumber.Int64(e.Events))
	if kind != "" {
		attributes = append(attributes, attrEventKind.String(Clean(kind)))
	}
	if state != "" {
		attributes = append(attributes, attrTaskState.String(Clean(state)))
	}
	e.span.AddEvent("a2a.stream.event", trace.WithAttributes(attributes...))
}

// setIdentity says how the caller came to be one, and what the agent was shown of it.
// Who that is, and for whom, is not in spans: traces have more readers than the audit
// record.
func setIdentity(span trace.Span, e *Exchange) {
	setText(span, attrPrincipal, e.AuthMethod)
	setText(span, attrProof, e.Proof)
	setText(span, attrACR, e.ACR)
	setNumber(span, attrActors, len(e.Actors))
	setNumber(span, attrHops, len(e.Hops))
	setTexts(span, attrConsent, e.Consent)
	setTexts(span, attrShown, e.Credentials)
	setNumber(span, attrDemanded, len(e.Demanded))
	if e.Authorized {
		span.SetAttributes(attrAnswered.Bool(true))
	}
}

// spanName is the method, or the kind of span when the call was refused before
// it had one. Names come from the closed set that the metrics use.
func (t *Telemetry) spanName(e *Exchange) string {
	if e.Method == "" {
		return "a2a.server"
	}
	return t.Metrics.Method(e.Method)
}

// setCommon sets what the call is about.
func setCommon(span trace.Span, e *Exchange) {
	setText(span, attrMethod, e.Method)
	setText(span, attrVersion, e.Version)
	setText(span, attrAgent, e.Agent)
	setText(span, attrTenant, e.Tenant)
	setText(span, attrTask, e.TaskID)
	setText(span, attrTaskState, e.TaskState)
	setText(span, attrContext, e.ContextID)
	setText(span, attrMessage, e.MessageID)
	setTexts(span, attrReferences, e.References)
	setSystem(span, e.Binding, e.Method)
}

// setText sets an attribute to a text from outside, cleaned as in logs. An empty one is not
// set. Cleaning bounds it to MaxText bytes as well.
func setText(span trace.Span, key attribute.Key, value string) {
	if value != "" {
		span.SetAttributes(key.String(Clean(value)))
	}
}

// setTexts sets an attribute to a list, of which as much is shown as in a log line.
func setTexts(span trace.Span, key attribute.Key, values []string) {
	if len(values) == 0 {
		return
	}
	cleaned := make([]string, 0, min(len(values), maxItems))
	for _, v := range values[:min(len(values), maxItems)] {
		cleaned = append(cleaned, Clean(v))
	}
	span.SetAttributes(key.StringSlice(cleaned))
}

// setNumber sets an attribute to a number. Zero, which is nothing in all of them, is not set.
func setNumber(span trace.Span, key attribute.Key, n int) {
	if n != 0 {
		span.SetAttributes(key.Int(n))
	}
}
