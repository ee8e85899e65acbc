package telemetry

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// accessMessage is the msg of every access-log line, to tell them from others.
const accessMessage = "call"

// finish fills what can be derived. It runs before anything reads the exchange, so that the
// log, the metrics and the span have the same duration.
func (t *Telemetry) finish(e *Exchange) {
	if e.Duration == 0 && !e.Start.IsZero() {
		e.Duration = time.Since(e.Start)
	}
}

// access writes the one line of a call. The keys are stable: new ones may
// come, none changes its meaning. Members that do not apply are left out.
func (t *Telemetry) access(e *Exchange) {
	// A line that the level keeps back costs nothing more than this.
	level := accessLevel(e)
	if level < t.level.Level() {
		return
	}
	// Lines are reused: their buffers have grown to the size of a usual line.
	l, _ := t.lines.Get().(*Line)
	l.Reset()
	l.Time("time", e.Start.Add(e.Duration))
	l.Str("level", level.String())
	l.Str("msg", accessMessage)
	appendCall(l, e)
	t.sink.add(l)
	t.lines.Put(l)
}

// accessLevel lifts the calls that failed for a reason on this side of the client above the
// others. These are answers with a status of 500 or more, and JSON-RPC errors with the
// reason INTERNAL, whose status is 200.
func accessLevel(e *Exchange) slog.Level {
	if e.Status >= http.StatusInternalServerError || e.Reason == wire.Internal.Reason {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// appendCall appends the members of an access-log line. They are in the order in which a person reads
// them: who wanted what, from where, and what came of it.
func appendCall(l *Line, e *Exchange) {
	AppendSubject(l, e)
	AppendArrival(l, e)
	AppendOutcome(l, e)
}

// AppendArrival appends how a request came in. As with AppendSubject, each member has its
// name here only, so that a log line and a record can be searched by the same words.
func AppendArrival(l *Line, e *Exchange) {
	l.Str("client_ip", e.ClientIP)
	l.Str("host", e.Host)
	l.Str("path", e.Path)
	l.Str("user_agent", e.UserAgent)
}

// AppendSubject appends what is known of a call before the agent is contacted:
// who asks for what, and what was decided. The access log and the audit record
// share these members.
func AppendSubject(l *Line, e *Exchange) {
	l.Str("request_id", e.RequestID)
	l.Str("trace_id", e.TraceID)
	l.Str("span_id", e.SpanID)
	l.Str("agent", e.Agent)
	l.Str("skill", e.Skill)
	l.Str("method", e.Method)
	l.Str("binding", e.Binding)
	l.Str("version", e.Version)
	l.Str("principal", e.Principal)
	l.Str("issuer", e.Issuer)
	l.Str("client", e.Client)
	l.Str("tenant", e.Tenant)
	l.Str("auth_method", e.AuthMethod)
	l.Str("key_id", e.KeyID)
	l.Str("key_owner", e.KeyOwner)
	l.Str("proof", e.Proof)
	l.Str("acr", e.ACR)
	l.Few("actors", e.Actors)
	l.Str("workload", e.Workload)
	l.Few("hops", e.Hops)
	l.Str("decision", e.Decision)
	l.Str("rule", e.Rule)
	l.Strs("skills", e.Skills)
	l.Str("sharing", e.Sharing)
	l.Few("policy_faults", e.Faults)
	l.Few("authorizers", e.Authorizers)
	l.Strs("consent", e.Consent)
	l.Strs("shadow", e.Shadow)
	l.Str("task_id", e.TaskID)
	l.Str("context_id", e.ContextID)
	l.Str("message_id", e.MessageID)
	l.Strs("extensions_requested", e.ExtensionsRequested)
	l.Strs("extensions_injected", e.ExtensionsInjected)
	l.Strs("extensions_provided", e.ExtensionsProvided)
	l.Strs("extensions_refused", e.ExtensionsRefused)
	l.Count("request_bytes", e.RequestBytes)
}

// AppendOutcome appends how a call ended. Members about streams are only there for streams,
// so that a search for "events" finds no other calls.
func AppendOutcome(l *Line, e *Exchange) {
	l.Int("status", int64(e.Status))
	l.Str("reason", e.Reason)
	l.Str("effect", e.Effect)
	l.Str("limit", e.Limit)
	l.Str("approval", e.Approval)
	l.Str("approval_state", e.ApprovalState)
	l.Cause("cause", e.Cause)
	l.Str("task_state", e.TaskState)
	l.Strs("demanded_hosts", e.Demanded)
	l.Flag("authorized", e.Authorized)
	l.Flag("deduplicated", e.Deduplicated)
	l.Strs("extensions_activated", e.ExtensionsActivated)
	appendViolations(l, e.Violations)
	appendGuards(l, e.Guards)
	l.Count("response_bytes", e.ResponseBytes)
	l.Str("endpoint", e.Endpoint)
	if e.Instance != "" {
		l.Str("instance", e.Instance)
		l.Count("tries", int64(e.Tries))
	}
	l.Str("translated_to", e.TranslatedTo)
	l.Few("credentials", e.Credentials)
	if e.UpstreamStatus != 0 || e.UpstreamDuration != 0 {
		l.Count("upstream_status", int64(e.UpstreamStatus))
		l.Millis("upstream_duration_ms", e.UpstreamDuration)
	}
	l.Str("answer_form", e.AnswerForm)
	l.Strs("quirks", e.Quirks)
	if e.Streamed {
		l.Flag("streamed", true)
		l.Int("events", e.Events)
		l.Count("skipped_events", e.SkippedEvents)
		l.Millis("first_event_ms", e.FirstEvent)
		l.Str("end", e.End)
		appendResumption(l, e)
	}
	l.Str("grammar", e.Grammar)
	l.Millis("duration_ms", e.Duration)
}

// appendResumption appends what became of a stream beside its plain course.
func appendResumption(l *Line, e *Exchange) {
	l.Flag("resumed", e.Resumed)
	l.Count("replayed", e.Replayed)
	l.Flag("gap", e.Gap)
	l.Flag("joined", e.Joined)
	l.Count("regained", e.Regained)
	l.Count("dropped_events", e.DroppedEvents)
	l.Count("dropped_bytes", e.DroppedBytes)
	l.Flag("dropped_more", e.DroppedMore)
}
