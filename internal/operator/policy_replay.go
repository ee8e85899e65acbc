package operator

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console/rules"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// Replay implements rules.Policy. Agents, extensions and all of the policy but its rules are
// those that are in force.
func (p Policies) Replay(ctx context.Context, d *verdict.Draft, b rules.ReplayBounds) (*verdict.Replayed, error) {
	s := p.Current.Acquire()
	if s == nil {
		return nil, snapshot.ErrClosed
	}
	defer s.Release()
	next, policies, err := s.Config.Draft([]byte(d.Rules), s.Book)
	var bad *config.DraftError
	if errors.As(err, &bad) {
		return nil, rules.DraftInvalid{Line: bad.Line, Err: bad.Err}
	}
	if err != nil {
		return nil, err
	}
	jd := explainer(s)
	jd.Policy, jd.Rules, jd.RuleAgents = next.Policy.Config, policies, next.RuleAgents()
	r := explain.NewReplay(jd)
	r.Sample = b.Sample
	answer := &verdict.Replayed{Changes: []verdict.Redecided{}}
	for c, err := range p.Records.calls(ctx, index.Query{Type: "call", From: d.Since, Until: d.Until}) {
		if err != nil {
			return nil, err
		}
		if r.Calls == b.Records {
			answer.More = true
			break
		}
		if err := r.Add(c); err != nil {
			return nil, fmt.Errorf("replay record %d: %w", c.Seq, err)
		}
		if answer.Oldest = c.Start.UTC(); answer.Newest.IsZero() {
			answer.Newest = c.Start.UTC()
		}
	}
	r.Finish()
	answer.Calls, answer.Same, answer.Untold = r.Calls, r.Same, r.Untold
	answer.DenyToAllow, answer.AllowToDeny, answer.OtherRule = r.DenyToAllow, r.AllowToDeny, r.OtherRule
	answer.Changes, answer.Why = append(answer.Changes, r.Sampled...), r.Why
	return answer, nil
}

// replayPage is how many records are asked for at once; between two, others may ask.
const replayPage = 1000

// calls are the recorded calls that are asked for, the newest first.
func (r *Records) calls(ctx context.Context, q index.Query) iter.Seq2[*reader.Call, error] {
	q.Limit = replayPage
	return func(yield func(*reader.Call, error) bool) {
		for {
			list, err := r.Find(ctx, q)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, e := range list {
				c, err := e.Call()
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					yield(nil, late(err))
					return
				}
				if c != nil && !yield(c, nil) {
					return
				}
				q.Behind = e.Seq
			}
			if len(list) < replayPage {
				return
			}
		}
	}
}
