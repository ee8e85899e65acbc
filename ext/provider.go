package ext

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Provider implements an extension for agents that lack it. It is called for calls in
// which the client asked for the extension, the operator lists it under
// `agents[].extensions.provide` and the agent does not declare it. One file in
// package ext/provided is all that a further one takes.
type Provider interface {
	// Declared is how served cards list the extension.
	Declared() Declared
	// Request sees a call before the agent does, and may change what it carries. An
	// error of type *wire.Error refuses the call.
	Request(f *Facts, doc *wire.Carriers) error
	// Answer sees a unary answer or an event before the caller does, and may change
	// what it carries.
	Answer(f *Facts, doc *wire.Carriers) error
}

// Facts are what a provider may know of a call.
type Facts struct {
	Now       time.Time // of this request, answer or event
	Began     time.Time // when the request arrived
	Sent      time.Time // when it went to the agent; zero before
	RequestID string
	TraceID   string // W3C, 32 hex digits; "" when there is no trace
	SpanID    string // of the gateway's own span, 16 hex digits
	Gateway   string // server.id
	Agent     string // configured id
	AgentName string // by its card
	AgentURL  string // as clients know it
	Method    string // 1.0 name
	TaskID    string // of the task that the call names; "" for none
	Skill     string // "" when not known
	Subject   string // of the principal
	Issuer    string // of the principal
	Final     bool   // of an answer or event: no further one follows
}
