//go:build !minimal

package otlp

import (
	"slices"
	"time"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
)

// record is what is outside the body as well. Not all of a record is: attributes are what backends
// index, and what is not asked for in queries is in the body.
type record struct {
	caller

	Gateway    string    `json:"gateway"`
	Hash       string    `json:"hash"`
	Time       time.Time `json:"time"`
	Type       string    `json:"type"`
	Event      string    `json:"event"`
	RequestID  string    `json:"request_id"`
	TraceID    string    `json:"trace_id"`
	SpanID     string    `json:"span_id"`
	Agent      string    `json:"agent"`
	Skill      string    `json:"skill"`
	Method     string    `json:"method"`
	Binding    string    `json:"binding"`
	Version    string    `json:"version"`
	Decision   string    `json:"decision"`
	Rule       string    `json:"rule"`
	Limit      string    `json:"limit"`
	Status     int64     `json:"status"`
	Reason     string    `json:"reason"`
	TaskID     string    `json:"task_id"`
	TaskState  string    `json:"task_state"`
	ContextID  string    `json:"context_id"`
	MessageID  string    `json:"message_id"`
	DurationMS *float64  `json:"duration_ms"`
	Attrs      struct {
		Principal string `json:"principal"`
		Issuer    string `json:"issuer"`
		Who       string `json:"who"`
		Agent     string `json:"agent"`
		Skill     string `json:"skill"`
		TaskID    string `json:"task_id"`
		ClientIP  string `json:"client_ip"`
		TraceID   string `json:"trace_id"`
		State     string `json:"state"`
		Outcome   string `json:"outcome"`
	} `json:"attrs"`
}

// caller is what a record says of who asked; an event says it among its attributes (adopt).
type caller struct {
	Principal  string `json:"principal"`
	Issuer     string `json:"issuer"`
	Client     string `json:"client"`
	Tenant     string `json:"tenant"`
	AuthMethod string `json:"auth_method"`
	ClientIP   string `json:"client_ip"`
	UserAgent  string `json:"user_agent"`
}

// adopt has what an event is about count like what a call is about, so that one question to the
// receiver finds both.
func (r *record) adopt() {
	if r.Type != "event" {
		return
	}
	a := r.Attrs
	r.Principal, r.Issuer, r.Agent, r.Skill = a.Principal, a.Issuer, a.Agent, a.Skill
	r.TaskID, r.ClientIP, r.TraceID = a.TaskID, a.ClientIP, a.TraceID
	if r.Principal == "" {
		r.Principal = a.Who
	}
}

// list has the names that spans have, and a2a_gateway.principal.* for what spans do not
// tell: a receiver of audit records is one that may know.
// Names follow the OpenTelemetry semantic conventions where there is one (client.address,
// error.type, http.response.status_code, user_agent.original, gen_ai.conversation.id), and the
// prefix a2a_gateway where there is none.
func (r *record) list(a *attributes) {
	a.text("a2a_gateway.audit.type", r.Type)
	a.text("a2a_gateway.audit.hash", r.Hash)
	a.text("a2a_gateway.id", r.Gateway)
	a.text("a2a_gateway.request.id", r.RequestID)
	a.text("a2a_gateway.agent", r.Agent)
	a.text("a2a_gateway.skill", r.Skill)
	a.text("a2a.method.name", r.Method)
	a.text("a2a.protocol.version", r.Version)
	// HTTP+JSON is no RPC system that the conventions know.
	switch r.Binding {
	case "JSONRPC":
		a.text("rpc.system.name", "jsonrpc")
	case "GRPC":
		a.text("rpc.system.name", "grpc")
	}
	a.text("a2a_gateway.principal.id", r.Principal)
	a.text("a2a_gateway.principal.issuer", r.Issuer)
	a.text("a2a_gateway.principal.client", r.Client)
	a.text("a2a_gateway.principal.type", r.AuthMethod)
	a.text("a2a.tenant", r.Tenant)
	a.text("a2a_gateway.policy.decision", r.Decision)
	a.text("a2a_gateway.policy.rule", r.Rule)
	a.text("a2a_gateway.limit", r.Limit)
	a.text("a2a.task.id", r.TaskID)
	a.text("a2a.task.state", r.TaskState)
	a.text("gen_ai.conversation.id", r.ContextID)
	a.text("a2a.message.id", r.MessageID)
	if r.Status != 0 {
		a.number("http.response.status_code", r.Status)
	}
	a.text("error.type", r.Reason)
	a.text("client.address", r.ClientIP)
	a.text("user_agent.original", r.UserAgent)
	if r.DurationMS != nil {
		a.seconds("a2a_gateway.duration", *r.DurationMS/1000)
	}
}

// name is that of the event: an event's own, and that of its type for any other record.
// It becomes EventName, which the log data model wants for records of one form.
func (r *record) name() string {
	switch {
	case r.Event != "":
		return "a2a_gateway." + r.Event
	case r.Type != "":
		return "a2a_gateway.audit." + r.Type
	}
	return "a2a_gateway.audit"
}

// warnings are events that somebody may want to look at: something was decided against somebody, or
// the log itself was cut off and has gone on.
var warnings = []string{
	"anomaly.begun", "card.quarantined", "card.refused", "instance.ejected", "upgrade.refused", "audit.resumed",
}

// severity is how bad it is for whoever runs the gateway: what was refused is worth a look,
// what broke more so. No record is of less than INFO, below which receivers like to drop.
// SeverityNumber is that of the OpenTelemetry log data model: 9 for INFO, 13 for WARN, 17 for
// ERROR.
func (r *record) severity() logs.SeverityNumber {
	switch {
	case r.Event == "audit.gone", r.Event == "audit.distrusted", r.Event == "audit.strayed", r.Type == "call" && r.Status >= 500:
		return logs.SeverityNumber_SEVERITY_NUMBER_ERROR
	case r.Decision == "deny", r.Decision == "error", slices.Contains(warnings, r.Event),
		r.Event == "card.changed" && r.Attrs.State == "alerted",
		r.Event == "push.delivery" && r.Attrs.Outcome != "delivered" && r.Attrs.Outcome != "failed":
		return logs.SeverityNumber_SEVERITY_NUMBER_WARN
	}
	return logs.SeverityNumber_SEVERITY_NUMBER_INFO
}

// severityText is the name of a severity, which collectors show; some of their queries go by it, and
// not by the number.
func severityText(n logs.SeverityNumber) string {
	switch n {
	case logs.SeverityNumber_SEVERITY_NUMBER_ERROR:
		return "ERROR"
	case logs.SeverityNumber_SEVERITY_NUMBER_WARN:
		return "WARN"
	}
	return "INFO"
}
