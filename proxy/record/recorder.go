// Package record begins and ends the record of a request, and makes the one answer of a refusal:
// status, challenge (RFC 9110 §11.6.1, RFC 9728), Retry-After, and what the audit log, the trace
// and the metrics are told.
//
// # The frame of every request
//
// Do makes a handler of a list of stages. It is the only place where an exchange begins and ends,
// and Refuse the only one where an error becomes an answer:
//
//	begin     request id, client address, trace, CORS; the exchange
//	stages    until one returns an error
//	Refuse    the error becomes a wire.Error, and that the answer in the caller's binding and version
//	finish    recovers a panic, gives back what the call holds, writes the record
//
// The record is one struct (telemetry.Exchange), which every stage adds to. At the end it becomes
// the audit outcome, the span, the metrics and the access log line, so that these cannot
// disagree.
//
// # From an error to an answer
//
//   - a *wire.Error: itself.
//   - no credential, or a bad one: 401 with WWW-Authenticate (RFC 9110 §11.6.1) and
//     resource_metadata (RFC 9728 §5.1).
//   - policy.Denied: AGENT_NOT_FOUND where the caller may do nothing with the agent; else 403, or
//     401 where another authentication would do (RFC 9470).
//   - ledger.ErrAbsent: TASK_NOT_FOUND, the same for a task of somebody else's and for one that
//     does not exist.
//   - a limit: 429 with Retry-After and RateLimit headers.
//   - something that has run out or cannot be reached: 503 with Retry-After.
//   - trouble with the agent: 502 or 504.
//   - whatever is not known here: INTERNAL_ERROR in the gateway's words; the cause is in the log
//     and the record.
//
// Once a call with an effect has reached the agent, nothing invites to make it again: what would
// have been 503 is OUTCOME_UNKNOWN.
package record

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/server/clientip"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// Recorder keeps the record of each exchange from its first byte to its last, and makes answers of the
// errors that stages return: it begins and ends every exchange.
type Recorder struct {
	*admit.Admissions
	*admit.Throttling

	Anomalies *anomaly.Watch
	Audit     *audit.Log
	Authn     *authn.Chain
	Book      *ext.Book
	Policy    *policy.Set
	PublicURL *url.URL
	Server    *server.Config
	Streams   *openstreams.Streams
	Telemetry *telemetry.Telemetry
	Agents    map[string]*agents.Agent
	Extra     *wire.Extra
	Hosts     map[string]*agents.Agent
	Self      map[string]struct{}
}

// begin starts the record of a request.
//
// The request id is set on the response at once, so that every answer has it. The server span
// begins with it.
func (rc *Recorder) begin(w http.ResponseWriter, r *http.Request, at exchange.Site) *exchange.Exchange {
	x := &exchange.Exchange{FromClient: exchange.FromClient{Request: r, Site: at}, Negotiation: exchange.Negotiation{Book: rc.Book}}
	x.Out = exchange.Response{ResponseWriter: w, Limit: rc.Server.Timeouts.Write.Std(), Summer: rc.Audit.Summer()}
	x.Writer = &x.Out
	if len(r.Header["Expect"]) > 0 && r.ProtoMajor < 2 {
		x.Writer.ArmDeadline() // 100 Continue is written before any response
	}
	x.Rec.Start = time.Now()
	x.ID[0] = NewRequestID(x.Rec.Start)
	x.Rec.RequestID = x.ID[0]
	x.Client = clientip.Of(r, rc.Server.TrustedProxies)
	x.Rec.ClientIP = clientip.Text(x.Client, r.RemoteAddr)
	x.Rec.Host, x.Rec.Path, x.Rec.UserAgent = r.Host, shownPath(r.URL.Path, at), r.UserAgent()
	x.Ctx = rc.Telemetry.StartServer(r.Context(), r.Header, clientip.Proxied(r, rc.Server.TrustedProxies), &x.Rec)
	w.Header()["X-Request-Id"] = x.ID[:]
	rc.letRead(x)
	rc.Telemetry.Metrics.Calls.Enter()
	return x
}

// shownPath is a path as records may have it: what follows that of deliveries lets whoever reads
// it deliver. It is left out wherever it stands but below an agent's own path, because the
// request may be one that no route takes: refused, written otherwise, at a wrong prefix, or
// for what is switched off by now.
func shownPath(path string, at exchange.Site) string {
	if before, _, ok := strings.Cut(path, push.Path); ok && at.Agent == "" {
		return before + push.Path + "…"
	}
	return path
}

// finish writes the record of a request, whatever became of it. A panic is
// contained here: the caller gets an error and everyone else notices nothing.
func (rc *Recorder) finish(x *exchange.Exchange) {
	v := recover()
	if x.Away == nil {
		rc.Conclude(x, v)
	}
}

// Conclude ends the record and gives back what the call holds; v is what a panic was about, or nil.
//
// It is called by the handler, or by the goroutine in which a stream has ended whose handler has
// returned. http.ErrAbortHandler passes on, as it has net/http cut the connection.
func (rc *Recorder) Conclude(x *exchange.Exchange, v any) {
	if v != nil {
		if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way
			defer panic(v) //nolint:forbidigo // the response is cut off on purpose; net/http expects it
		} else {
			rc.Telemetry.Log.Error("request handler panicked", "request_id", x.Rec.RequestID,
				"panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			rc.Refuse(x, wire.Errorf(wire.Internal, "").Because(fmt.Errorf("panic: %v", v)))
		}
	}
	rc.Discharge(x)
	rc.settleAccount(x)
	rc.Telemetry.Metrics.Calls.Leave()
	x.Rec.Duration = time.Since(x.Rec.Start)
	x.Rec.Status, x.Rec.ResponseBytes, x.Rec.ResponseDigest = x.Writer.Status, x.Writer.Bytes, x.Writer.Digest()
	x.Describe()
	if x.Away == nil {
		x.Depict()
	}
	x.Captured.End(&x.Rec)
	if err := rc.Audit.Call(&x.Rec); err != nil {
		// The call is over; a missing outcome beside its intent is what tells.
		rc.Telemetry.Log.Error("write audit outcome", "request_id", x.Rec.RequestID, "error", err)
	}
	rc.Telemetry.Record(&x.Rec)
	rc.Anomalies.Observe(&x.Rec, x.Call.ReferenceTaskIDs)
	x.Body.Release()
	x.Told.Release()
	if x.Ended != nil {
		x.Ended()
	}
}

// Refuse answers an exchange with an error, once. After the headers are out it
// can only be an event of the stream, or silence on a unary answer.
//
// On a stream the error is one more event; on gRPC it goes into the trailers; a unary answer that
// has begun is left as it is, since anything behind it would be read as a part of it.
func (rc *Recorder) Refuse(x *exchange.Exchange, err error) {
	e := rc.Refusal(x, err)
	if over := Overloaded(err); over != "" {
		rc.Telemetry.Metrics.Load.Shed(string(over))
	}
	x.Left = x.ClientLeft(err) || errors.Is(err, webhooks.ErrAnswerLate)
	if x.Uncertain(err) {
		x.Rec.Effect = effectUnknown
	}
	if x.ClientLeft(err) {
		// Nobody is left to read an answer, and nobody is to blame for it. It is
		// written all the same: net/http would make a 200 of nothing.
		x.Rec.Cause = err.Error()
		if !x.Writer.Wrote {
			failure.Write(x.Writer, &x.Call, e)
			x.Writer.Status, x.Rec.Decision = statusClientGone, "error"
		}
		return
	}
	x.Rec.Reason, x.Rec.Decision = e.Reason, decisionOf(e)
	if errors.Is(err, exchange.ErrAgentSaid) {
		x.Rec.Decision = "error"
	}
	x.Rec.Cause = err.Error()
	var denied *policy.Denied
	if errors.As(err, &denied) {
		x.Rec.Rule = denied.Rule
	}
	x.Rec.Overruled = denied == nil && x.Rec.Rule != "" && x.Rec.Decision == DecisionDeny
	switch {
	case !x.Writer.Wrote:
		failure.Write(x.Writer, &x.Call, e)
	case x.Writer.Ended: // the agent's own word has been passed on
	case x.Call.Binding == wire.GRPC:
		failure.SetStatus(x.Writer.Header(), x.Call.Version, e)
	case x.Writer.Streaming:
		x.Writer.WriteLast(failure.Event(&x.Call, e))
	}
}

// statusClientGone is what the log shows when the client hung up first. It is
// never sent; nginx made the number common.
const statusClientGone = 499

// DecisionDeny is the decision about calls that somebody may not make.
const DecisionDeny = "deny"

// decisionOf is what the record says of a refusal: "deny" where somebody may not do it, "error"
// where it failed.
func decisionOf(e *wire.Error) string {
	switch e.Kind {
	case wire.Unauthenticated, wire.Denied, wire.UnknownAgent, wire.TaskNotFound,
		wire.ExtensionRequired, wire.RateLimited:
		return DecisionDeny
	}
	return "error"
}

// Contain makes a panic of a goroutine that works for an exchange the exchange's error:
// finish recovers only those of the goroutine that runs it, and any other ends the
// process with everybody's calls.
func (rc *Recorder) Contain(x *exchange.Exchange, err *error) {
	if v := recover(); v != nil {
		rc.Telemetry.Log.Error("request handler panicked", "request_id", x.Rec.RequestID,
			"panic", fmt.Sprint(v), "stack", string(debug.Stack()))
		*err = wire.Errorf(wire.Internal, "").Because(fmt.Errorf("panic: %v", v))
	}
}

// letRead has an answer say which pages may read it, whatever becomes of the request.
func (rc *Recorder) letRead(x *exchange.Exchange) {
	if rc.Server.CORS != nil && x.Site.ForPages() {
		x.Writer.Readers = &exchange.Readers{CORS: rc.Server.CORS, Origin: x.Request.Header["Origin"]}
	}
}

// effectUnknown is what a record says of a call of which that is so.
const effectUnknown = "unknown"

// Stage answers one question about an exchange. An error ends the exchange with
// a refusal.
type Stage func(*exchange.Exchange) error

// Do runs stages in order until one refuses.
func (rc *Recorder) Do(stages ...Stage) Handler {
	return func(w http.ResponseWriter, r *http.Request, at exchange.Site) {
		x := rc.begin(w, r, at)
		defer rc.finish(x)
		for _, s := range stages {
			if err := s(x); err != nil {
				if x.Away == nil {
					rc.Refuse(x, err)
				}
				return
			}
		}
	}
}

// Handler serves a request that was found at a site.
type Handler func(http.ResponseWriter, *http.Request, exchange.Site)

// FeedOf names the feed of a task.
func FeedOf(agent, task string) string { return agent + "\x00" + task }
