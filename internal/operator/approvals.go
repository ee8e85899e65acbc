package operator

import (
	"context"
	"errors"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/consent"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	console "github.com/a2a-gateway/a2a-gateway/internal/console/approvals"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
)

// Approvals are the calls that wait for approval, as people decide about them.
type Approvals struct {
	Desk    *consent.Desk
	Current *snapshot.Current
	Content bool // admin.content: operators see messages, too
}

// List implements approvals.Approvals of the console.
func (a Approvals) List(ctx context.Context, who *api.Caller) ([]console.Approval, error) {
	all, err := a.Desk.Store.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]console.Approval, 0, len(all))
	for _, st := range all {
		list = append(list, a.summary(st, who))
	}
	return list, nil
}

// Show implements approvals.Approvals of the console.
func (a Approvals) Show(ctx context.Context, id string, who *api.Caller) (*console.ApprovalDetail, error) {
	st, err := a.Desk.Look(ctx, id)
	if err != nil || st == nil {
		return nil, err
	}
	return a.detail(st, who), nil
}

// Approve implements approvals.Approvals of the console.
func (a Approvals) Approve(ctx context.Context, id, digest string, who *api.Caller) (*console.ApprovalDetail, error) {
	st, err := a.Desk.Agree(ctx, id, digest, personOf(who))
	if err != nil {
		return nil, refusalOf(err)
	}
	return a.detail(st, who), nil
}

// Reject implements approvals.Approvals of the console.
func (a Approvals) Reject(ctx context.Context, id, digest, reason string, who *api.Caller) (*console.ApprovalDetail, error) {
	st, err := a.Desk.Reject(ctx, id, digest, reason, personOf(who))
	if err != nil {
		return nil, refusalOf(err)
	}
	return a.detail(st, who), nil
}

// personOf is who asks the admin API, as approvers of a rule are told by.
func personOf(who *api.Caller) *consent.Person {
	return &consent.Person{Name: who.Name, Method: who.Method, Approver: approval.Approver{Subject: who.Subject, Groups: who.Groups}}
}

// refusalOf says what kept somebody from deciding.
func refusalOf(err error) error {
	var refused *consent.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	for _, code := range console.Codes() {
		if code.Name == refused.Code {
			return code.Refuse(refused.Text)
		}
	}
	return err
}

func (a Approvals) summary(st *approvals.Status, who *api.Caller) console.Approval {
	s := console.Approval{
		ID: st.ID, State: string(st.Outcome.State), Agent: st.Agent, Skill: st.Skill, Method: st.Method, Caller: st.Caller.Subject,
		Issuer: st.Caller.Issuer, Created: st.Created, Expires: st.Expires, Digest: st.Digest,
	}
	for _, r := range st.Rules {
		s.Rules = append(s.Rules, console.ApprovalRule{Name: r.Name, Asks: r.Asks, Count: r.Count, Agreed: len(st.For(r.Name))})
	}
	may, why := a.Desk.May(st, personOf(who))
	if s.May = may != nil; !s.May {
		s.MayNot = why
	}
	return s
}

func (a Approvals) detail(st *approvals.Status, who *api.Caller) *console.ApprovalDetail {
	d := &console.ApprovalDetail{
		Approval: a.summary(st, who), Client: st.Caller.Client, Tenant: st.Caller.Tenant, Binding: st.Binding, Version: st.Version,
		Context: st.Context, About: a.about(st), Votes: []console.ApprovalVote{}, By: st.Outcome.By, Why: st.Outcome.Why, Task: st.Outcome.Task,
	}
	if st.Outcome.State != standing.Waiting {
		d.Decided = st.Outcome.At
	}
	for _, v := range st.Votes {
		d.Votes = append(d.Votes, console.ApprovalVote{By: v.By, Method: v.Method, At: v.At, Rules: v.Rules})
	}
	sees := d.May || a.Content && who.Role.May(api.Operator)
	if sees {
		d.Params = st.Params
	}
	for i := range st.Questions {
		d.Agents = append(d.Agents, askedAgent(st, &st.Questions[i], sees))
	}
	return d
}

// askedAgent is what has become of asking an agent. Its reason may repeat what the message says.
func askedAgent(st *approvals.Status, q *approvals.Question, sees bool) console.ApprovalAgent {
	a := console.ApprovalAgent{Agent: q.Agent, Decides: st.Decides(q.Agent)}
	if n := len(q.Turns); n > 0 {
		a.At, a.Task = q.Turns[n-1].At, q.Turns[n-1].Task
	}
	if q.Answer != nil {
		a.Decision, a.Why, a.At = q.Answer.Decision, q.Answer.Why, q.Answer.At
		if sees {
			a.Reason = q.Answer.Reason
		}
	}
	return a
}

// about is what the agent's card says of the skill.
func (a Approvals) about(st *approvals.Status) (about console.ApprovalAbout) {
	s := a.Current.Acquire()
	if s == nil {
		return about
	}
	defer s.Release()
	m := s.Agents[st.Agent]
	if m == nil {
		return about
	}
	v := m.Agent.Look()
	if v == nil || v.Card == nil {
		return about
	}
	about.Agent = v.Card.Name
	if i := slices.IndexFunc(v.Card.Skills, func(k card.Skill) bool { return k.ID == st.Skill }); i >= 0 {
		about.Skill, about.Description = v.Card.Skills[i].Name, v.Card.Skills[i].Description
	}
	return about
}
