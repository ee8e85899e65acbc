package proxy

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/anomaly"
)

// recorder keeps the record of each exchange from its first byte to its last, and makes answers of the
// errors that stages return: it begins and ends every exchange.
type recorder struct {
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
	agents    map[string]*agents.Agent
	extra     *wire.Extra
	hosts     map[string]*agents.Agent
	self      map[string]struct{}
}

// begin starts the record of a request.
func (rc *recorder) begin(w http.ResponseWriter, r *http.Request, at exchange.Site) *exchange.Exchange {
	x := &exchange.Exchange{FromClient: exchange.FromClient{Request: r, Site: at}, Negotiation: exchange.Negotiation{Book: rc.Book}}
	x.Out = exchange.Response{ResponseWriter: w, Limit: rc.Server.Timeouts.Write.Std()}
	x.Writer = &x.Out
	if len(r.Header["Expect"]) > 0 && r.ProtoMajor < 2 {
		x.Writer.ArmDeadline() // 100 Continue is written before any response
	}
	x.Rec.Start = time.Now()
	x.ID[0] = newRequestID(x.Rec.Start)
	x.Rec.RequestID = x.ID[0]
	x.Client = server.ClientIP(r, rc.Server.TrustedProxies)
	x.Rec.ClientIP = server.AddrText(x.Client, r.RemoteAddr)
	x.Rec.Host, x.Rec.Path, x.Rec.UserAgent = r.Host, shownPath(r.URL.Path, at), r.UserAgent()
	x.Ctx = rc.Telemetry.StartServer(r.Context(), r.Header, server.Proxied(r, rc.Server.TrustedProxies), &x.Rec)
	w.Header()["X-Request-Id"] = x.ID[:]
	rc.letRead(x)
	rc.Telemetry.Metrics.Enter()
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
func (rc *recorder) finish(x *exchange.Exchange) {
	v := recover()
	if x.Away == nil {
		rc.conclude(x, v)
	}
}

// conclude is finish; v is what a panic was about, or nil.
func (rc *recorder) conclude(x *exchange.Exchange, v any) {
	if v != nil {
		if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way
			defer panic(v) //nolint:forbidigo // the response is cut off on purpose; net/http expects it
		} else {
			rc.Telemetry.Log.Error("request handler panicked", "request_id", x.Rec.RequestID,
				"panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			rc.refuse(x, wire.Errorf(wire.Internal, "").Because(fmt.Errorf("panic: %v", v)))
		}
	}
	rc.Discharge(x)
	rc.settleAccount(x)
	rc.Telemetry.Metrics.Leave()
	x.Rec.Duration = time.Since(x.Rec.Start)
	x.Rec.Status, x.Rec.ResponseBytes = x.Writer.Status, x.Writer.Bytes
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

// refuse answers an exchange with an error, once. After the headers are out it
// can only be an event of the stream, or silence on a unary answer.
func (rc *recorder) refuse(x *exchange.Exchange, err error) {
	e := rc.refusal(x, err)
	if over := overloaded(err); over != "" {
		rc.Telemetry.Metrics.Shed(string(over))
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
			wire.WriteError(x.Writer, &x.Call, e)
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
		x.Decision.Rule = denied.Rule
	}
	x.Rec.Overruled = denied == nil && x.Decision.Rule != "" && x.Rec.Decision == decisionDeny
	switch {
	case !x.Writer.Wrote:
		wire.WriteError(x.Writer, &x.Call, e)
	case x.Writer.Ended: // the agent's own word has been passed on
	case x.Call.Binding == wire.GRPC:
		wire.SetStatus(x.Writer.Header(), x.Call.Version, e)
	case x.Writer.Streaming:
		x.Writer.WriteLast(wire.ErrorEvent(&x.Call, e))
	}
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
func (rc *recorder) contain(x *exchange.Exchange, err *error) {
	if v := recover(); v != nil {
		rc.Telemetry.Log.Error("request handler panicked", "request_id", x.Rec.RequestID,
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
