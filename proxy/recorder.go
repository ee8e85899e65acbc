package proxy

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// recorder keeps the record of each exchange from its first byte to its last, and makes answers of the
// errors that stages return: it begins and ends every exchange.
type recorder struct {
	*admissions
	*throttling

	Anomalies *anomaly.Watch
	Audit     *audit.Log
	Authn     *authn.Chain
	Book      *ext.Book
	Policy    *policy.Set
	PublicURL *url.URL
	Server    *server.Config
	Streams   *openstreams.Streams
	Telemetry *telemetry.Telemetry
	agents    map[string]*agents.Agent
	extra     *wire.Extra
	hosts     map[string]*agents.Agent
	self      map[string]struct{}
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
	x.body.Release()
	x.told.Release()
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

// stands asks again what was asked when a stream began, of the rules as they are now and
// at this time of day. How long ago the user authenticated counted then.
func (rc *recorder) stands(q policy.Request, shared bool) error {
	q.Begun, q.Now = q.Now, time.Now()
	if err := rc.Authn.Stands(q.Principal); err != nil {
		return err
	}
	agent := rc.agents[q.Agent]
	if agent == nil {
		return agents.ErrUnknown
	}
	if v := agent.Look(); v != nil {
		q.SkillScopes = v.Scopes // what the card asks for now
	}
	if q.Method.Extension != "" {
		// The registry of each configuration has methods of its own.
		all := rc.extra.Methods()
		i := slices.IndexFunc(all, func(m *wire.Method) bool { return m.Name == q.Method.Name })
		if i < 0 {
			return wire.Errorf(wire.MethodNotFound, "")
		}
		q.Method = all[i]
	}
	if shared && rc.Policy.Shares(q.Principal, q.Agent, q.Method, q.Task) == "" {
		return ledger.ErrAbsent
	}
	_, err := rc.Policy.Check(q)
	return err
}
