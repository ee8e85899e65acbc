package consent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
)

// How an agent is asked.
const (
	// A task that the agent works on is looked at soon at first: many models need seconds.
	firstLook = 500 * time.Millisecond
	lastLook  = 15 * time.Second
	// An agent that is away is asked again as long as the call waits, and one that fails this often in a row.
	mostTries  = 8
	firstRetry = time.Second
	lastRetry  = time.Minute
	// A gateway that ends before the agent has shown a task has another one send the message again: this often
	// in all, so that no agent brings down one gateway after another.
	mostSends = 5
)

const methodAgent = "agent"

// inquiry is that this gateway asks an agent about a call.
type inquiry struct {
	*Desk
	st    *approvals.Status
	agent string

	last *approvals.Turn // the one before; nil for none

	mu   sync.Mutex // for who puts the end of the turn off
	turn approvals.Turn
}

// consult has the agents asked that the rules of a call name, and that have not answered and no gateway asks. It
// waits for none of them.
func (d *Desk) consult(st *approvals.Status) {
	asked := st.Asked()
	if asked == nil || !d.knows(st) {
		return
	}
	for _, agent := range asked {
		i := &inquiry{Desk: d, st: st, agent: agent, turn: approvals.Turn{N: 1}}
		if k := slices.IndexFunc(st.Questions, func(q approvals.Question) bool { return q.Agent == agent }); k >= 0 && !i.follows(&st.Questions[k]) {
			continue
		}
		i.begin()
	}
}

// knows reports whether the rules in force are those that a call waits for.
func (d *Desk) knows(st *approvals.Status) bool {
	now, release := d.Now()
	if now == nil {
		return false
	}
	defer release()
	for _, asked := range st.Rules {
		if r := now.Rules.Approval(asked.Name); r == nil || r.Digest != asked.Digest {
			return false
		}
	}
	return true
}

// begin asks in a goroutine, unless this process does so already.
func (i *inquiry) begin() {
	d, key := i.Desk, i.st.ID+"/"+i.agent
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.asking[key] {
		return
	}
	d.asking[key] = true
	d.work.Go(func() {
		i.run()
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.asking, key)
	})
}

// run asks until there is an answer, nobody needs one, or the gateway ends.
func (i *inquiry) run() {
	if i.turn.Task == "" {
		if i.turn.Sends++; i.turn.Sends > mostSends {
			i.note(i.abstains(fmt.Sprintf("gateways have asked it %d times, and ended before it had answered", mostSends)))
			return
		}
	}
	i.turn.At, i.turn.Until = time.Now(), time.Now().Add(lease)
	first, err := i.Store.TakeTurn(i.ctx, &i.st.Call, i.agent, &i.turn, i.last)
	if err != nil || !first { // with an error, nothing was sent, and the next look tries again
		return
	}
	ctx, stop := context.WithCancel(i.ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { i.renew(ctx) })
	defer func() {
		stop()
		renewing.Wait()
		i.leave()
	}()
	if why := i.barred(); why != "" {
		i.note(i.abstains("it was not asked: " + why))
		return
	}
	if i.record("approval.ask", nil) != nil {
		return
	}
	i.converse()
}

// converse asks until it is done, or the gateway ends.
func (i *inquiry) converse() {
	changed, stop := i.Store.Watch(i.st.ID)
	defer stop()
	look, retry, tries := firstLook, firstRetry, 0
	for {
		if done, err := i.try(); done {
			return
		} else if pause := look; err == nil {
			look, retry, tries = min(2*look, lastLook), firstRetry, 0
			i.pause(changed, pause)
		} else {
			if errors.Is(err, approvals.ErrFailed) {
				tries++
			}
			if tries == mostTries {
				i.note(i.abstains(err.Error()))
				return
			}
			if retry == firstRetry {
				i.Telemetry.Log.Warn("an agent is asked again about a call that waits", "agent", i.agent, "approval", i.st.ID, "error", err)
			}
			i.pause(changed, retry)
			retry = min(2*retry, lastRetry)
		}
		select {
		case <-i.leaving:
			return
		default:
		}
	}
}

// pause waits, but not longer than until something becomes of the call, or the gateway is about to end.
func (i *inquiry) pause(changed <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-i.leaving:
			return
		case <-timer.C:
			return
		case <-changed: // somebody has agreed, or another agent has answered, or the call waits no more
			if st, err := i.Store.Look(i.ctx, i.st.ID); err == nil && (st == nil || st.Outcome.State != standing.Waiting) {
				return
			}
		}
	}
}

// try asks once. done is that there is nothing more to ask; the error is that the agent could not be asked.
func (i *inquiry) try() (done bool, err error) {
	i.talking.Add(1)
	defer i.talking.Add(-1)
	st, err := i.Store.Look(i.ctx, i.st.ID)
	switch {
	case err != nil:
		return false, errors.New("the state is away")
	case st == nil || st.Outcome.State != standing.Waiting:
		i.withdraw()
		return true, nil
	case !i.knows(st): // which a gateway with the rules of before may go on with
		return true, nil
	}
	now, release := i.Now()
	if now == nil {
		return true, nil
	}
	defer release()
	turn := i.copy()
	reply, err := now.Agents.Ask(i.ctx, i.agent, &i.st.Call, &turn)
	switch {
	case err != nil:
		i.Telemetry.Metrics.Policy.ApproverAsked(i.agent, "failed")
		return i.ctx.Err() != nil, err
	case reply.Answer == nil:
		i.Telemetry.Metrics.Policy.ApproverAsked(i.agent, "working")
		return false, i.shown(reply)
	}
	i.Telemetry.Metrics.Policy.ApproverAsked(i.agent, reply.Answer.Decision)
	reply.Answer.Interface = reply.Interface
	return i.heard(reply.Answer)
}

// withdraw has the agent end the task that it works on, as nobody waits for its answer. It is tried once.
func (i *inquiry) withdraw() {
	turn := i.copy()
	if turn.Task == "" {
		return
	}
	now, release := i.Now()
	if now == nil {
		return
	}
	defer release()
	if err := now.Agents.Cancel(i.ctx, i.agent, &i.st.Call, &turn); err != nil {
		i.Telemetry.Log.Warn("an agent works on a question that nobody waits for", "agent", i.agent, "approval", i.st.ID, "error", err)
	}
}

// shown writes down the task that the agent has made of the question, so that who asks next asks for that.
func (i *inquiry) shown(reply *approvals.Reply) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.turn.Task == reply.Task {
		return nil
	}
	i.turn.Task, i.turn.Instance = reply.Task, reply.Instance
	return i.Store.KeepTurn(i.ctx, &i.st.Call, i.agent, &i.turn)
}

// heard has an answer count, where a rule says that it does.
func (i *inquiry) heard(a *approvals.Answer) (done bool, err error) {
	a.Decides, a.At = i.st.Decides(i.agent), time.Now().UTC()
	if a.Decides && a.Decision != approvals.Abstain {
		return i.decide(a)
	}
	if !i.note(a) {
		return false, errors.New("the answer cannot be written down")
	}
	return true, nil
}

// decide makes the agent's decision, which is on record before it counts.
func (i *inquiry) decide(a *approvals.Answer) (done bool, err error) {
	who := i.person(a.Interface)
	kind, attrs := "approval.approve", map[string]string{"signed_in": methodAgent, "interface": a.Interface}
	if a.Decision == approvals.Reject {
		kind = "approval.reject"
		if a.Reason != "" {
			attrs["why"] = a.Reason
		}
	}
	if err := i.record(kind, attrs); err != nil {
		return false, err
	}
	if a.Decision == approvals.Reject {
		_, err = i.Reject(i.ctx, i.st.ID, i.st.Digest, a.Reason, who)
	} else {
		_, err = i.Agree(i.ctx, i.st.ID, i.st.Digest, who)
	}
	var refused *Refusal
	switch {
	case err == nil, errors.Is(err, errAgain): // which it was before a gateway ended
	case errors.As(err, &refused):
		attrs["outcome"] = "failed"
		_ = i.record(kind, attrs)
		a.Decision, a.Reason, a.Why = approvals.Abstain, "", refused.Text
	default:
		return false, err
	}
	_, err = i.Store.Answer(i.ctx, &i.st.Call, i.agent, a)
	return err == nil, err
}

// note writes down an answer that decides nothing, and reports whether it could.
func (i *inquiry) note(a *approvals.Answer) bool {
	kind, attrs := "approval.advice", map[string]string{"decision": a.Decision, "interface": a.Interface}
	if a.Decides { // it abstains
		kind = "approval.abstain"
		delete(attrs, "decision")
	}
	if a.Why != "" {
		attrs["why"] = a.Why
	}
	if i.record(kind, attrs) != nil {
		return false
	}
	_, err := i.Store.Answer(i.ctx, &i.st.Call, i.agent, a)
	return err == nil
}

// abstains is the answer of an agent that gives none.
func (i *inquiry) abstains(why string) *approvals.Answer {
	return &approvals.Answer{Decision: approvals.Abstain, Why: why, Decides: i.st.Decides(i.agent), At: time.Now().UTC()}
}

// record writes an event about the agent. Its error is that what is on record alone may count does not.
func (i *inquiry) record(kind string, more map[string]string) error {
	attrs := i.st.Attributes()
	attrs["who"] = nameOf(i.agent)
	for name, value := range more {
		if value != "" {
			attrs[name] = value
		}
	}
	err := i.Audit.Event(kind, attrs)
	if err == nil {
		return nil
	}
	i.Telemetry.Log.Error("write audit event", "event", kind, "approval", i.st.ID, "error", err)
	now, release := i.Now()
	if now == nil {
		return err
	}
	defer release()
	if now.FailOpen {
		return nil
	}
	return errors.New("the audit log cannot be written")
}

// nameOf is an agent in records, where people have their names.
func nameOf(agent string) string { return "agent:" + agent }

// person is the agent as one who decides.
func (i *inquiry) person(at string) *Person {
	p := &Person{Name: nameOf(i.agent), Method: methodAgent, Interface: at, Approver: approval.Approver{Agent: i.agent}}
	if now, release := i.Now(); now != nil {
		p.Kin = now.Agents.Kin(i.agent, &i.st.Call)
		release()
	}
	return p
}

// barred says why the agent is not asked: the call is its own, or for itself. It must not see that one before it
// is approved.
func (i *inquiry) barred() (why string) {
	who := i.person("")
	now, release := i.Now()
	if now == nil {
		return "the gateway ends"
	}
	defer release()
	for _, asked := range i.st.Rules {
		r := now.Rules.Approval(asked.Name)
		switch {
		case r == nil:
		case slices.Contains(asked.Agents, i.agent):
			if why = r.Refuses(who.Approver, nil); why == "" {
				return ""
			}
		case slices.Contains(asked.Advisers, i.agent):
			if !who.Target && !who.Caller {
				return ""
			}
			why = "no agent gives advice about a call to itself, or of its own"
		}
	}
	return why
}
