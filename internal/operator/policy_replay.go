package operator

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/console/rules"
	"github.com/a2a-gateway/a2a-gateway/internal/explain"
	"github.com/a2a-gateway/a2a-gateway/internal/snapshot"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// Replay implements rules.Policy. Agents, extensions and all of the policy but its rules
// are those that are in force. Recorded calls are judged again by the draft, the newest
// first, until b.Records of them were judged (More is set then), or the context ends. The
// rules in force are not changed.
//
// An error rules.DraftInvalid has the line of the draft that cannot be read or compiled.
func (p Policies) Replay(ctx context.Context, d *verdict.Draft, b rules.ReplayBounds) (*verdict.Replayed, error) {
	s := p.Current.Acquire()
	if s == nil {
		return nil, snapshot.ErrClosed
	}
	defer s.Release()
	jd, agent, err := drafted(s, d)
	var bad *config.DraftError
	if errors.As(err, &bad) {
		return nil, rules.DraftInvalid{Line: bad.Line, Err: bad.Err}
	}
	if err != nil {
		return nil, err
	}
	r := explain.NewReplay(jd)
	r.Sample = b.Sample
	answer := &verdict.Replayed{Changes: []verdict.Redecided{}}
	for c, err := range p.Records.calls(ctx, index.Query{Type: "call", Agent: agent, From: d.Since, Until: d.Until}) {
		if err != nil {
			return nil, err
		}
		// The bound is on the work of one request: each record is decoded and all rules are
		// run on it. What is left out is older than Oldest.
		if r.Calls == b.Records {
			answer.More = true
			break
		}
		if err := r.Add(c); err != nil {
			return nil, fmt.Errorf("replay record %d: %w", c.Seq, err)
		}
		// The newest call comes first, and each further one is the oldest so far.
		if answer.Oldest = c.Start.UTC(); answer.Newest.IsZero() {
			answer.Newest = c.Start.UTC()
		}
	}
	r.Finish()
	answer.Calls, answer.Same, answer.Untold = r.Calls, r.Same, r.Untold
	answer.DenyToAllow, answer.AllowToDeny, answer.OtherRule = r.DenyToAllow, r.AllowToDeny, r.OtherRule
	answer.Changes, answer.Why = append(answer.Changes, r.Sampled...), r.Why
	answer.Touched = r.Touched
	return answer, nil
}

// drafted is the judge of what is in force, in which the draft takes the place of the rules, or of
// the agent that is returned.
func drafted(s *snapshot.Snapshot, d *verdict.Draft) (jd *explain.Judge, agent string, err error) {
	jd = explainer(s)
	if d.Rules != "" || d.Agent == "" {
		// The draft is compiled against the agents and extensions in force, as a reload would
		// do it: a rule that names an agent which does not exist is an error here as well.
		next, policies, err := s.Config.Draft([]byte(d.Rules), s.Book)
		if err != nil {
			return nil, "", err
		}
		jd.Policy, jd.Rules, jd.RuleAgents = next.Policy.Config, policies, next.RuleAgents()
	}
	if d.Agent == "" {
		return jd, "", nil
	}
	// What is registered is not asked for: no secret decides anything of a call.
	a, _, err := s.Config.DraftAgent(config.AgentDraft{Text: []byte(d.Agent)}, jd.Rules, s.Book)
	if err != nil {
		return nil, "", err
	}
	of, inForce := a.ID, jd.Find
	jd.Find = func(id string) (*explain.Agent, error) {
		if id != of {
			return inForce(id)
		}
		return explain.NewAgent(&a, s.Config.Policy.FileParts)
	}
	return jd, of, nil
}

// Check implements rules.Policy. It reads and compiles the draft as Replay does, and puts no call
// to it. Warnings are those that the gateway would log of such rules.
func (p Policies) Check(text string) (*verdict.Checked, error) {
	s := p.Current.Acquire()
	if s == nil {
		return nil, snapshot.ErrClosed
	}
	defer s.Release()
	answer := &verdict.Checked{Mistakes: []verdict.Mistake{}, Warnings: []string{}}
	next, set, err := s.Config.Draft([]byte(text), s.Book)
	var bad *config.DraftError
	if errors.As(err, &bad) {
		bad.Mistakes(func(line, column int, text string) {
			answer.Mistakes = append(answer.Mistakes, verdict.Mistake{Line: line, Column: column, Text: text})
		})
		return answer, nil
	}
	if err != nil {
		return nil, err
	}
	answer.Rules = len(next.Policy.Rules)
	known := policy.Known{Skills: map[string][]string{}, Now: time.Now()}
	for id, m := range s.Agents {
		if skills, ok := m.Skills(); ok {
			known.Skills[id] = skills
		}
	}
	for _, w := range set.Lint(known) {
		answer.Warnings = append(answer.Warnings, w.String())
	}
	for _, id := range set.Unused() {
		answer.Warnings = append(answer.Warnings, fmt.Sprintf("agent %q: no rule allows anybody anything of it: every call to it is denied", id))
	}
	return answer, nil
}

// replayPage is how many records are asked for at once; between two, others may ask.
const replayPage = 1000

// calls are the recorded calls that are asked for, the newest first. It yields records of
// type call and leaves out those of other types. It asks for one page of records after the
// other, each from behind the last one. An error is yielded once, and ends the sequence.
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
