// Package hook calls an HTTP service of the operator's at a phase of a call, so that
// extensions can be written in any language.
package hook

import (
	"context"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Phase is a moment of a call.
type Phase string

// The phases.
const (
	Request  Phase = "request"  // before the agent sees the call
	Response Phase = "response" // of a unary answer, before the caller sees it
	Event    Phase = "event"    // of every event of a stream
)

// Config is an entry of `extensions[].hooks`.
type Config struct {
	// URL is where the phases are posted to; http or https.
	URL string `yaml:"url"`
	// Phases are those that are posted: request, response, event.
	Phases []Phase `yaml:"phases"`
	// Timeout is how long an answer may take. Default 1s.
	Timeout secret.Duration `yaml:"timeout"`
	// OnFailure says what happens when the service does not answer, or not as it
	// should: deny (default) or pass.
	OnFailure string `yaml:"onFailure"`
	// Headers are sent with every callout.
	Headers []Header `yaml:"headers"`
}

// Header is a header of every callout.
type Header struct {
	Name  string       `yaml:"name"`
	Value secret.Value `yaml:"value"`
}

// Validate reports what cannot work, naming the key.
func (c Config) Validate() error { return nil }

// Callout is what the service is told, as JSON.
type Callout struct {
	Phase     Phase  `json:"phase"`
	Extension string `json:"extension"` // URI
	Agent     string `json:"agent"`     // configured id
	Method    string `json:"method"`    // 1.0 name, or the extension's own
	Version   string `json:"version"`   // of document: "1.0", "0.3"
	Binding   string `json:"binding"`   // of document: "JSONRPC", "HTTP+JSON", "GRPC"
	Skill     string `json:"skill,omitempty"`
	Principal string `json:"principal,omitempty"` // subject
	Tenant    string `json:"tenant,omitempty"`
	RequestID string `json:"requestId"`
	TaskID    string `json:"taskId,omitempty"`
	Document  []byte `json:"-"` // sent verbatim as "document": params, result or event
}

// Denied is the service's no.
type Denied struct {
	Message string // for the caller; "" for none
}

// Error is for the log.
func (d *Denied) Error() string { return "denied by a hook: " + d.Message }

// Hook is a Config made ready. Any number of goroutines may use it.
type Hook struct{}

// New makes a Hook.
func New(c Config) (*Hook, error) { return &Hook{}, nil }

// Handles reports whether a phase is posted.
func (h *Hook) Handles(p Phase) bool { return false }

// Call posts a phase and returns the document as it is to go on: Callout.Document
// itself, or what the service put in its place. The error is a *Denied, or says why
// there was no usable answer; with onFailure pass there is none of the latter.
func (h *Hook) Call(ctx context.Context, c Callout) ([]byte, error) { return c.Document, nil }

// Close lets go of idle connections.
func (h *Hook) Close() {}
