package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/rules"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// TryGuards implements rules.Policy. It asks the services of the guards in force, as calls do, and records nothing.
func (p Policies) TryGuards(ctx context.Context, t *verdict.GuardTrial) (*verdict.GuardTried, error) {
	s := p.Current.Acquire()
	if s == nil {
		return nil, snapshot.ErrClosed
	}
	defer s.Release()
	jd := explainer(s)
	i, wrong, err := jd.ReadTrial(t)
	if err != nil {
		return nil, api.QuestionInvalid{Member: wrong, Err: err}
	}
	i.Card = s.Agents[i.Agent.ID].Agent.Source.Current() // the agent was just found
	tried, wrong, err := jd.TryGuards(ctx, t, i)
	if err != nil {
		return nil, api.QuestionInvalid{Member: wrong, Err: err}
	}
	return tried, nil
}

// ReplayGuards implements rules.Policy. It takes the newest calls first, until there are b.Records of them, b.Bytes of
// content, or the context ends.
func (p Policies) ReplayGuards(ctx context.Context, d *verdict.GuardDraft, b rules.ReplayBounds) (*verdict.GuardReplay, error) {
	s := p.Current.Acquire()
	if s == nil {
		return nil, snapshot.ErrClosed
	}
	defer s.Release()
	guards, err := config.DraftGuards(s.Config, []byte(d.Guards), s.Book)
	var bad *config.DraftError
	if errors.As(err, &bad) {
		return nil, rules.DraftInvalid{Line: bad.Line, Err: bad.Err}
	}
	if err != nil {
		return nil, err
	}
	r, err := explain.NewGuardReplay(explainer(s), guards, p.Contents.Item, b.Sample)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for c, err := range p.Records.calls(ctx, index.Query{Type: "call", From: d.Since, Until: d.Until}) {
		if err != nil {
			return nil, err
		}
		if r.Calls == b.Records {
			r.More = true
			break
		}
		if r.Add(ctx, c); r.Bytes > b.Bytes {
			return nil, fmt.Errorf("%w: %d calls", rules.ErrReplayBytes, r.Calls)
		}
		// The newest call comes first, and each further one is the oldest so far.
		if r.Oldest = c.Start.UTC(); r.Newest.IsZero() {
			r.Newest = c.Start.UTC()
		}
	}
	r.Finish()
	return &r.GuardReplay, nil
}
