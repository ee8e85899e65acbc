package gateway

import (
	"context"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvers"
)

// askedAgents are the agents of a snapshot, as those that are asked about calls that wait for approval.
type askedAgents struct{ *snapshot.Snapshot }

// Ask implements consent.Agents.
func (s askedAgents) Ask(ctx context.Context, agent string, c *approvals.Call, t *approvals.Turn) (*approvals.Reply, error) {
	a := s.find(agent)
	if a == nil {
		return &approvals.Reply{Answer: &approvals.Answer{Decision: approvals.Abstain, Why: "there is no such agent"}}, nil
	}
	return s.approver(a).Ask(ctx, c, t)
}

// Cancel implements consent.Agents.
func (s askedAgents) Cancel(ctx context.Context, agent string, c *approvals.Call, t *approvals.Turn) error {
	if a := s.find(agent); a != nil {
		return s.approver(a).Cancel(ctx, c, t)
	}
	return nil
}

func (s askedAgents) approver(a *agents.Agent) approvers.Approver {
	return approvers.Approver{Agent: a, Limit: int64(s.Config.Server.Limits.Answer), Gateway: s.Config.Server.ID}
}

// Kin implements consent.Agents.
func (s askedAgents) Kin(agent string, c *approvals.Call) approval.Kin {
	return approvers.KinOf(agent, c, func(yield func(*agents.Agent) bool) {
		for _, m := range s.Agents {
			if !yield(m.Agent) {
				return
			}
		}
	})
}

// Has implements consent.Agents. Where no card is there yet, the interface is the one that it was.
func (s askedAgents) Has(agent, at string) bool {
	a := s.find(agent)
	if a == nil {
		return false
	}
	v := a.Look()
	return v == nil || slices.ContainsFunc(v.Endpoints, func(e agents.Endpoint) bool { return e.Address == at })
}

func (s askedAgents) find(id string) *agents.Agent {
	if m := s.Agents[id]; m != nil {
		return m.Agent
	}
	return nil
}
