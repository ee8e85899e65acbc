package record

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/dpop"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// Leaf errors of this package.
var (
	ErrNotRecorded = errors.New("the audit record could not be written")
)

// Refusal decides what the client may know of an error. Whatever it does not
// recognise becomes "internal" in our words; the cause stays in the log and the
// audit record. Of a call that has reached the agent it says nothing that would have the
// client make it again.
func (rc *Recorder) Refusal(x *exchange.Exchange, err error) *wire.Error {
	return unrepeatable(x, err, rc.why(x, err))
}

// why is the answer to an error, wherever the call has been.
//
// The order matters where an error wraps several: overload and the ends of streams come before
// what they wrap, and a *wire.Error before the errors of state and upstream that it may have as a
// cause.
func (rc *Recorder) why(x *exchange.Exchange, err error) *wire.Error {
	var (
		e        *wire.Error
		denied   *policy.Denied
		missing  *ext.MissingError
		refused  *authn.Refused
		exceeded *limits.Exceeded
		turned   *pdp.Refused
		held     *anomaly.Throttled
		network  net.Error
		away     *upstream.Unavailable
	)
	if over := Overloaded(err); over != "" {
		return exchange.RetryLater("1", over.Error()).Because(err)
	}
	if e := streamRefusal(err); e != nil {
		return e
	}
	if e := rc.tooOften(err); e != nil {
		return e
	}
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, authn.ErrAmbiguous):
		return wire.Errorf(wire.Malformed, "more credentials than make one call").Because(err)
	case errors.Is(err, authn.ErrNoCredentials), errors.As(err, &refused):
		return rc.challenge(x, wire.Errorf(wire.Unauthenticated, "%s", authn.Told(err)), err, "").Because(err)
	case errors.Is(err, authn.ErrUnavailable):
		return exchange.RetryLater("5", "credentials cannot be verified at the moment").Because(err)
	case errors.As(err, &denied):
		return rc.denied(x, denied)
	case errors.As(err, &exceeded):
		return rc.exceeded(x, exceeded)
	case errors.As(err, &held):
		return rc.Throttled(x, held)
	case errors.As(err, &turned):
		return turnedDown(turned)
	case errors.Is(err, limits.ErrUnavailable):
		return exchange.RetryLater("1", "the call cannot be counted at the moment").Because(err)
	case errors.Is(err, agents.ErrUnknown):
		return wire.Errorf(wire.UnknownAgent, "").Because(err)
	case errors.Is(err, ledger.ErrAbsent):
		x.Rec.Denied = "task"
		return wire.Errorf(wire.TaskNotFound, "").Because(err)
	case errors.As(err, &missing):
		return unrequested(missing).Because(err)
	case errors.Is(err, agents.ErrNotReady):
		return exchange.RetryLater("5", "the agent is not reachable at the moment").Because(err)
	case errors.Is(err, agents.ErrNoInterface):
		return exchange.RetryLater("60", "the agent offers no interface that can be called").Because(err)
	case errors.Is(err, ErrNotRecorded):
		return exchange.RetryLater("1", "the call could not be recorded").Because(err)
	case errors.Is(err, webhooks.ErrAnswerLate), errors.Is(err, context.DeadlineExceeded):
		return wire.Errorf(wire.AgentTimeout, "").Because(err)
	case errors.Is(err, state.ErrUnavailable):
		return exchange.RetryLater("1", "whose tasks are whose cannot be known at the moment").Because(err)
	case errors.Is(err, state.ErrFull):
		return exchange.RetryLater("60", "no further task can be remembered (state.memory.records)").Because(err)
	case errors.Is(err, upstream.ErrBusy):
		return exchange.RetryLater("1", "too many calls to this agent are in flight (agents[].connections)").Because(err)
	case errors.As(err, &away):
		return exchange.RetryLater(strconv.Itoa(int((away.After+time.Second-1)/time.Second)), "the agent is not reachable at the moment").Because(err)
	case upstream.NoConnection(err):
		return exchange.RetryLater("5", "the agent is not reachable at the moment").Because(err)
	case errors.As(err, &network) && network.Timeout():
		return wire.Errorf(wire.AgentTimeout, "").Because(err)
	case errors.Is(err, upstream.ErrNotHTTP):
		return wire.Errorf(wire.BadAgentResponse, "the agent's answer is not valid HTTP").Because(err)
	case errors.Is(err, exchange.ErrAgentBroke):
		return wire.Errorf(wire.BadAgentResponse, "the agent did not answer").Because(err)
	}
	return wire.Errorf(wire.Internal, "").Because(err)
}

// tooOften is the answer to who has shown too many credentials, bad ones or proofs; nil for
// other errors.
func (rc *Recorder) tooOften(err error) *wire.Error {
	var throttled *failures.Throttled
	after, text := 1, dpop.ErrTooManyProofs.Error()
	switch {
	case errors.As(err, new(*wire.Error)):
		return nil
	case errors.As(err, &throttled):
		rc.Telemetry.Metrics.Credentials.Throttled()
		after, text = int(throttled.After/time.Second)+1, "too many refused credentials (authn.failures)"
	case !errors.Is(err, dpop.ErrTooManyProofs):
		return nil
	}
	e := wire.Errorf(wire.RateLimited, "%s", text).Because(err)
	e.Header = http.Header{"Retry-After": {strconv.Itoa(after)}}
	return e
}

// unrequested names the extensions that the caller has to request, in the message and in the
// details.
func unrequested(missing *ext.MissingError) *wire.Error {
	e := wire.Errorf(wire.ExtensionRequired, "required extensions were not requested: %s", strings.Join(missing.URIs, ", "))
	e.Meta = map[string]string{"extensions": strings.Join(missing.URIs, ",")}
	return e
}

// streamRefusal is what the client may know of the end of a stream; nil for other errors.
func streamRefusal(err error) *wire.Error {
	if errors.As(err, new(*wire.Error)) {
		return nil
	}
	switch {
	case errors.Is(err, openstreams.ErrOwnStreams):
		return exchange.RetryLater("1", "you have too many event streams open (streams.perPrincipal)").Because(err)
	case errors.Is(err, stream.ErrFull):
		return exchange.RetryLater("1", "the gateway keeps too much of all event streams (streams.buffer.total)").Because(err)
	case errors.Is(err, ending.ErrDraining):
		return exchange.RetryLater("1", "the gateway is shutting down, subscribe again").Because(err)
	case errors.Is(err, openstreams.ErrLifetime):
		return exchange.RetryLater("1", "the stream has lasted for streams.lifetime, subscribe again").Because(err)
	case errors.Is(err, openstreams.ErrEnded):
		return exchange.RetryLater("1", "an operator has ended the stream, subscribe again").Because(err)
	case errors.Is(err, ending.ErrIdle):
		return wire.Errorf(wire.AgentTimeout, "the agent sent nothing within the idle limit").Because(err)
	case errors.Is(err, ending.ErrTooLarge):
		return wire.Errorf(wire.BadAgentResponse, "an event exceeds limits.event").Because(err)
	case errors.Is(err, ending.ErrBroken):
		return wire.Errorf(wire.BadAgentResponse, "the agent's stream broke off").Because(err)
	case errors.Is(err, ending.ErrEarly):
		return wire.Errorf(wire.BadAgentResponse, "the agent's stream ended before the task did, and the agent has no other").Because(err)
	}
	return nil
}

// denied tells a caller with some business on the agent that this call is not
// part of it, and everybody else that there is no such agent.
func (rc *Recorder) denied(x *exchange.Exchange, d *policy.Denied) *wire.Error {
	if !d.Visible {
		return wire.Errorf(wire.UnknownAgent, "").Because(d)
	}
	scope := strings.Join(d.Scopes, " ")
	if d.StepUp != nil {
		return rc.stepUp(x, d, scope)
	}
	e := wire.Errorf(wire.Denied, "").Because(d)
	if len(d.Scopes) == 0 {
		return e
	}
	e.Message = "permission denied: missing scope " + scope
	return rc.challenge(x, e, d, scope)
}

// stepUp asks for another authentication of the user (RFC 9470 §3), which is a 401:
// the same call with another token may do.
func (rc *Recorder) stepUp(x *exchange.Exchange, d *policy.Denied, scope string) *wire.Error {
	e := wire.Errorf(wire.Unauthenticated, "the user has to authenticate again").Because(d)
	e.Meta = map[string]string{}
	want := &authn.StepUp{ACR: d.StepUp.ACR}
	if len(want.ACR) > 0 {
		e.Meta["acr_values"] = strings.Join(want.ACR, " ")
	}
	if age := d.StepUp.MaxAge; age > 0 {
		want.MaxAge = &age
		e.Meta["max_age"] = strconv.Itoa(int(age / time.Second))
	}
	if scope != "" {
		e.Meta["scope"] = scope
	}
	return rc.challenges(x, e, authn.Demand{Err: d, Scope: scope, StepUp: want})
}

// challenge adds WWW-Authenticate (RFC 6750 §3, RFC 9728 §5.1).
func (rc *Recorder) challenge(x *exchange.Exchange, e *wire.Error, err error, scope string) *wire.Error {
	return rc.challenges(x, e, authn.Demand{Err: err, Scope: scope})
}

// challenges adds what a demand asks for.
//
// There is one challenge per scheme that the chain accepts. A DPoP nonce (RFC 9449 §9) goes with
// it where proofs need one.
func (rc *Recorder) challenges(x *exchange.Exchange, e *wire.Error, d authn.Demand) *wire.Error {
	d.Realm, d.ResourceMetadata = "a2a-gateway", rc.metadataURL(x)
	if values := rc.Authn.Challenges(d); len(values) > 0 {
		e.Header = http.Header{"Www-Authenticate": values}
	}
	x.Nonce(rc.Authn.Nonce())
	return e
}

// Overloaded is what an error says of something that all calls share and that has run
// out, "" for any other error. Descriptors that end when an agent is connected to are not
// the agent's fault.
func Overloaded(err error) overload.Rung {
	var over overload.Rung
	switch {
	case errors.As(err, &over):
		return over
	case errors.Is(err, openstreams.ErrStreams):
		return overload.Streams
	case server.NoDescriptors(err):
		return overload.Descriptors
	}
	return ""
}

// turnedDown answers a call that an authorizer refused: somebody who may make other
// calls on the agent, as the rules allowed this one, so that nothing is given away.
func turnedDown(r *pdp.Refused) *wire.Error {
	if r.Err != nil {
		return exchange.RetryLater("5", "the call cannot be authorized at the moment").Because(r)
	}
	return wire.Errorf(wire.Denied, "").Because(r)
}

// unrepeatable is a refusal as the caller of a call that has reached the agent may see it: it
// does not invite to make the call again, which would have its effect twice. To subscribe
// again to a task that was shown has none.
func unrepeatable(x *exchange.Exchange, err error, e *wire.Error) *wire.Error {
	if e.Kind != wire.Unavailable && e.Header["Retry-After"] == nil {
		return e
	}
	unrecorded := errors.Is(err, state.ErrUnavailable) || errors.Is(err, state.ErrFull)
	if shown := x.Call.Method != nil && x.Call.Method.Writes && x.Rec.Events > 0; !x.Uncertain(err) && (!shown || !unrecorded) {
		return e
	}
	return wire.Errorf(wire.OutcomeUnknown, "the call has reached the agent, and what became of it is not known: %s", e.Text()).Because(err)
}
