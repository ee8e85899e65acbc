package operator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/rules"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// Policies are the rules in force as the console asks them.
type Policies struct {
	Began time.Time // of the counts
	// The rules, limits and authorizers in force.
	Current *snapshot.Current
	// The decisions of this process, counted since it started.
	Metrics *metrics.Policy
	// The audit log, for Replay, and what was captured, for ReplayGuards.
	Records  *Records
	Contents Contents
}

// Explain implements rules.Policy. It asks what calls are asked, and what the agent's card
// says is what calls are held to. No agent is called and no limit is drawn on. An error
// api.QuestionInvalid names the member of the question that makes no sense, such as an
// agent that does not exist.
func (p Policies) Explain(ctx context.Context, q *verdict.Question) (*verdict.Explanation, error) {
	s := p.Current.Acquire()
	if s == nil {
		return nil, snapshot.ErrClosed
	}
	defer s.Release()
	jd := explainer(s)
	i, wrong, err := jd.Read(q, time.Now())
	if err != nil {
		return nil, api.QuestionInvalid{Member: wrong, Err: err}
	}
	// Read has found the agent, so that it is in the map. Its card may be nil: then skills
	// are unknown, and the answer says so.
	i.Card = s.Agents[i.Agent.ID].Agent.Source.Current()
	return jd.Judge(ctx, i), nil
}

// explainer says what becomes of calls in this snapshot. It is made of the compiled rules
// of the snapshot, so that the explanation runs the same code as a call. Without
// authorizers the panel is an empty one, which permits everything.
func explainer(s *snapshot.Snapshot) *explain.Judge {
	cfg, l := s.Config, s.Config.Server.Limits
	return &explain.Judge{
		Authn: &cfg.Authn, Policy: cfg.Policy.Config, Rules: s.Rules, RuleAgents: cfg.RuleAgents(), Book: s.Book,
		Limits: s.Limits, Panel: cmp.Or(s.Panel, &pdp.Panel{}), Guards: s.Guards, PublicURL: s.Public.String(),
		Wire: wire.Limits{Body: int64(l.Body), Depth: l.JSONDepth, Members: l.JSONMembers, Parts: l.Parts},
		Push: cfg.Push.Passes() || cfg.Push.Relays(),
		Find: func(id string) (*explain.Agent, error) {
			m := s.Agents[id]
			if m == nil {
				return nil, fmt.Errorf("there is no agent %q", id)
			}
			return explain.NewAgent(&m.Config, cfg.Policy.FileParts)
		},
	}
}

// RulePlace implements rules.Policy, and what the screen of a record asks.
func (p Policies) RulePlace(name string) string {
	s := p.Current.Load()
	if s == nil {
		return ""
	}
	return s.Config.RulePlaces[name]
}

// Limits implements rules.Policy. onLoss is policy.limits.onLoss: what becomes of calls
// while the state that limits are counted in cannot be reached. Windows are in seconds.
func (p Policies) Limits() (list []rules.CallerLimit, onLoss string) {
	s := p.Current.Load()
	if s == nil {
		return nil, ""
	}
	shown, onLoss := s.Limits.Show()
	for _, l := range shown {
		one := rules.CallerLimit{
			Name: l.Name, Shadow: l.Shadow, Key: l.Key, Agents: l.Agents, Skills: l.Skills, Methods: l.Methods,
			Subjects: l.Subjects, Groups: l.Groups, Issuers: l.Issuers,
		}
		for _, b := range l.Bounds {
			one.Bounds = append(one.Bounds, rules.CallerBound{What: b.What, Units: b.Units, Window: b.Window.Seconds(), Per: b.Per, Burst: b.Burst})
		}
		list = append(list, one)
	}
	return list, onLoss
}

// Hits implements rules.Policy. A rule is in the list from its first decision on. The
// counters begin anew with the process and do not end with a reload: a rule that keeps its
// name keeps its counts.
func (p Policies) Hits() rules.Hits {
	of := map[string]*rules.Hit{}
	for _, c := range p.Metrics.Decisions() {
		h := of[c.Labels["rule"]]
		if h == nil {
			h = &rules.Hit{Rule: c.Labels["rule"]}
			of[h.Rule] = h
		}
		switch c.Labels["decision"] {
		case "allow":
			h.Allow += c.Value
		case "deny":
			h.Deny += c.Value
		case "shadow":
			h.Shadow += c.Value
		default: // error, and overruled
			h.Error += c.Value
		}
	}
	hits := rules.Hits{Since: p.Began.UTC(), Rules: make([]rules.Hit, 0, len(of))}
	for _, h := range of {
		hits.Rules = append(hits.Rules, *h)
	}
	// A map has no order, and a page that shuffles its rows at each refresh cannot be read.
	slices.SortFunc(hits.Rules, func(a, b rules.Hit) int { return cmp.Compare(a.Rule, b.Rule) })
	return hits
}
