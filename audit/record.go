package audit

import (
	"maps"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Types of records.
const (
	typeIntent = "intent" // a call is about to go to an agent
	typeCall   = "call"   // a call has ended, or was refused
	typeEvent  = "event"  // something happened to the gateway itself

	typeCheckpoint = "checkpoint" // the records so far, signed
)

// appendIntent appends the members of an intent record. It is the only record of a call
// that the gateway did not live to see the end of, so it has who asked for what, by which
// rule it was allowed, and what went to which agent. How the call came, and what else its
// credential says, is in the call record, which is the one that people search.
// It looks like this, with number, version, gateway and hash that the writer adds:
//
//	{"seq":1,"v":1,"type":"intent","time":"…","request_id":"…","agent":"weather","method":"SendMessage",…}
func appendIntent(l *telemetry.Line, e *telemetry.Exchange, now time.Time) {
	head(l, typeIntent, now)
	l.Str("request_id", e.RequestID)
	l.Str("trace_id", e.TraceID)
	l.Str("agent", e.Agent)
	l.Str("skill", e.Skill)
	l.Str("method", e.Method)
	l.Str("principal", e.Principal)
	l.Str("issuer", e.Issuer)
	l.Str("client", e.Client)
	l.Str("tenant", e.Tenant)
	l.Str("auth_method", e.AuthMethod)
	l.Str("key_id", e.KeyID)
	l.Str("key_owner", e.KeyOwner)
	l.Str("proof", e.Proof)
	l.Few("actors", e.Actors)
	l.Str("workload", e.Workload)
	l.Str("decision", e.Decision)
	l.Str("rule", e.Rule)
	l.Strs("skills", e.Skills)
	l.Str("sharing", e.Sharing)
	l.Strs("consent", e.Consent)
	l.Str("task_id", e.TaskID)
	l.Str("context_id", e.ContextID)
	l.Str("message_id", e.MessageID)
	l.Strs("extensions_requested", e.ExtensionsRequested)
	l.Strs("extensions_injected", e.ExtensionsInjected)
	l.Str("client_ip", e.ClientIP)
	l.Digest("request_digest", e.Digest)
	l.Str("endpoint", e.Endpoint)
	l.Few("credentials", e.Credentials)
}

// appendCall appends the members of a call record: the intent's again, since
// one record should answer a question by itself, and the outcome.
func appendCall(l *telemetry.Line, e *telemetry.Exchange, now time.Time) {
	head(l, typeCall, now)
	appendSubject(l, e)
	telemetry.AppendOutcome(l, e)
	l.Digest("response_digest", e.ResponseDigest)
	if e.Content != nil {
		appendContent(l, e.Content)
	}
}

// appendContent appends what was captured of the bodies, but for itself.
func appendContent(l *telemetry.Line, c *telemetry.Content) {
	var inner telemetry.Line
	inner.Str("id", c.ID)
	inner.Str("digest", c.Digest)
	inner.Count("bytes", c.Bytes)
	inner.Str("label", c.Label)
	inner.Count("redactions", c.Redactions)
	inner.Flag("lost", c.Lost)
	inner.Str("until", c.Until)
	l.Object("content", &inner)
}

// appendEvent appends the members of an event record. The attributes are one
// object, in the order of their names.
//
//	{"seq":9,"v":1,"type":"event","time":"…","event":"config.reload","attrs":{"who":"alice"},…}
func appendEvent(l *telemetry.Line, kind string, attrs map[string]string, now time.Time) {
	head(l, typeEvent, now)
	l.Str("event", kind)
	if len(attrs) == 0 {
		return
	}
	var inner telemetry.Line
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		inner.Str(name, attrs[name])
	}
	l.Object("attrs", &inner)
}

// head appends what every record begins with, behind its number.
func head(l *telemetry.Line, kind string, now time.Time) {
	l.Str("type", kind)
	l.Time("time", now)
}

// appendSubject appends who asked for what, as the access log has it, and what that leaves out: whatever
// else the credential says, and the digest of the request.
func appendSubject(l *telemetry.Line, e *telemetry.Exchange) {
	l.Time("start", e.Start)
	telemetry.AppendSubject(l, e)
	l.Strs("groups", e.Groups)
	l.Strs("scopes", e.Scopes)
	l.Strs("amr", e.AMR)
	if !e.AuthTime.IsZero() {
		l.Time("auth_time", e.AuthTime)
	}
	telemetry.AppendArrival(l, e)
	l.Digest("request_digest", e.Digest)
}
