package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Exchange is what one call leaves behind: the proxy fills it while the call
// passes through its stages, and in a defer it becomes the access-log line, the
// metrics, the span attributes and the audit record. It has a part for each
// question that somebody may have about a call, in the order in which the stages
// answer them. Fields hold what was seen, uncleaned: whoever writes them out cleans
// them. Empty means not known or not applicable. Bodies, credentials and query
// strings have no field on purpose.
type Exchange struct {
	Arrival
	Caller
	Call
	Authorization
	Negotiation
	UpstreamCall
	Answer
	EventStream

	tracing
}

// Arrival is how a request came in: set before anything is decided, so that the
// record of a call that is refused at once has it as well.
type Arrival struct {
	Start        time.Time     // when the request's head was complete
	Duration     time.Duration // until the last byte of the answer; Record fills it when zero
	RequestID    string        // the gateway's own, unique; joins the intent and the call record
	TraceID      string        // 32 hex digits; set by StartServer
	SpanID       string        // 16 hex digits; set by StartServer
	ClientIP     string        // after trusted proxies were taken off
	Host         string        // as sent
	Path         string        // as sent, without the query (queries can hold keys)
	UserAgent    string        // as sent
	Verb         string        // HTTP method; set where the call is sampled
	Route        string        // the pattern that the path has; likewise
	Hops         []string      // gateways and proxies that the call passed before (Via), in order
	RequestBytes int64         // body bytes read
	Digest       Digest        // of the request body; for gRPC of its message
}

// Caller is who asked, by what the credential says: set by authenticate. What a caller
// merely claims is not here.
type Caller struct {
	Principal  string // subject
	Issuer     string // issuer of the subject
	Client     string // OAuth client the subject used
	Tenant     string // the principal's tenant
	AuthMethod string // authn.Principal.Method: "oidc", "introspection", "api-key", "mtls", "anonymous"
	KeyID      string // API key id or JWT kid
	KeyOwner   string // who answers for the API key
	Groups     []string
	Actors     []string // who acts for the principal, "subject@issuer", the latest first
	Workload   string   // the client identity that came with the user's, "subject@issuer"
	Proof      string   // authn.Principal.Proof
	ACR        string   // authentication context class of the user
	Scopes     []string // of the credential
	AMR        []string // methods by which the user authenticated
	AuthTime   time.Time
}

// Call is what was asked for, of which agent: set by locate and decode, and completed
// by what the answer shows, since a message that begins a task cannot name it.
type Call struct {
	Agent      string // configured agent id; empty when the path or host names none
	AgentName  string // by the agent's card
	Method     string // wire.Method.Name; empty when the call was refused before it was known
	Binding    string // wire.Binding.String
	Version    string // wire.Version the client spoke: "0.1", "0.3", "1.0"
	TaskID     string // the task the request names, else the one the answer showed
	ContextID  string
	MessageID  string
	References []string // tasks that the message refers to
}

// Authorization is why the call was let through or refused: set by checkOwnership, by
// authorize, and by the limits. What the client is told of a refusal is in Answer.
type Authorization struct {
	Skill       string   // skill the call was decided for; empty when unknown
	Skills      []string // skills that a call of an unknown skill is allowed for, where one is enough
	Decision    string   // "allow", "deny" (somebody may not), "error" (refused for another reason)
	Rule        string   // name of the rule that decided, or policy's for none; empty when rules were not asked
	Overruled   bool     // Rule let the call through, and something else denied it
	Denied      string   // what was not the caller's: task, context or answer
	Sharing     string   // entry of policy.tasks.sharing by which somebody else's task is used
	Approval    string   // id of the approval that the call waits for, went with, or was counted for
	Limit       string   // limit that refused the call
	Faults      []string // expressions of rules that could not be evaluated, and why
	Authorizers []string // what was not as it should be with authorizers that were asked
	Consent     []string // consents that the rules asked for and found

	ApprovalState string // where that stands: waiting, remembered, sending, sent, failed, rejected, canceled, expired, void or lost

	Shadow []string // what shadow rules would have done: "deny NAME", "allow NAME"; and limits and extensions in shadow
}

// Negotiation is what became of extensions: set by negotiate, but for what the agent
// says, which forward adds. A URI can be in several of the lists.
type Negotiation struct {
	ExtensionsRequested []string    // URIs the client asked for
	ExtensionsActivated []string    // URIs the agent said it activated, of those asked for
	ExtensionsInjected  []string    // URIs the gateway asked the agent for, that the client did not
	ExtensionsProvided  []string    // URIs asked for that the gateway implements in the agent's place
	ExtensionsRefused   []string    // URIs asked for that are known and not permitted
	Violations          []Violation // wherever bodies were held against the extensions of the call

	Guards []GuardFinding // what guards found in what the call brought, and in its answers
}

// UpstreamCall is the call as the agent got it: set by forward. Where the gateway refused,
// or answered by itself, next to nothing of it is set.
type UpstreamCall struct {
	Endpoint         string        // upstream URL the call went to, without userinfo or query
	Instance         string        // the agent's instance that had the call; empty where there is one only
	Tries            int           // instances that had it, one after the other; 0 when it was kept from the agent
	Credentials      []string      // what the agent was shown, kind and header: "exchange Authorization"
	TranslatedTo     string        // version and binding the agent is spoken to in ("0.3 HTTP+JSON"), where they are not the client's
	UpstreamStatus   int           // HTTP status of the agent; 0 when it was not reached
	UpstreamDuration time.Duration // until the agent's answer was read, for streams until its head
	AnswerForm       string        // how the agent's answer was written, where that is not as A2A has it
	Quirks           []string      // of proxy.Quirk, those that were used
	Demanded         []string      // hosts of links in a task that asks for authorization
	Authorized       bool          // the gateway answered a task that asked for authorization
	Deduplicated     bool          // the same message was sent before, so the agent did not get this one
}

// Answer is what the client was told, whoever made it up: the agent or the gateway.
type Answer struct {
	Status         int      // HTTP status sent to the client
	Reason         string   // wire.Kind.Reason of the refusal or of the agent's error
	Cause          string   // why, for operators; never sent to the client
	Effect         string   // "unknown" where the call has reached the agent and its caller got neither answer nor event
	ResponseBytes  int64    // body bytes sent
	ResponseDigest Digest   // of the answer's body; none for streams
	TaskState      string   // last state seen, canonical 1.0 name (TASK_STATE_…)
	Content        *Content // what was captured of the bodies; nil for nothing
}

// EventStream is how an answer went that is a stream of events. Counting goes on until
// the stream has ended, which may be hours after the call was let through.
type EventStream struct {
	Events        int64         // events passed on, heartbeats not counted
	SkippedEvents int64         // events of the agent's that are none of A2A's: without data, or under another name
	FirstEvent    time.Duration // from Start until the first event was passed on
	End           string        // why the stream ended: "final", "client", "agent", "idle", "drain", …
	Replayed      int64         // events a client got, who came back, of what it had missed
	Regained      int64         // how often the agent's stream broke and another took its place
	Grammar       string        // which rule of what may be said of a task the agent broke first
	DroppedEvents int64         // events that the client was not given, as the gateway ended its stream with an error
	DroppedBytes  int64         // of those
	Streamed      bool          // the answer was an event stream
	Resumed       bool          // the client came back to a stream with Last-Event-ID
	Gap           bool          // what it had missed is not kept any more: it got the task as it is
	Joined        bool          // the stream shares the agent's with others
	DroppedMore   bool          // there may have been more: counting ended before the agent's stream did
}

// tracing is the part of an Exchange that becomes no text: the spans that belong to it. It
// is embedded, so that an Exchange carries its spans through the stages, and has no
// exported field: only this package sets it.
type tracing struct {
	span       trace.Span   // the recording server span between StartServer and Record, else nil
	server     trace.SpanID // the server span, recording or not
	parent     [1]string    // the same, as a request below it says it
	joined     string       // the task that the span was linked for
	registered trace.SpanID // of the call that registered a webhook, to which the span is linked
}

// Content is what the record of a call says of its bodies where they are captured.
type Content struct {
	ID         string // of what is kept
	Digest     string // of that; it says nothing of it by itself
	Bytes      int64  // of that
	Label      string // how sensitive it is
	Redactions int64  // how much was taken out
	Lost       bool   // it could not be kept
	Until      string // the day, as 2026-11-22, after which it is destroyed; "" for never
}
