// Package consent has people and agents agree to calls that wait for approval, and sends the calls that enough
// of them have agreed to.
//
// A call is sent by the gateway whose admin API the last of its approvers has used, at once and once:
// package approvals lets one gateway decide it. A gateway that ends between the two leaves a call behind
// that is approved and not sent; any gateway of the same state finds it within seconds.
//
// An agent is asked by one gateway, whose turn it is: it inserts the turn once, and puts its end off as long as
// it waits. Where it ends before, the next one that finds the call takes another turn, and asks with the same
// message, or for the task that the agent has shown.
//
// It owns who may agree to what under the rules of now, the notifications to approvers, the questions to agents,
// and the life of what is sent. It knows neither HTTP nor A2A.
package consent

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

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
	errNone  = &Refusal{"NO_SUCH_APPROVAL", "there is no such call"}
	errOther = &Refusal{"APPROVAL_DIGEST", "the digest is not that of the call"}
	errAgain = &Refusal{"APPROVAL_DECIDED", "you have agreed already"}
)

// decidedAs refuses to decide about a call that waits no more.
func decidedAs(s standing.State) error {
	return &Refusal{"APPROVAL_DECIDED", "the call waits no more: it is " + string(s)}
}

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

	Agents   Agents
	FailOpen bool // decisions of agents count while no record can be written
}

// Agents are those of the fleet that are asked.
type Agents interface {
	// Ask asks an agent about a call, or for the task that it has made of the question. The error is that
	// another try is worth it.
	Ask(ctx context.Context, agent string, c *approvals.Call, t *approvals.Turn) (*approvals.Reply, error)
	// Cancel asks an agent to end the task that it has made of a question. The error is for the log.
	Cancel(ctx context.Context, agent string, c *approvals.Call, t *approvals.Turn) error
	// Kin is what an agent has to do with a call.
	Kin(agent string, c *approvals.Call) approval.Kin
	// Has reports whether there is such an agent, and whether it is still called at an interface.
	Has(agent, at string) bool
}

// Desk has people decide. It is safe for concurrent use.
type Desk struct {
	Options
	Store *approvals.Store

	ctx  context.Context // of calls that are sent, and of notifications
	stop context.CancelFunc
	work sync.WaitGroup

	underWay atomic.Int32 // calls that are being sent
	talking  atomic.Int32 // questions that are on their way to agents

	leaving chan struct{} // closed when no other question is to be sent

	mu     sync.Mutex
	asking map[string]bool // call/agent: by this process
	closed bool
	idle   bool        // the latest sweep has found nothing that waits
	rules  *policy.Set // at the latest tick of Run
	since  time.Time   // when these were seen first
}

// New is a desk at which nobody decides yet.
func New(o Options) *Desk {
	d := &Desk{Options: o, leaving: make(chan struct{}), asking: map[string]bool{}}
	d.Store = approvals.New(o.Values, o.Index, o.Kept, func(agent string, becomes standing.State) {
		o.Telemetry.Metrics.Policy.Approval(agent, string(becomes))
	})
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d
}

// Person is who decides: somebody as the admin API knows them, or an agent.
type Person struct {
	Name      string // in records
	Method    string // how it was proved
	Interface string // of an agent
	approval.Approver
}

// voted reports whether a vote is this person's, or of an agent that is the same one.
func (p *Person) voted(v approvals.Vote) bool {
	return v.Agent == p.Agent && (p.Agent != "" || v.By == p.Subject) || p.Backend != "" && v.Backend == p.Backend
}

// Look finds a call that waits, or has waited; nil where there is none.
func (d *Desk) Look(ctx context.Context, id string) (*approvals.Status, error) {
	if !approvals.IsID(id) {
		return nil, nil
	}
	return d.Store.Look(ctx, id)
}

// May says for which rules of a call somebody may decide, and why not for the others.
func (d *Desk) May(st *approvals.Status, who *Person) (rules []string, why string) {
	now, release := d.Now()
	if now == nil {
		return nil, "the gateway is starting"
	}
	defer release()
	return may(now.Rules, st, who)
}

// changed says of a rule that it is another one by now, or gone.
func changed(rule string) string { return "the rule " + rule + " has changed since the call came" }

func may(rules *policy.Set, st *approvals.Status, who *Person) (decides []string, why string) {
	for _, asked := range st.Rules {
		r := rules.Approval(asked.Name)
		if r == nil || r.Digest != asked.Digest {
			return nil, changed(asked.Name) + ", so that the call ends"
		}
		if text := r.Refuses(who.Approver, st.Caller.Selves); text != "" {
			why = text
		} else {
			decides = append(decides, asked.Name)
		}
	}
	return decides, why
}

// Agree writes down that somebody agrees to a call, whose digest they were shown, and sends it where they
// are the last who has to. It returns where the call stands then, and does not wait for the agent.
func (d *Desk) Agree(ctx context.Context, id, digest string, who *Person) (*approvals.Status, error) {
	st, err := d.open(ctx, id, digest)
	if err != nil {
		return st, err
	}
	rules, why := d.May(st, who)
	if rules == nil {
		return st, mayNot(why)
	}
	agreed := func(rule string) bool {
		return slices.ContainsFunc(st.For(rule), who.voted)
	}
	if rules = slices.DeleteFunc(rules, agreed); len(rules) == 0 {
		return st, errAgain
	}
	vote := approvals.Vote{
		By: who.Subject, Groups: who.Groups, Method: who.Method, At: time.Now().UTC(), Digest: digest, Rules: rules,
		Agent: who.Agent, Interface: who.Interface, Backend: who.Backend,
	}
	if who.Agent != "" {
		vote.By = who.Name
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
	if rules, why := d.May(st, who); rules == nil {
		return st, mayNot(why)
	}
	first, err := d.Store.Decide(ctx, &st.Call, approvals.Outcome{State: standing.Rejected, By: who.Name, Why: printable(reason)})
	if err != nil {
		return st, err
	}
	if st, err = d.Store.Look(ctx, id); err == nil && !first {
		err = decidedAs(st.Outcome.State)
	}
	return st, err
}

// printable is a reason as its reader, who trusts neither people nor agents, may print it: without what steers a
// terminal, or turns the direction of what follows.
func printable(reason string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, reason)
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
		return st, decidedAs(st.Outcome.State)
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
	d.underWay.Add(1)
	d.work.Go(func() {
		defer d.underWay.Add(-1)
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

// Stays reports whether somebody who has agreed would still be let in at the admin API: with a token, that
// it is in the configuration. How people have signed in stays as it was. An agent has to be there, and to be
// called where it has answered.
func (d *Desk) Stays(v approvals.Vote) bool {
	now, release := d.Now()
	if now == nil {
		return false
	}
	defer release()
	if v.Agent != "" {
		return now.Agents.Has(v.Agent, v.Interface)
	}
	return v.Method != methodToken || now.Token(v.By)
}

const methodToken = "token"

// Sending is how many approved calls are on their way to agents.
func (d *Desk) Sending() int { return int(d.underWay.Load()) }

// Finish begins no other call and no other question, and waits until those on their way have ended or ctx has.
func (d *Desk) Finish(ctx context.Context) {
	d.end()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for d.Sending() > 0 || d.talking.Load() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// end begins nothing any more.
func (d *Desk) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.closed = true
		close(d.leaving)
	}
}

// Close cuts off what is still under way. A call that is counts as one of which nobody knows whether the
// agent has it.
func (d *Desk) Close() {
	d.end()
	d.stop()
	d.work.Wait()
}
