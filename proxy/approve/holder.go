// Package approve has calls wait that rules with effect approve ask people about, answers for the tasks
// that wait, and sends what was agreed to.
//
// # The stages
//
// WithApproval stands in front of the stage that forwards. A call that needs nobody's consent passes. One
// that does is written down (proxy/approvals), and its caller gets a task of the gateway's own, in the
// state auth-required, which says who has to agree and until when. A2A has that state for what is settled
// outside of the protocol while the client waits, polls or subscribes (1.0 §7.6); clients take
// input-required for a question that they have to answer with a message.
//
//	SendMessage            waits for policy.approvals.wait, then gets the task
//	SendStreamingMessage   the task is the first event; the agent's events follow once it was sent
//	GetTask, ListTasks     the task as it is
//	SubscribeToTask        the task, and what comes
//	CancelTask             as long as nobody has decided
//
// Send is what carries out an approved call, in a request of the gateway's own that passes all stages from
// the ownership of its ids on: whatever has changed meanwhile counts. The agent's task then goes by the
// name of the task that has waited (proxy/ownership).
//
// # What is refused
//
//   - too many calls wait: RATE_LIMITED; the call is too long to wait: TOO_LARGE.
//   - the state is away: 503, and nothing was sent.
//   - a message, or a webhook, for a task that waits: UNSUPPORTED_OPERATION.
//   - a task that was decided is canceled: TASK_NOT_CANCELABLE.
package approve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvers"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// Holder has calls wait, and sends those that were agreed to.
type Holder struct {
	*admit.Admissions
	*record.Recorder
	*intake.Decoder
	*ownership.Owners

	Authn        *authn.Chain
	Ledger       *ledger.Ledger
	Server       *server.Config
	Store        *approvals.Store // nil where no rule can ask
	StreamConfig stream.Config
	Streams      *openstreams.Streams
	Drain        func(end func()) (stop func() bool)
	// Begun is told of each call that begins to wait.
	Begun func(*approvals.Call)
	// May reports whether somebody who has agreed would still be let in at the admin API.
	May func(approvals.Vote) bool
	// Follow gives the caller of a streaming call the stream of the agent's task.
	Follow func(x *exchange.Exchange, task string) error
	Agents map[string]*agents.Agent
}

// WithApproval has calls that people have to agree to wait, and has forward take the others.
func (h *Holder) WithApproval(forward record.Stage) record.Stage {
	return func(x *exchange.Exchange) error {
		switch {
		case h.Store == nil:
			return forward(x)
		case approvals.IsID(x.Record.ID) && x.Record.Kind == state.Task:
			return h.answerFor(x, forward)
		case x.Approvals == nil:
			return forward(x)
		}
		return h.hold(x, forward)
	}
}

// hold has a call wait, unless what it needs was agreed to for others like it.
func (h *Holder) hold(x *exchange.Exchange, forward record.Stage) error {
	c, err := h.newCall(x)
	if err != nil {
		return err
	}
	needed, err := h.needed(x, c)
	switch {
	case err != nil:
		return storeAway(err)
	case needed == nil:
		x.Rec.ApprovalState = remembered
		h.Recorder.Telemetry.Metrics.Policy.Approval(x.Agent.ID, remembered)
		return forward(x)
	}
	c.Rules = nil
	for _, r := range needed {
		c.Rules = append(c.Rules, approvals.Rule{
			Name: r.Name, Digest: r.Digest, Asks: r.Asks(), Count: r.Count, Agents: r.Agents, Advisers: r.Advisers,
		})
	}
	if c.Asked() != nil {
		if c.Told, err = forAgents(x); err != nil {
			return err
		}
	}
	if err := h.open(x, c); err != nil {
		return err
	}
	h.Begun(c)
	st := &approvals.Status{Call: *c, Outcome: approvals.Outcome{State: standing.Waiting, At: c.Created}}
	if x.Call.Streaming {
		return h.stream(x, st)
	}
	if x.Waits() {
		if st, err = h.await(x, st); err != nil {
			return err
		}
	}
	return h.show(x, st)
}

// remembered is what records say of a call for which an earlier approval counts.
const remembered = "remembered"

// needed are the rules that nobody has agreed to yet for calls like this one.
func (h *Holder) needed(x *exchange.Exchange, c *approvals.Call) (list []*approval.Rule, err error) {
	for _, r := range x.Approvals {
		id, err := h.Store.Remembered(x.Ctx, r, c, h.kin(c))
		switch {
		case err != nil:
			return nil, err
		case id == "":
			list = append(list, r)
		default:
			x.Rec.Approval = id
		}
	}
	return list, nil
}

// newCall is a call as it is written down.
func (h *Holder) newCall(x *exchange.Exchange) (*approvals.Call, error) {
	who, err := x.Principal.Remember()
	if err != nil {
		return nil, err
	}
	sum, now := sha256.Sum256(x.Call.Params), time.Now().UTC()
	c := &approvals.Call{
		Agent: x.Agent.ID, Skill: x.Skill, Method: x.Call.Method.Name, Version: string(x.Call.Version),
		Binding: x.Binding().String(), Message: x.Call.MessageID, Created: now, Expires: now.Add(within(x.Approvals)),
		Context: cmp.Or(x.Call.ContextID, x.Record.Context),
		Caller: approvals.Caller{
			Subject: x.Principal.Subject, Issuer: x.Principal.Issuer, Tenant: x.Principal.Tenant, Client: x.Principal.Client,
			Selves: selves(x.Principal), Owner: x.Principal.Key(),
			Circle: h.Ledger.Circle(x.Principal), Who: string(who),
		},
		Digest: hex.EncodeToString(sum[:]), Params: slices.Clone(x.Call.Params), Request: requestOf(x),
	}
	if c.Context == "" {
		c.Context = uuid.NewString()
	}
	return c, nil
}

// forAgents are the params of a message in the words of A2A 1.0, in which agents are asked about it.
func forAgents(x *exchange.Exchange) ([]byte, error) {
	to := translate.To{Side: wire.Side{Version: wire.V10, Binding: wire.JSONRPC}, ID: []byte("1"), CallerBytes: x.CallerBytes()}
	out, e := translate.Request(&x.Call, x.Parameters(), to)
	if e != nil {
		return nil, e
	}
	return slices.Clone(out.Call.Params), nil
}

// kin says what agents have to do with a call.
func (h *Holder) kin(c *approvals.Call) func(agent string) approval.Kin {
	return func(agent string) approval.Kin {
		return approvers.KinOf(agent, c, maps.Values(h.Agents))
	}
}

// within is the shortest of the times that rules give.
func within(rules []*approval.Rule) time.Duration {
	least := rules[0].Within
	for _, r := range rules {
		least = min(least, r.Within)
	}
	return least
}

// selves are the names of a caller, and of all who act for it or answer for it.
func selves(p *authn.Principal) []string {
	list := []string{p.Subject}
	if p.Owner != "" {
		list = append(list, p.Owner)
	}
	for _, a := range p.Actors {
		list = append(list, a.Subject)
	}
	if p.Workload != nil {
		list = append(list, selves(p.Workload)...)
	}
	return list
}

// kept are the fields of a request that are written down beside those that its agent gets: none of them
// carries a credential.
var kept = []string{
	"Accept", "A2a-Extensions", "X-A2a-Extensions", "A2a-Version", "Content-Type", "Te", "Traceparent", "Tracestate",
}

// requestOf is the request that has brought a call, without what proves who its caller is: a gateway that
// sends the call later knows the caller by what was written down, and shows nobody a credential.
func requestOf(x *exchange.Exchange) approvals.Request {
	r := approvals.Request{
		Verb: x.Request.Method, URL: x.Request.URL.RequestURI(), Host: x.Request.Host, Major: x.Request.ProtoMajor,
		Header: http.Header{}, Body: slices.Clone(x.Body.Bytes()), Remote: net.JoinHostPort(x.Client.String(), "0"),
		Fixed: x.Site.Fixed, Agent: x.Site.Agent, Skill: x.Site.Skill, Rest: x.Site.Rest, Tool: x.Site.Tool != nil,
	}
	for _, names := range [][]string{kept, intake.RequestHeaders, x.Agent.Request} {
		for _, name := range names {
			if v := x.Request.Header[name]; v != nil && !strings.EqualFold(name, x.Principal.Carrier) {
				r.Header[name] = v
			}
		}
	}
	return r
}

// open writes a call down that waits from then on, with its task and its context.
func (h *Holder) open(x *exchange.Exchange, c *approvals.Call) error {
	if x.Call.Version == wire.V01 && x.Endpoint.Version == wire.V01 {
		return wire.Errorf(wire.Unsupported, "the call has to wait for approval, which A2A 0.1 cannot say to an agent of 0.1")
	}
	if err := h.Store.Open(x.Ctx, c); err != nil {
		return notOpened(x, err)
	}
	if err := h.ReserveContext(x, c.Context); err != nil {
		return err
	}
	x.Rec.Approval, x.Rec.ApprovalState = c.ID, string(standing.Waiting)
	x.Rec.TaskID, x.Rec.ContextID = c.ID, c.Context
	if x.Call.TaskID != "" { // the message goes on with a task; what waits is another one until it was sent
		x.Call.TaskID, x.Task = c.ID, translate.Alias{}
	}
	if x.Task.Caller != "" { // chosen by a client of 0.1
		if err := h.Ledger.Bind(x.Ctx, x.Principal, x.Agent.ID, state.TaskAlias, x.Task.Caller, c.ID); err != nil {
			return err
		}
		x.Task.Agent = c.ID
	}
	return nil
}

// notOpened is the refusal of a call that may not wait: it was not sent.
func notOpened(x *exchange.Exchange, err error) error {
	var refused *approvals.Refused
	switch {
	case !errors.As(err, &refused):
		return storeAway(err)
	case refused.TooLong():
		x.Rec.Limit = refused.Limit
		return wire.Errorf(wire.TooLarge, "%s", refused)
	}
	x.Rec.Limit = refused.Limit
	e := wire.Errorf(wire.RateLimited, "%s", refused)
	e.Header = http.Header{"Retry-After": {"60"}}
	return e
}

// storeAway is the refusal where the state cannot be asked: nothing was sent.
func storeAway(err error) error {
	return exchange.RetryLater("1", "what waits for approval cannot be known at the moment").Because(err)
}

// lookAgain is how often a call that waits is looked at, for what other gateways do; what happens in this
// process is heard of at once.
const lookAgain = time.Second

// await waits for what becomes of a call, for policy.approvals.wait. The call is written down: where the state
// cannot be asked meanwhile, its caller gets the task as it was, and not an error that has it send the call again.
func (h *Holder) await(x *exchange.Exchange, st *approvals.Status) (*approvals.Status, error) {
	ctx, cancel := context.WithTimeout(x.Ctx, h.Store.Config().Wait.Std())
	defer cancel()
	now, err := h.follow(ctx, st, func(st *approvals.Status) bool { return st.Outcome.State.Ended() && answered(st) })
	if x.Ctx.Err() == nil {
		return now, nil
	}
	return now, err
}

// answered reports whether all is known that the caller of a call which is answered once waits for.
func answered(st *approvals.Status) bool {
	return st.Outcome.State != standing.Sent || st.Outcome.Answered
}

// follow looks at a call until something is true of it. It returns the latest status also where ctx ends.
func (h *Holder) follow(ctx context.Context, st *approvals.Status, until func(*approvals.Status) bool) (*approvals.Status, error) {
	changed, stop := h.Store.Watch(st.ID)
	defer stop()
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		now, err := h.Store.Look(ctx, st.ID)
		switch {
		case ctx.Err() != nil:
			return st, context.Cause(ctx)
		case err != nil:
			return st, storeAway(err)
		case now != nil:
			if st = now; until(st) {
				return st, nil
			}
		}
		select {
		case <-ctx.Done():
			return st, context.Cause(ctx)
		case <-changed:
		case <-tick.C:
		}
	}
}

// answerFor answers a call about a task that waits for approval, or has come to nothing.
func (h *Holder) answerFor(x *exchange.Exchange, forward record.Stage) error {
	st, err := h.Store.Look(x.Ctx, x.Record.ID)
	switch {
	case err != nil:
		return storeAway(err)
	case st == nil:
		return wire.Errorf(wire.TaskNotFound, "")
	}
	x.Rec.Approval, x.Rec.ApprovalState = st.ID, string(st.Outcome.State)
	sent := st.Outcome.Task != "" // since the call came
	switch m := x.Call.Method; {
	case m.Name == wire.GetTask: // the agent is asked the next time: who polls need not hear of it
		return h.show(x, st)
	case m.Name == wire.SubscribeToTask && sent:
		return h.stream(x, st)
	case sent:
		return exchange.RetryLater("1", "the task has just been approved, ask again")
	case m.Name == wire.CancelTask:
		return h.cancel(x, st)
	case m.Name == wire.SubscribeToTask:
		if st.Outcome.State.Ended() {
			return wire.Errorf(wire.Unsupported, "the task has ended; get it instead")
		}
		return h.stream(x, st)
	}
	if x.Call.Method.Subject == wire.OfMessage && !st.Outcome.State.Ended() {
		return wire.Errorf(wire.Unsupported, "the task waits for approval, and takes no message until then")
	}
	if !st.Outcome.State.Ended() {
		return wire.Errorf(wire.Unsupported, "the task waits for approval: a webhook comes with the message, or is registered once it was sent")
	}
	return wire.Errorf(wire.Unsupported, "the task never came to the agent: get it to see why")
}

// cancel takes a call back that nobody has decided about.
func (h *Holder) cancel(x *exchange.Exchange, st *approvals.Status) error {
	done, err := h.Store.Decide(x.Ctx, &st.Call, approvals.Outcome{State: standing.Canceled, By: x.Principal.Subject, Why: "canceled by its caller"})
	switch {
	case err != nil:
		return storeAway(err)
	case !done:
		return wire.Errorf(wire.NotCancelable, "")
	}
	x.Rec.ApprovalState = string(standing.Canceled)
	st.Outcome = approvals.Outcome{State: standing.Canceled, At: time.Now(), Why: "canceled by its caller"}
	return h.show(x, st)
}
