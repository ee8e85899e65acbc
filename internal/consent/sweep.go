package consent

import (
	"context"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
)

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
				d.sweep(d.ctx)
			}
		}
	}
}

// asked reports whether any call may wait: a rule asks for people, or the latest sweep has found one. It notes
// since when the rules are in force.
func (d *Desk) asked() bool {
	now, release := d.Now()
	if now == nil {
		return false
	}
	defer release()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rules != now.Rules {
		d.rules, d.since = now.Rules, time.Now()
	}
	return now.Rules.Approves() || !d.idle
}

// sweep goes through the calls that are not over.
func (d *Desk) sweep(ctx context.Context) {
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
		case standing.Waiting:
			d.void(ctx, st)
			d.giveUp(ctx, st)
			d.consult(st)
		case standing.Sending:
		default:
			_ = d.Store.Close(ctx, &st.Call) // who has decided it could not
		}
	}
}

// void ends a call whose rule has changed since it came: nobody can agree to it any more. A call that has
// come later than this gateway's rules is left to those who know its rule.
func (d *Desk) void(ctx context.Context, st *approvals.Status) {
	now, release := d.Now()
	if now == nil {
		return
	}
	defer release()
	d.mu.Lock()
	older := d.rules == now.Rules && st.Created.Before(d.since)
	d.mu.Unlock()
	for _, asked := range st.Rules {
		if r := now.Rules.Approval(asked.Name); older && (r == nil || r.Digest != asked.Digest) {
			st.Outcome = approvals.Outcome{State: standing.Void, Why: changed(asked.Name)}
			if first, err := d.Store.Decide(ctx, &st.Call, st.Outcome); err == nil && first {
				d.record(st, "approval.void")
			}
			return
		}
	}
}

// giveUp ends a call about which agents alone decide, and too few of them are left that have not abstained.
func (d *Desk) giveUp(ctx context.Context, st *approvals.Status) {
	if st.Outcome.State != standing.Waiting || !d.knows(st) {
		return
	}
	now, release := d.Now()
	if now == nil {
		return
	}
	defer release()
	for _, asked := range st.Rules {
		r := now.Rules.Approval(asked.Name)
		if r == nil || r.People() {
			continue
		}
		may := len(st.For(asked.Name))
		for _, q := range st.Questions {
			if q.Answer == nil && slices.Contains(r.Agents, q.Agent) {
				may++
			}
		}
		if may < r.Count {
			st.Outcome = approvals.Outcome{State: standing.Expired, Why: "too few of the agents that may approve it have decided, and the others abstain"}
			d.expire(ctx, st)
			return
		}
	}
}

// expire ends a call whose time is over, or that nobody can agree to any more.
func (d *Desk) expire(ctx context.Context, st *approvals.Status) {
	first, err := d.Store.Decide(ctx, &st.Call, st.Outcome)
	if err == nil && first {
		d.record(st, "approval.expired")
	}
}

// record writes an event about a call that nobody has asked for.
func (d *Desk) record(st *approvals.Status, kind string) {
	attrs := st.Attributes()
	if st.Outcome.Why != "" {
		attrs["why"] = st.Outcome.Why
	}
	if err := d.Audit.Event(kind, attrs); err != nil {
		d.Telemetry.Log.Error("write audit event", "event", kind, "approval", st.ID, "error", err)
	}
}
