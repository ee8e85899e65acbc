// Package pdp asks others whether a call may be made: policy decision points that
// speak OpenID AuthZEN 1.0 (Authorization API) over HTTP, or Envoy's ext_authz v3 over
// gRPC. They are asked about calls that the rules allow, and can only refuse.
//
// For one call the proxy asks Ask, once, when the rules have allowed it and its limits have
// room. For each authorizer:
//
//   - concerns says whether the call is one that it is asked about, and for which skills.
//   - inquire writes the question down: caller, operation, agent or skill, circumstances.
//     No credential and no content of a message is in it.
//   - answer takes a remembered answer, joins a question that is on its way, or asks, where
//     the breaker and the caller's share of the connections let it.
//   - decide, of the protocol, sends the question and reads the answer, strictly: what is
//     neither a yes nor a no is a failure.
//   - judge makes the answer, or the failure, what mode and onFailure say.
//
// An authorizer cannot change a call, and nothing that it says reaches the caller: its
// reason is for the audit record.
//
// It owns the two protocols and what is done when nobody answers. It does not own the
// rules (policy) or what a refusal looks like on the wire (proxy). It may import
// authn, internal/secret and internal/wire.
package pdp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Options are what a configuration does not say.
type Options struct {
	Agents  []string       // ids of the configured agents
	Methods []*wire.Method // that extensions bring
	Gateway string         // the gateway's id, for the authorizer's log
	Egress  *tunnel.Proxy  // the way to authorizers; nil is direct
	Log     *slog.Logger   // nil for none
	// Asked is told how each question ended (allow, deny, error, cached) and how long it
	// took; nil for none. It hears nothing of questions whose answer nobody waited for.
	Asked func(name, result string, took time.Duration)
}

// Question is one call. It must not be changed, also not after Ask has returned.
type Question struct {
	Principal  *authn.Principal
	Agent      string
	Skill      string   // "" when not known
	Skills     []string // where Skill is "": all that it may be for; nil when it is for none
	Method     *wire.Method
	Binding    wire.Binding
	Version    wire.Version
	TaskID     string
	ContextID  string
	Extensions []string // that the caller asks for
	Source     netip.Addr
	Host       string // of the request
	Path       string
	Verb       string // the HTTP method; "" when it is not to be told
	RequestID  string
	Now        time.Time
	Message    *wire.Message // nil for none, and where no authorizer wants it; see Reads
}

// Refused is the error of Ask when an authorizer says no, or cannot be asked and
// refuses then.
type Refused struct {
	By     string // the authorizer's name
	Reason string // for the record; what the authorizer said, not for the caller
	Err    error  // why it could not be asked; nil when it said no
}

// Error is for the log.
func (r *Refused) Error() string {
	return strings.TrimSuffix("refused by authorizer "+r.By+": "+r.Reason, ": ")
}

// Unwrap returns the cause.
func (r *Refused) Unwrap() error { return r.Err }

// Panel are the authorizers of one configuration. It is safe for concurrent use.
type Panel struct {
	each []*authorizer
	end  context.CancelFunc
}

// New compiles a Config and makes ready to ask; it connects to nobody. All errors are
// reported at once, each with the key it is about.
func New(c Config, o Options) (*Panel, error) {
	errs := []error{c.Validate()}
	names := wire.Named(o.Methods)
	for i := range c {
		errs = append(errs, keypath.At(c[i].check(o.Agents, names), "policy", "authorizers", i))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Asked == nil {
		o.Asked = func(string, string, time.Duration) {}
	}
	life, end := context.WithCancel(context.Background())
	p := &Panel{end: end}
	for i := range c {
		a, err := newAuthorizer(life, &c[i], &o)
		if err != nil {
			errs = append(errs, keypath.At(err, "policy", "authorizers", i))
			continue
		}
		for _, name := range c[i].Methods {
			a.methods = append(a.methods, names[name]...)
		}
		p.each = append(p.each, a)
	}
	if err := errors.Join(errs...); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// check reports agents and methods that do not exist.
func (a *Authorizer) check(agents []string, names map[string][]*wire.Method) error {
	var errs []error
	for i, id := range a.Agents {
		if id != "" && !strings.Contains(id, "*") && !slices.Contains(agents, id) {
			errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("agent %q is not configured%s", id, spelling.Hint(id, agents)), i), "agents"))
		}
	}
	for i, name := range a.Methods {
		switch {
		case name == "*":
			errs = append(errs, keypath.At(keypath.Point(errors.New(`there is no "*"; leave methods out to mean every method`), i), "methods"))
		case name != "" && names[name] == nil:
			errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("%q is not an A2A method", name), i), "methods"))
		}
	}
	return errors.Join(errs...)
}

// Close ends the connections. Questions that are being asked end with an error.
func (p *Panel) Close() {
	if p.end != nil {
		p.end()
	}
	for _, a := range p.each {
		a.close()
	}
}

// Reads reports whether an authorizer is told of the contents of calls on an agent.
func (p *Panel) Reads(agent string) bool {
	return slices.ContainsFunc(p.each, func(a *authorizer) bool { return a.message && a.agents.match(agent) })
}

// Explain names the authorizers that a call concerns, in the order of the configuration;
// those in shadow mode with " (shadow)" behind. It asks nobody.
func (p *Panel) Explain(q *Question) []string {
	var names []string
	for _, a := range p.each {
		if _, ok := a.concerns(q); ok {
			names = append(names, a.label())
		}
	}
	return names
}
