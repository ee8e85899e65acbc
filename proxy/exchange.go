package proxy

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// exchange is one request and everything the stages found out about it. It is passed
// explicitly and used by one goroutine, which is that of the request's handler until a stream
// leaves it (see detachedStream). The comment on each field names the stage that sets it.
//
// Its parts stand in the order of the stages that fill them in. A method that needs one part
// alone is that part's.
type exchange struct {
	fromClient
	admission
	destination
	parsedCall

	principal *authn.Principal // authenticate

	ownership
	authorized
	negotiation
	forwarding
	streamState
	recording
}

// fromClient is the request as the connection has it, and the response to its client (begin).
type fromClient struct {
	w      *response       // begin; out
	out    response        // begin
	r      *http.Request   // begin
	at     site            // begin; where the path leads
	ctx    context.Context // begin; carries the trace and the client's disconnect, nothing else
	client netip.Addr      // begin; for the record, and what refused credentials are counted by; nobody is let in by it
	id     [1]string       // begin; the request's, as headers have it
	length [1]string       // forward; that of the answer, likewise
}

// admission is what the call counts as among all calls: see internal/overload (admit, fairShare).
type admission struct {
	admitted bool   // admit; the call counts as one in flight
	counted  bool   // fairShare; it counts among the caller's
	network  string // fairShare; that of an anonymous client; see holder
	bulk     int64  // decode; bytes of a large body that count as held
}

// destination is whom the call is for: the agent, and what of it the path names (locate).
type destination struct {
	agent  *agents.Agent // locate; nil when the path or host names none that exists. On shared: decode
	shared bool          // locate; neither path nor host says which agent is meant
	home   *agents.Agent // locate; on shared: whom a call is for that names no agent. nil if it has to name one
	named  bool          // decode; the tenant named the agent, and is not the agent's own
	view   *agents.View  // decode; the agent's card
	rest   string        // locate; escaped path below the agent's base
	skill  string        // locate: from the path; authorize: as resolved
	path   string        // locate; the skill that the path names. On shared: decode, the tenant
	route  wire.Route    // locate; HTTP+JSON only
}

// parsedCall is the call as the wire had it (decode).
type parsedCall struct {
	call wire.Call // locate: binding and version hint; decode: the rest
	body *buffer   // decode; holds call.Body until the exchange ends, or unload
	told *buffer   // prepare; holds the call as it is retold, likewise
}

// ownership is whose the task and the context are, and under which names both sides know them (checkOwnership, adopt).
type ownership struct {
	record   state.Record    // checkOwnership; of the task the call names; without one only the context's endpoint
	known    policy.Task     // authorize; what is recorded of the task, zero if none
	foreign  *foreign        // checkOwnership; set when the caller's context id had to be replaced
	contexts []foreign       // checkOwnership, forward; those that may go by other names with the caller, foreign among them
	query    string          // checkOwnership; replaces the request's query, for the same reason
	task     translate.Alias // checkOwnership; a 0.1 caller's name for the task, and the agent's
	session  translate.Alias // checkOwnership; the same for the context
	reserved string          // adopt; the context that has been made the caller's
}

// authorized is what the rules, the limits and the authorizers made of the call (authorize).
type authorized struct {
	agentwide   bool            // authorize; the call is not about one skill
	decision    policy.Decision // authorize
	callMessage callMessage     // authorize; what the call brings, where somebody judges it
	limitPass   *limits.Pass    // authorize; what the call holds of its caller's limits
	resumed     *limits.Pass    // authorize; of an earlier call, whose stream this one comes back to; nil for none
	outlives    bool            // forward; the call goes on when its client hangs up
}

// negotiation is which extensions are active, and what documents are held to (negotiate).
type negotiation struct {
	book      *ext.Book   // begin; the extensions that are registered
	asked     ext.Set     // authorize; what the client asked for
	names     ext.Names   // authorize; the header names the client used
	terms     ext.Outcome // negotiate
	shown     ext.Set     // negotiate; what the client asked for and gets, from whomever
	activated ext.Set     // forward; of what was sent, what the agent says it activated
	watched   *watch      // forward; what the agent's documents are held to, once one is looked at
	passes    bool        // forward; those that cannot carry anything are not looked at
}

// forwarding is the call on its way to the agent, and its answer on the way back (forward).
type forwarding struct {
	endpoint *agents.Endpoint        // decode; the interface of the agent's that serves the call best
	fellBack bool                    // forward; it is called in the caller's version, which its card does not have
	upstream *upstreamCall           // forward; the call as it goes to the agent
	trail    *telemetry.Trail        // forward; the spans of the call to the agent; nil where it is not traced
	sent     time.Time               // forward; when the call went to the agent
	late     *time.Timer             // forward; ends the wait for an answer
	up       *detachedRequest        // forward; the request for a stream of the agent's
	leads    bool                    // forward; the agent's document at hand is put before a stream
	stands   map[state.Step]standing // negotiate: of the call's task; forward
	question *wire.Demand            // forward; what a task wants to see that the gateway answers itself
	held     []byte                  // forward; the event that showed it, framed for the caller, until another has come
	webhook  *push.Registration      // forward; what the agent is given for the webhook that came with the call
	holders  map[string]string       // forward; the agent's instances by task, of the tasks that it is asked to list
	filtered bool                    // forward; the list at hand holds nothing of other callers' any more
}

// streamState is the client's stream: its place, and who writes it (forward).
type streamState struct {
	slot  *slot         // forward; the stream\'s, of those that may be open
	fed   bool          // forward; events come from a feed, and their ids have been checked
	away  *server.Taken // forward; the client's connection, once the exchange goes on without its handler
	stays bool          // forward; it does not
}

// recording is what is written down at the end (finish).
type recording struct {
	rec      telemetry.Exchange // all stages; written by finish
	captured *audit.Capture     // record; nil where nothing is
	left     bool               // refuse; nobody waited for the answer any more
	ended    func()             // notified; called when the exchange is on record
	learned  wire.TaskRef       // forward; what the previous event named, already in the ledger
	uses     *uses              // forward; what it uses of the state, where it may last; nil for a short call
}

// begin starts the record of a request.
func (rc *recorder) begin(w http.ResponseWriter, r *http.Request, at site) *exchange {
	x := &exchange{fromClient: fromClient{r: r, at: at}, negotiation: negotiation{book: rc.Book}}
	x.out = response{ResponseWriter: w, limit: rc.Server.Timeouts.Write.Std()}
	x.w = &x.out
	if len(r.Header["Expect"]) > 0 && r.ProtoMajor < 2 {
		x.w.arm() // 100 Continue is written before any response
	}
	x.rec.Start = time.Now()
	x.id[0] = newRequestID(x.rec.Start)
	x.rec.RequestID = x.id[0]
	x.client = server.ClientIP(r, rc.Server.TrustedProxies)
	x.rec.ClientIP = server.AddrText(x.client, r.RemoteAddr)
	x.rec.Host, x.rec.Path, x.rec.UserAgent = r.Host, shownPath(r.URL.Path, at), r.UserAgent()
	x.ctx = rc.Telemetry.StartServer(r.Context(), r.Header, server.Proxied(r, rc.Server.TrustedProxies), &x.rec)
	w.Header()["X-Request-Id"] = x.id[:]
	rc.letRead(x)
	rc.Telemetry.Metrics.Enter()
	return x
}

// shownPath is a path as records may have it: what follows that of deliveries lets whoever reads
// it deliver. It is left out wherever it stands but below an agent's own path, because the
// request may be one that no route takes: refused, written otherwise, at a wrong prefix, or
// for what is switched off by now.
func shownPath(path string, at site) string {
	if before, _, ok := strings.Cut(path, push.Path); ok && at.agent == "" {
		return before + push.Path + "…"
	}
	return path
}

// finish writes the record of a request, whatever became of it. A panic is
// contained here: the caller gets an error and everyone else notices nothing.
func (rc *recorder) finish(x *exchange) {
	v := recover()
	if x.away == nil {
		rc.conclude(x, v)
	}
}

// conclude is finish; v is what a panic was about, or nil.
func (rc *recorder) conclude(x *exchange, v any) {
	if v != nil {
		if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way
			defer panic(v) //nolint:forbidigo // the response is cut off on purpose; net/http expects it
		} else {
			rc.Telemetry.Log.Error("request handler panicked", "request_id", x.rec.RequestID,
				"panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			rc.refuse(x, wire.Errorf(wire.Internal, "").Because(fmt.Errorf("panic: %v", v)))
		}
	}
	rc.discharge(x)
	rc.settleAccount(x)
	rc.Telemetry.Metrics.Leave()
	x.rec.Duration = time.Since(x.rec.Start)
	x.rec.Status, x.rec.ResponseBytes = x.w.status, x.w.bytes
	x.describe()
	if x.away == nil {
		x.depict()
	}
	x.captured.End(&x.rec)
	if err := rc.Audit.Call(&x.rec); err != nil {
		// The call is over; a missing outcome beside its intent is what tells.
		rc.Telemetry.Log.Error("write audit outcome", "request_id", x.rec.RequestID, "error", err)
	}
	rc.Telemetry.Record(&x.rec)
	rc.Anomalies.Observe(&x.rec, x.call.ReferenceTaskIDs)
	x.body.release()
	x.told.release()
	if x.ended != nil {
		x.ended()
	}
}

// depict copies what only spans show.
func (x *exchange) depict() {
	if !x.rec.Sampled() {
		return
	}
	x.rec.Verb, x.rec.Route = x.r.Method, x.at.pattern()
	if x.view != nil {
		x.rec.AgentName = x.view.Card.Name
	}
}

// describe copies what the stages found into the record.
func (x *exchange) describe() {
	rec := &x.rec
	if x.agent != nil {
		rec.Agent = x.agent.ID
	}
	if x.call.Method != nil && !rec.Resumed { // who comes back has made another call at first
		rec.Method = x.call.Method.Name
	}
	rec.Binding, rec.Version = x.call.Binding.String(), string(x.call.Version)
	rec.Skill = x.skill
	if p := x.principal; p != nil {
		rec.Principal, rec.Issuer, rec.Client = p.Subject, p.Issuer, p.Client
		rec.AuthMethod, rec.Groups, rec.Tenant, rec.KeyID = p.Method, p.Groups, p.Tenant, p.KeyID
		rec.Proof, rec.ACR, rec.KeyOwner = p.Proof, p.ACR, p.Owner
		rec.Scopes, rec.AMR, rec.AuthTime = p.Scopes, p.AMR, p.AuthTime
		if rec.Actors == nil {
			for _, a := range p.Actors {
				rec.Actors = append(rec.Actors, a.String())
			}
		}
		if p.Workload != nil {
			rec.Workload = p.Workload.String()
		}
	}
	if rec.TaskID == "" {
		rec.TaskID = x.call.TaskID
	}
	if rec.ContextID == "" {
		rec.ContextID = x.call.ContextID
	}
	rec.MessageID, rec.References = x.call.MessageID, x.call.ReferenceTaskIDs
	rec.Rule, rec.Shadow, rec.Consent = x.decision.Rule, x.decision.Shadow, x.decision.Consent
	rec.Skills, rec.Faults = x.decision.Skills, x.decision.Faults
	if len(x.terms.Shadow) > 0 {
		rec.Shadow = slices.Concat(x.decision.Shadow, x.terms.Shadow)
	}
	if x.limitPass != nil && len(x.limitPass.Shadow) > 0 {
		rec.Shadow = slices.Concat(rec.Shadow, x.limitPass.Shadow)
	}
	rec.ExtensionsRequested = x.asked
	rec.ExtensionsInjected, rec.ExtensionsProvided, rec.ExtensionsRefused =
		x.terms.Injected, x.terms.Provided, x.terms.Refused
	if rec.Decision == "" {
		rec.Decision = "allow"
	}
}

// refuse answers an exchange with an error, once. After the headers are out it
// can only be an event of the stream, or silence on a unary answer.
func (rc *recorder) refuse(x *exchange, err error) {
	e := rc.refusal(x, err)
	if over := overloaded(err); over != "" {
		rc.Telemetry.Metrics.Shed(string(over))
	}
	x.left = x.clientLeft(err) || errors.Is(err, errAnswerLate)
	if x.uncertain(err) {
		x.rec.Effect = effectUnknown
	}
	if x.clientLeft(err) {
		// Nobody is left to read an answer, and nobody is to blame for it. It is
		// written all the same: net/http would make a 200 of nothing.
		x.rec.Cause = err.Error()
		if !x.w.wrote {
			wire.WriteError(x.w, &x.call, e)
			x.w.status, x.rec.Decision = statusClientGone, "error"
		}
		return
	}
	x.rec.Reason, x.rec.Decision = e.Reason, decisionOf(e)
	if errors.Is(err, errAgentSaid) {
		x.rec.Decision = "error"
	}
	x.rec.Cause = err.Error()
	var denied *policy.Denied
	if errors.As(err, &denied) {
		x.decision.Rule = denied.Rule
	}
	x.rec.Overruled = denied == nil && x.decision.Rule != "" && x.rec.Decision == decisionDeny
	switch {
	case !x.w.wrote:
		wire.WriteError(x.w, &x.call, e)
	case x.w.ended: // the agent's own word has been passed on
	case x.call.Binding == wire.GRPC:
		wire.SetStatus(x.w.Header(), x.call.Version, e)
	case x.w.streaming:
		x.w.write(wire.ErrorEvent(&x.call, e))
	}
}

// clientLeft reports whether an exchange ended because its client did. A body
// that came too slowly also ends the request's context; its sender is still there.
func (x *exchange) clientLeft(err error) bool {
	if errors.Is(err, stream.ErrGone) || errors.Is(err, stream.ErrSlow) {
		return true
	}
	return x.clientContext().Err() != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// clientContext ends when the client goes away. That of the request itself ends with its handler.
func (x *exchange) clientContext() context.Context {
	if x.away != nil {
		return x.away.Context()
	}
	return x.r.Context()
}

// statusClientGone is what the log shows when the client hung up first. It is
// never sent; nginx made the number common.
const statusClientGone = 499

// decisionDeny is the decision about calls that somebody may not make.
const decisionDeny = "deny"

func decisionOf(e *wire.Error) string {
	switch e.Kind {
	case wire.Unauthenticated, wire.Denied, wire.UnknownAgent, wire.TaskNotFound,
		wire.ExtensionRequired, wire.RateLimited:
		return decisionDeny
	}
	return "error"
}

// contain makes a panic of a goroutine that works for an exchange the exchange's error:
// finish recovers only those of the goroutine that runs it, and any other ends the
// process with everybody's calls.
func (rc *recorder) contain(x *exchange, err *error) {
	if v := recover(); v != nil {
		rc.Telemetry.Log.Error("request handler panicked", "request_id", x.rec.RequestID,
			"panic", fmt.Sprint(v), "stack", string(debug.Stack()))
		*err = wire.Errorf(wire.Internal, "").Because(fmt.Errorf("panic: %v", v))
	}
}

// newRequestID is a UUID of version 7 (RFC 9562 §5.7): ids sort by the millisecond in which
// their requests came, and what follows is random. The uuid package would keep those of one
// millisecond in order too, by a lock that all requests take.
func newRequestID(now time.Time) string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], uint64(now.UnixMilli())<<16) // positive since 1970
	_, _ = rand.Read(id[6:])                                       // never fails
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	var text [36]byte
	at := 0
	for i, b := range id {
		switch i {
		case 4, 6, 8, 10:
			text[at] = '-'
			at++
		}
		hex.Encode(text[at:], []byte{b})
		at += 2
	}
	return string(text[:])
}
