// Package pdp asks others whether a call may be made: policy decision points that
// speak OpenID AuthZEN 1.0 (Authorization API) over HTTP, or Envoy's ext_authz v3 over
// gRPC. They are asked about calls that the rules allow, and can only refuse.
//
// It owns the two protocols and what is done when nobody answers. It does not own the
// rules (policy) or what a refusal looks like on the wire (proxy). It may import
// authn, internal/secret and internal/wire.
package pdp

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Options are what a configuration does not say.
type Options struct {
	Agents  []string       // ids of the configured agents
	Methods []*wire.Method // that extensions bring
	Gateway string         // the gateway's id, for the authorizer's log
	Log     *slog.Logger   // nil for none
	// Asked is told how each question ended (allow, deny, error, cached) and how long it
	// took; nil for none.
	Asked func(name, result string, took time.Duration)
}

// Panel are the authorizers of one configuration.
type Panel struct{}

// New compiles a Config and makes ready to ask; it connects to nobody.
func New(c Config, o Options) (*Panel, error) {
	if len(c) == 0 {
		return &Panel{}, nil
	}
	return nil, errors.New("authorizers: not available")
}

// Close ends the connections. Questions that are being asked end with an error.
func (p *Panel) Close() {}

// Question is one call. It must not be changed while it is asked.
type Question struct {
	Principal  *authn.Principal
	Agent      string
	Skill      string   // "" when not known
	Skills     []string // all that the call was allowed for
	Method     *wire.Method
	Binding    wire.Binding
	Version    wire.Version
	TaskID     string
	ContextID  string
	Extensions []string // that the caller asks for
	Source     netip.Addr
	Host       string // of the request
	Path       string
	RequestID  string
	Now        time.Time
	Message    *wire.Message // nil for none, and where no authorizer wants it; see Reads
}

// Reads reports whether an authorizer is told of the contents of calls on an agent.
func (p *Panel) Reads(agent string) bool { return false }

// Refused is the error of Ask when an authorizer says no, or cannot be asked and
// refuses then.
type Refused struct {
	By     string // the authorizer's name
	Reason string // for the record; what the authorizer said, not for the caller
	Err    error  // why it could not be asked; nil when it said no
}

// Error is for the log.
func (r *Refused) Error() string { return "refused by authorizer " + r.By + ": " + r.Reason }

// Unwrap returns the cause.
func (r *Refused) Unwrap() error { return r.Err }

// Ask puts the question to all authorizers that want it, at the same time. nil means
// that all allow it; notes say what was not as it should be, for the record: a failure
// that was passed over, what an authorizer in shadow mode would have refused.
func (p *Panel) Ask(ctx context.Context, q *Question) (notes []string, err error) { return nil, nil }
