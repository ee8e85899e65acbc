// Package consent has people agree to calls that wait for approval, and sends the calls that enough of them
// have agreed to.
//
// A call is sent by the gateway whose admin API the last of its approvers has used, at once and once:
// package approvals lets one gateway decide it. A gateway that ends between the two leaves a call behind
// that is approved and not sent; any gateway of the same state finds it within seconds.
//
// It owns who may agree to what under the rules of now, the notifications to approvers, and the life of
// what is sent. It knows neither HTTP nor A2A.
package consent

import (
	"context"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Refusal is why somebody cannot decide about a call.
type Refusal struct {
	Code string // NO_SUCH_APPROVAL, APPROVAL_DECIDED, APPROVAL_DIGEST or NOT_AN_APPROVER
	Text string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

var (
	errNone    = &Refusal{"NO_SUCH_APPROVAL", "there is no such call"}
	errDecided = &Refusal{"APPROVAL_DECIDED", "the call has been decided already"}
	errOther   = &Refusal{"APPROVAL_DIGEST", "the digest is not that of the call"}
)

// mayNot refuses somebody who is no approver.
func mayNot(why string) error {
	return &Refusal{"NOT_AN_APPROVER", "you may not decide about this call: " + why}
}

// Options are what a desk is made of.
type Options struct {
	Values    state.Values                      // sealed
	Index     state.Values                      // of the ids of calls that wait
	Kept      time.Duration                     // how long tasks are remembered
	Now       func() (now *Now, release func()) // nil while the gateway starts, and when it has ended
	Audit     *audit.Log
	Telemetry *telemetry.Telemetry
	// Console is the URL of the console for browsers; "" for none.
	Console func() string
}

// Now is what a configuration that is in force says of approvals.
type Now struct {
	Rules   *policy.Set
	Send    func(context.Context, *approvals.Status) // carries an approved call out (proxy.Proxy.SendApproved)
	Timeout func(agent, method string) time.Duration // of the agent's answer
	Token   func(name string) bool                   // whether somebody may come to the admin API with a token of a name
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

// Desk has people decide. It is safe for concurrent use.
type Desk struct {
	Options
	Store *approvals.Store

	ctx  context.Context // of calls that are sent, and of notifications
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	closed bool
	idle   bool // the latest look has found nothing that waits
}

// New is a desk at which nobody decides yet.
func New(o Options) *Desk {
	d := &Desk{Options: o}
	d.Store = approvals.New(o.Values, o.Index, o.Kept, func(agent string, becomes standing.State) {
		o.Telemetry.Metrics.Policy.Approval(agent, string(becomes))
	})
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d
}

// Person is who decides, as the admin API knows them.
type Person struct {
	Name   string // in records
	Method string // how it was proved
	approval.Approver
}

// Look finds a call that waits, or has waited; nil where there is none.
func (d *Desk) Look(ctx context.Context, id string) (*approvals.Status, error) {
	if !approvals.IsID(id) {
		return nil, nil
	}
	return d.Store.Look(ctx, id)
}

// MayAgree says for which rules of a call somebody may agree, and why not for the others.
func (d *Desk) MayAgree(st *approvals.Status, who *Person) (rules []string, why string) {
	now, release := d.Now()
	if now == nil {
		return nil, "the gateway is starting"
	}
	defer release()
	return mayAgree(now.Rules, st, who)
}

func mayAgree(rules *policy.Set, st *approvals.Status, who *Person) (may []string, why string) {
	for _, asked := range st.Rules {
		r := rules.Approval(asked.Name)
		switch {
		case r == nil || r.Digest != asked.Digest:
			why = "the rule " + asked.Name + " has changed since the call came, so that nobody can agree to it"
		default:
			if text := r.Refuses(who.Approver, st.Caller.Selves); text != "" {
				why = text
			} else {
				may = append(may, asked.Name)
			}
		}
	}
	return may, why
}

// mayReject says why somebody may not reject a call; "" where they may: approvers of a rule as it is now, also
// where it has changed since the call came, so that nobody can agree to it any more.
func (d *Desk) mayReject(st *approvals.Status, who *Person) (why string) {
	now, release := d.Now()
	if now == nil {
		return "the gateway is starting"
	}
	defer release()
	why = "its rules are gone"
	for _, asked := range st.Rules {
		if r := now.Rules.Approval(asked.Name); r != nil {
			if why = r.Refuses(who.Approver, st.Caller.Selves); why == "" {
				return ""
			}
		}
	}
	return why
}

// Agree writes down that somebody agrees to a call, whose digest they were shown, and sends it where they
// are the last who has to. It returns where the call stands then, and does not wait for the agent.
func (d *Desk) Agree(ctx context.Context, id, digest string, who *Person) (*approvals.Status, error) {
	st, err := d.open(ctx, id, digest)
	if err != nil {
		return st, err
	}
	rules, why := d.MayAgree(st, who)
	if rules == nil {
		return st, mayNot(why)
	}
	vote := approvals.Vote{
		By: who.Subject, Groups: who.Groups, Method: who.Method, At: time.Now().UTC(), Digest: digest, Rules: rules,
	}
	if err := d.Store.Vote(ctx, &st.Call, vote); err != nil {
		return st, err
	}
	if st, err = d.Store.Look(ctx, id); err != nil || st == nil {
		return st, err
	}
	d.send(st)
	return d.Store.Look(ctx, id)
}

// Reject ends a call, for a reason that its caller is told.
func (d *Desk) Reject(ctx context.Context, id, digest, reason string, who *Person) (*approvals.Status, error) {
	st, err := d.open(ctx, id, digest)
	if err != nil {
		return st, err
	}
	if why := d.mayReject(st, who); why != "" {
		return st, mayNot(why)
	}
	first, err := d.Store.Decide(ctx, &st.Call, approvals.Outcome{State: standing.Rejected, By: who.Name, Why: reason})
	if err == nil && !first {
		err = errDecided
	}
	if err != nil {
		return st, err
	}
	return d.Store.Look(ctx, id)
}

// open finds a call that nobody has decided.
func (d *Desk) open(ctx context.Context, id, digest string) (*approvals.Status, error) {
	st, err := d.Look(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case st == nil:
		return nil, errNone
	case st.Digest != digest:
		return st, errOther
	case st.Outcome.State != standing.Waiting:
		return st, errDecided
	}
	return st, nil
}

// send sends a call in a goroutine of its own, if enough have agreed and no other gateway does.
func (d *Desk) send(st *approvals.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || st.Outcome.State != standing.Approved {
		return // the next gateway finds it
	}
	d.work.Go(func() {
		now, release := d.Now()
		if now == nil {
			return // the gateway has ended since
		}
		defer release()
		until := time.Now().Add(now.Timeout(st.Agent, st.Method) + grace)
		first, err := d.Store.Decide(d.ctx, &st.Call, approvals.Outcome{State: standing.Sending, Until: until})
		if err != nil {
			d.Telemetry.Log.Error("send an approved call", "approval", st.ID, "error", err)
		}
		if err == nil && first {
			now.Send(d.ctx, st)
		}
	})
}

// grace is how much longer than the agent may take a call counts as on its way.
const grace = 10 * time.Second

// May reports whether somebody who has agreed would still be let in at the admin API: with a token, that
// it is in the configuration. How people have signed in stays as it was.
func (d *Desk) May(v approvals.Vote) bool {
	now, release := d.Now()
	if now == nil {
		return false
	}
	defer release()
	return v.Method != methodToken || now.Token(v.By)
}

const methodToken = "token"

// How often calls are looked for that another gateway has left behind, and whose time is over.
const (
	lookEvery = 2 * time.Second
	lookIdle  = 30 * time.Second
)

// Run looks after calls until closed is: it sends those that are approved and that nobody sends, and ends
// those whose time is over.
func (d *Desk) Run(closed <-chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	last := time.Time{}
	for {
		select {
		case <-closed:
			return
		case now := <-tick.C:
			if d.asked() || now.Sub(last) >= lookIdle {
				last = now
				d.look(d.ctx)
			}
		}
	}
}

// asked reports whether any call may wait: a rule asks for people, or the latest look has found one.
func (d *Desk) asked() bool {
	now, release := d.Now()
	if now == nil {
		return false
	}
	defer release()
	d.mu.Lock()
	defer d.mu.Unlock()
	return now.Rules.Approves() || !d.idle
}

// look goes through the calls that are not over.
func (d *Desk) look(ctx context.Context) {
	list, err := d.Store.Waiting(ctx)
	if err != nil {
		d.Telemetry.Log.Warn("look for calls that wait for approval", "error", err)
		return
	}
	d.mu.Lock()
	d.idle = len(list) == 0
	d.mu.Unlock()
	d.Telemetry.Metrics.Policy.ApprovalsWait(len(list))
	for _, st := range list {
		switch st.Outcome.State {
		case standing.Approved:
			d.send(st)
		case standing.Expired:
			d.expire(ctx, st)
		case standing.Lost:
			if err := d.Store.Settle(ctx, &st.Call, st.Outcome); err == nil {
				d.record(st, "approval.lost")
			}
		case standing.Waiting, standing.Sending:
		default:
			_ = d.Store.Close(ctx, &st.Call) // who has decided it could not
		}
	}
}

// expire ends a call whose time is over.
func (d *Desk) expire(ctx context.Context, st *approvals.Status) {
	first, err := d.Store.Decide(ctx, &st.Call, st.Outcome)
	if err == nil && first {
		d.record(st, "approval.expired")
	}
}

// record writes an event about a call that nobody has asked for.
func (d *Desk) record(st *approvals.Status, kind string) {
	if err := d.Audit.Event(kind, attrsOf(st)); err != nil {
		d.Telemetry.Log.Error("write audit event", "event", kind, "approval", st.ID, "error", err)
	}
}

// attrsOf are what events say of a call.
func attrsOf(st *approvals.Status) map[string]string {
	var rules []string
	for _, r := range st.Rules {
		rules = append(rules, r.Name)
	}
	attrs := map[string]string{
		"approval": st.ID, "agent": st.Agent, "method": st.Method, "principal": st.Caller.Subject, "issuer": st.Caller.Issuer,
		"rules": strings.Join(rules, " "), "digest": st.Digest,
	}
	if st.Skill != "" {
		attrs["skill"] = st.Skill
	}
	return attrs
}

// Close ends what is sent: within ctx by itself, and then at once. A call that is cut off counts as one
// of which nobody knows whether the agent has it.
func (d *Desk) Close(ctx context.Context) {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	done := make(chan struct{})
	go func() {
		d.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	d.stop()
	<-done
}
