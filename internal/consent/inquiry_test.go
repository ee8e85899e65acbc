package consent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals/standing"
)

// fleet is in the place of the agents: it says what it is told to, and keeps what it was asked.
type fleet struct {
	mu    sync.Mutex
	asked []string // agent, and the task that it was asked for
	calls []string // agent, and the call
	says  func(ctx context.Context, agent string, t *approvals.Turn) (*approvals.Reply, error)
	kin   map[string]approval.Kin
	gone  map[string]bool
}

func newFleet() *fleet {
	return &fleet{kin: map[string]approval.Kin{}, gone: map[string]bool{}, says: always(approvals.Approve)}
}

// always answers at once.
func always(decision string) func(context.Context, string, *approvals.Turn) (*approvals.Reply, error) {
	return func(_ context.Context, agent string, _ *approvals.Turn) (*approvals.Reply, error) {
		return &approvals.Reply{Interface: "https://" + agent, Answer: &approvals.Answer{Decision: decision, Reason: "because"}}, nil
	}
}

// Ask implements Agents.
func (f *fleet) Ask(ctx context.Context, agent string, c *approvals.Call, t *approvals.Turn) (*approvals.Reply, error) {
	f.mu.Lock()
	f.asked = append(f.asked, strings.TrimSpace(agent+" "+t.Task))
	f.calls = append(f.calls, agent+" "+c.ID)
	says := f.says
	f.mu.Unlock()
	return says(ctx, agent, t)
}

// Cancel implements Agents.
func (f *fleet) Cancel(_ context.Context, agent string, _ *approvals.Call, t *approvals.Turn) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, agent+" cancel "+t.Task)
	return nil
}

// Kin implements Agents.
func (f *fleet) Kin(agent string, _ *approvals.Call) approval.Kin {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.kin[agent]
}

// Has implements Agents.
func (f *fleet) Has(agent, at string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.gone[agent] && at == "https://"+agent
}

// seen is what was asked until now.
func (f *fleet) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// desks asks so many of the agent risk, the agent law and lead, and the agent wise for advice.
func desks(count int) policy.Rule {
	return policy.Rule{
		Name: "desks", Effect: "approve", Advisers: []string{"wise"},
		Approvers: &approval.Approvers{Subjects: []string{"lead"}, Agents: []string{"risk", "law"}, Count: count},
	}
}

// answered waits until an agent has answered.
func (b *bureau) answered(t *testing.T, c *approvals.Call, agent string) *approvals.Answer {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		st, err := b.Look(t.Context(), c.ID)
		must(t, err)
		for _, q := range st.Questions {
			if q.Agent == agent && q.Answer != nil {
				return q.Answer
			}
		}
		if time.Now().After(end) {
			t.Fatalf("%s has not answered: %+v", agent, st.Questions)
		}
	}
}

// shown waits until an agent has shown a task.
func (b *bureau) shown(t *testing.T, c *approvals.Call, agent string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		st, err := b.Look(t.Context(), c.ID)
		must(t, err)
		for _, q := range st.Questions {
			if n := len(q.Turns); q.Agent == agent && n > 0 && q.Turns[n-1].Task != "" {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("%s has shown no task: %+v", agent, st.Questions)
		}
	}
}

// TestAgentsAgree: each agent counts as one, with people and others, and advice does not count.
func TestAgentsAgree(t *testing.T) {
	t.Parallel()
	b := newBureau(t, desks(3))
	c := b.open(t, time.Hour, "desks")
	b.Begun(c)
	for _, agent := range []string{"risk", "law", "wise"} {
		if a := b.answered(t, c, agent); a.Decision != approvals.Approve || a.Decides != (agent != "wise") || a.Reason != "because" || a.Interface != "https://"+agent {
			t.Errorf("%s: %+v", agent, a)
		}
	}
	st := b.stands(t, c, standing.Waiting)
	if len(st.Votes) != 2 || len(st.For("desks")) != 2 || st.Votes[0].Method != "agent" {
		t.Fatalf("%+v", st.Votes)
	}
	must(t, second(b.Agree(t.Context(), c.ID, "d", person("lead"))))
	b.stands(t, c, standing.Sent)
	if seen := b.fleet.seen(); len(seen) != 3 {
		t.Errorf("asked %q", seen)
	}
}

// TestAgentRejects: its caller reads the reason; what an adviser says ends nothing.
func TestAgentRejects(t *testing.T) {
	t.Parallel()
	b := newBureau(t, desks(1))
	b.fleet.says = func(ctx context.Context, agent string, turn *approvals.Turn) (*approvals.Reply, error) {
		if agent == "risk" {
			time.Sleep(200 * time.Millisecond) // until the others have answered
			return always(approvals.Reject)(ctx, agent, turn)
		}
		if agent == "wise" {
			return always(approvals.Reject)(ctx, agent, turn)
		}
		return always(approvals.Abstain)(ctx, agent, turn)
	}
	c := b.open(t, time.Hour, "desks")
	b.Begun(c)
	b.answered(t, c, "wise")
	b.answered(t, c, "law")
	b.stands(t, c, standing.Waiting)
	if st := b.stands(t, c, standing.Rejected); st.Outcome.By != "agent:risk" || st.Outcome.Why != "because" {
		t.Errorf("%+v", st.Outcome)
	}
	if len(b.sent) != 0 {
		t.Errorf("sent %v", b.sent)
	}
}

// TestOwnCalls: an agent is not asked about a call to itself, or of its own; one that is known later to be the
// caller does not count, and neither does somebody who goes by an agent's name.
func TestOwnCalls(t *testing.T) {
	t.Parallel()
	b := newBureau(t, desks(1))
	b.fleet.kin = map[string]approval.Kin{"risk": {Target: true}, "law": {Caller: true}, "wise": {Caller: true}}
	c := b.open(t, time.Hour, "desks")
	b.Begun(c)
	for agent, want := range map[string]string{
		"risk": "it was not asked: no agent decides about a call to itself", "law": "it was not asked: nobody decides about a call of their own (approvers.notSelf)",
		"wise": "it was not asked: no agent gives advice about a call to itself, or of its own",
	} {
		if a := b.answered(t, c, agent); a.Decision != approvals.Abstain || a.Why != want {
			t.Errorf("%s: %+v", agent, a)
		}
	}
	if seen := b.fleet.seen(); len(seen) != 0 {
		t.Errorf("asked %q", seen)
	}
	if err := second(b.Agree(t.Context(), c.ID, "d", person("agent:risk"))); err == nil {
		t.Error("who goes by an agent's name has agreed")
	}
	b.stands(t, c, standing.Waiting)
}

// TestTaskGoesOn: an agent that has made a task of the question is asked for that, also by the gateway after this
// one, and not sent the message again.
func TestTaskGoesOn(t *testing.T) {
	t.Parallel()
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	rule := policy.Rule{Name: "desks", Effect: "approve", Approvers: &approval.Approvers{Agents: []string{"risk"}}}
	first, next := newBureauOn(t, memory, rule), newBureauOn(t, memory, rule)
	first.fleet.says = func(context.Context, string, *approvals.Turn) (*approvals.Reply, error) {
		return &approvals.Reply{Interface: "https://risk", Task: "t1"}, nil
	}
	c := first.open(t, time.Hour, "desks")
	first.Begun(c)
	for end := time.Now().Add(10 * time.Second); len(first.fleet.seen()) < 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("asked %q", first.fleet.seen())
		}
	}
	next.sweep(t.Context())
	if seen := next.fleet.seen(); len(seen) != 0 { // it is not its turn
		t.Errorf("asked %q", seen)
	}
	first.Finish(t.Context())
	first.Close()
	next.sweep(t.Context())
	next.stands(t, c, standing.Sent)
	if seen := append(first.fleet.seen(), next.fleet.seen()...); seen[0] != "risk" || slices.Contains(seen[1:], "risk") || seen[len(seen)-1] != "risk t1" {
		t.Errorf("asked %q", seen)
	}
}

// TestWithdrawn: an agent that works on a question is told when somebody else has decided; one that has made no task
// of it is not.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	b := newBureau(t, desks(1))
	b.fleet.says = func(_ context.Context, agent string, _ *approvals.Turn) (*approvals.Reply, error) {
		if agent == "wise" {
			return nil, errors.New("away")
		}
		return &approvals.Reply{Interface: "https://" + agent, Task: agent + "-1"}, nil
	}
	c := b.open(t, time.Hour, "desks")
	b.Begun(c)
	for _, agent := range []string{"risk", "law"} {
		b.shown(t, c, agent)
	}
	must(t, second(b.Reject(t.Context(), c.ID, "d", "no", person("lead"))))
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		seen := b.fleet.seen()
		if slices.Contains(seen, "risk cancel risk-1") && slices.Contains(seen, "law cancel law-1") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("asked %q", seen)
		}
	}
	if seen := b.fleet.seen(); slices.ContainsFunc(seen, func(s string) bool { return strings.HasPrefix(s, "wise cancel") }) {
		t.Errorf("asked %q", seen)
	}
}

// TestAskedAgain: a gateway that was killed has the next one send the same message, a few times.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	b := newBureau(t, policy.Rule{Name: "desks", Effect: "approve", Approvers: &approval.Approvers{Agents: []string{"risk", "law"}}})
	c := b.open(t, time.Hour, "desks")
	killed := func(agent string, n int, task string) {
		first, err := b.Store.TakeTurn(t.Context(), c, agent, &approvals.Turn{N: n, Sends: n, Until: time.Now().Add(-time.Second), Task: task}, nil)
		if err != nil || !first {
			t.Fatal(first, err)
		}
	}
	killed("risk", 4, "")
	killed("law", mostSends, "")
	b.sweep(t.Context())
	b.stands(t, c, standing.Sent)
	later := b.open(t, time.Hour, "desks")
	c = later
	killed("law", mostSends, "")
	b.fleet.says = always(approvals.Abstain)
	b.sweep(t.Context())
	if a := b.answered(t, c, "law"); a.Why != "gateways have asked it 5 times, and ended before it had answered" {
		t.Errorf("%+v", a)
	}
	if seen := b.fleet.seen(); slices.Contains(seen, "law") {
		t.Errorf("asked %q", seen)
	}
}

// TestAskedOnce: of several gateways that look after a call at the same moment one asks.
func TestAskedOnce(t *testing.T) {
	t.Parallel()
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	var all []*bureau
	for range 4 {
		all = append(all, newBureauOn(t, memory, desks(2)))
	}
	calls := make([]*approvals.Call, 20)
	for i := range calls {
		calls[i] = all[0].open(t, time.Hour, "desks")
	}
	var looking sync.WaitGroup
	for _, b := range all {
		looking.Go(func() { b.sweep(t.Context()) })
	}
	looking.Wait()
	for _, c := range calls {
		all[0].stands(t, c, standing.Sent)
	}
	sent := 0
	var asked []string
	for _, b := range all {
		b.Close()
		asked, sent = append(asked, b.fleet.calls...), sent+len(b.sent)
	}
	slices.Sort(asked)
	// An agent may not have been asked any more when two others had agreed.
	if once := slices.Compact(slices.Clone(asked)); len(once) != len(asked) || len(asked) < 40 || sent != 20 {
		t.Errorf("asked %q, and sent %d calls", asked, sent)
	}
}

// TestAgentAway: an agent that cannot be reached is asked again, and what it says then counts.
func TestAgentAway(t *testing.T) {
	t.Parallel()
	b := newBureau(t, policy.Rule{Name: "desks", Effect: "approve", Approvers: &approval.Approvers{Agents: []string{"risk"}}})
	tries := 0
	b.fleet.says = func(ctx context.Context, agent string, turn *approvals.Turn) (*approvals.Reply, error) {
		if tries++; tries == 1 {
			return nil, errors.New("away")
		}
		return always(approvals.Approve)(ctx, agent, turn)
	}
	c := b.open(t, time.Hour, "desks")
	b.Begun(c)
	b.stands(t, c, standing.Sent)
}

// TestAgentFails: an agent that fails is asked again, but not for as long as the call waits. It abstains then, and a
// call that nobody else may approve ends.
func TestAgentFails(t *testing.T) {
	t.Parallel()
	b := newBureau(t, policy.Rule{Name: "desks", Effect: "approve", Approvers: &approval.Approvers{Agents: []string{"risk"}}})
	b.fleet.says = func(context.Context, string, *approvals.Turn) (*approvals.Reply, error) {
		return nil, fmt.Errorf("%w: it answers HTTP 500", approvals.ErrFailed)
	}
	c := b.open(t, time.Hour, "desks")
	synced := &inquiry{Desk: b.Desk, st: &approvals.Status{Call: *c}, agent: "risk", turn: approvals.Turn{N: 1}}
	for range mostTries {
		_, err := synced.try()
		if !errors.Is(err, approvals.ErrFailed) {
			t.Fatal(err)
		}
	}
	if !synced.note(synced.abstains("it answers HTTP 500")) {
		t.Fatal("nothing is written down")
	}
	b.sweep(t.Context())
	if st := b.stands(t, c, standing.Expired); !strings.Contains(st.Outcome.Why, "too few of the agents") {
		t.Errorf("%+v", st.Outcome)
	}
}

// TestTooFewLeft: a call ends when agents alone decide about it, and too few have not abstained. One about which people
// decide as well waits for them.
func TestTooFewLeft(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		approvers approval.Approvers
		abstain   []string
		want      standing.State
	}{
		"the only one":            {approval.Approvers{Agents: []string{"risk"}}, []string{"risk"}, standing.Expired},
		"one of two":              {approval.Approvers{Agents: []string{"risk", "law"}}, []string{"risk"}, standing.Sent},
		"one of two that have to": {approval.Approvers{Agents: []string{"risk", "law"}, Count: 2}, []string{"risk"}, standing.Expired},
		"with people":             {approval.Approvers{Agents: []string{"risk"}, Subjects: []string{"lead"}}, []string{"risk"}, standing.Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBureau(t, policy.Rule{Name: "desks", Effect: "approve", Approvers: &tt.approvers})
			b.fleet.says = func(ctx context.Context, agent string, turn *approvals.Turn) (*approvals.Reply, error) {
				if slices.Contains(tt.abstain, agent) {
					return always(approvals.Abstain)(ctx, agent, turn)
				}
				return always(approvals.Approve)(ctx, agent, turn)
			}
			c := b.open(t, time.Hour, "desks")
			b.Begun(c)
			for _, agent := range tt.abstain {
				if tt.want != standing.Sent { // then one that has not answered yet is not asked any more
					b.answered(t, c, agent)
				}
			}
			b.sweep(t.Context())
			b.stands(t, c, tt.want)
		})
	}
}

// TestTwins: two entries for one agent have one vote.
func TestTwins(t *testing.T) {
	t.Parallel()
	b := newBureau(t, policy.Rule{Name: "desks", Effect: "approve", Approvers: &approval.Approvers{Agents: []string{"risk", "law"}, Count: 2}})
	b.fleet.kin = map[string]approval.Kin{"risk": {Backend: "backend:1"}, "law": {Backend: "backend:1"}}
	c := b.open(t, time.Hour, "desks")
	b.Begun(c)
	for _, agent := range []string{"risk", "law"} {
		b.answered(t, c, agent)
	}
	if st := b.stands(t, c, standing.Waiting); len(st.For("desks")) != 1 {
		t.Errorf("%+v", st.Votes)
	}
	b.sweep(t.Context())
	b.stands(t, c, standing.Expired)
}

// TestUnrecorded: what cannot be put on record is neither asked nor counted.
func TestUnrecorded(t *testing.T) {
	t.Parallel()
	b := newBureau(t, policy.Rule{Name: "desks", Effect: "approve", Approvers: &approval.Approvers{Agents: []string{"risk"}}})
	b.fleet.says = func(ctx context.Context, agent string, turn *approvals.Turn) (*approvals.Reply, error) {
		_ = b.Audit.Close()
		return always(approvals.Approve)(ctx, agent, turn)
	}
	c := b.open(t, time.Hour, "desks")
	b.Begun(c)
	for end := time.Now().Add(10 * time.Second); len(b.fleet.seen()) < 2 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
	}
	if st := b.stands(t, c, standing.Waiting); len(st.Votes) != 0 || len(b.fleet.seen()) < 2 {
		t.Errorf("%+v, asked %q", st.Votes, b.fleet.seen())
	}
	later := b.open(t, time.Hour, "desks")
	asked := len(b.fleet.seen())
	b.Begun(later)
	b.Finish(t.Context())
	b.Close()
	if n := len(b.fleet.seen()); n > asked+1 { // once more about the first
		t.Errorf("asked %q", b.fleet.seen())
	}
}

// away is a state that takes no turn.
type away struct{ state.Values }

// Add implements state.Values.
func (a away) Add(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	if space == "approvals-turns" {
		return false, fmt.Errorf("add: %w", state.ErrUnavailable)
	}
	return a.Values.Add(ctx, space, key, data, ttl)
}

// TestStateAway: where the state does not say whose turn it is, nobody asks.
func TestStateAway(t *testing.T) {
	t.Parallel()
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	b := newBureauOn(t, away{memory}, desks(1))
	c := b.open(t, time.Hour, "desks")
	b.Begun(c)
	b.sweep(t.Context())
	b.Finish(t.Context())
	b.Close()
	if seen := b.fleet.seen(); len(seen) != 0 {
		t.Errorf("asked %q", seen)
	}
}

// TestQuestionsDrain: a gateway that ends waits for an answer that is on its way, and has it count.
func TestQuestionsDrain(t *testing.T) {
	t.Parallel()
	b := newBureau(t, policy.Rule{Name: "desks", Effect: "approve", Approvers: &approval.Approvers{Agents: []string{"risk"}}})
	begun, held := make(chan struct{}), make(chan struct{})
	b.fleet.says = func(ctx context.Context, agent string, turn *approvals.Turn) (*approvals.Reply, error) {
		close(begun)
		<-held
		return always(approvals.Approve)(ctx, agent, turn)
	}
	c := b.open(t, time.Hour, "desks")
	b.Begun(c)
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if b.Finish(ctx); ctx.Err() == nil {
		t.Error("the end did not wait")
	}
	time.AfterFunc(50*time.Millisecond, func() { close(held) })
	b.Finish(t.Context())
	if st := b.stands(t, c, standing.Approved); len(st.Votes) != 1 {
		t.Errorf("%+v", st.Votes)
	}
}

// TestStaysOfAgents: the decision of an agent that is gone, or somewhere else by now, counts no more.
func TestStaysOfAgents(t *testing.T) {
	t.Parallel()
	b := newBureau(t)
	b.fleet.gone["law"] = true
	for v, want := range map[string]bool{"risk https://risk": true, "risk https://elsewhere": false, "law https://law": false} {
		agent, at, _ := strings.Cut(v, " ")
		if got := b.Stays(approvals.Vote{By: "agent:" + agent, Agent: agent, Interface: at, Method: "agent"}); got != want {
			t.Errorf("%s: %v", v, got)
		}
	}
}
