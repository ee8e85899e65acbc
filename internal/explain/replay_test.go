package explain

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// replayed is a call with all that is known when it is made.
type replayed struct {
	policy.Request
	skills []string
}

// TestReplayNeverGuesses: what a replay says of a call is what the rules say of it when
// all is known that the record does not have, or else that it cannot be told.
func TestReplayNeverGuesses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, now := rulesOf(t, "before"), rulesOf(t, "now")
		defer before.Book.Close()
		defer now.Book.Close()
		call := drawCall(t)
		was, record := decided(before, &call)
		is, _ := decided(now, &call)
		r := NewReplay(now)
		if err := r.Add(record); err != nil {
			t.Fatal(err)
		}
		told := r.Calls - r.Untold
		switch {
		case told == 0:
		case was.allow && !is.allow && r.AllowToDeny != 1, !was.allow && is.allow && r.DenyToAllow != 1:
			t.Fatalf("was %v, is %v; got %+v", was, is, r)
		case was.allow == is.allow && r.AllowToDeny+r.DenyToAllow > 0:
			t.Fatalf("was %v, is %v; got %+v", was, is, r)
		case was.allow == is.allow && was.rule == is.rule && r.OtherRule > 0:
			t.Fatalf("was %v, is %v; got %+v", was, is, r)
		}
	})
}

// TestReplayTells: nothing is in doubt where no rule asks for what records do not have.
func TestReplayTells(t *testing.T) {
	t.Parallel()
	c := judgeOf(t, []policy.Rule{{Name: "all", Effect: "allow"}, {Name: "not-b", Effect: "deny", Subjects: []string{"b"}}})
	defer c.Book.Close()
	r := NewReplay(c)
	for _, subject := range []string{"a", "b"} {
		err := r.Add(&reader.Call{
			Agent:    "x",
			Method:   wire.SendMessage,
			Caller:   reader.Caller{Principal: subject, Issuer: "https://i.example", AuthMethod: "oidc"},
			Decision: "allow",
			Rule:     "all",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if r.Same != 1 || r.AllowToDeny != 1 || r.Untold != 0 {
		t.Errorf("got %+v", r)
	}
}

// TestReplayStaysSmall: a replay keeps no more than it shows.
func TestReplayStaysSmall(t *testing.T) {
	t.Parallel()
	c := judgeOf(t, []policy.Rule{{Name: "none", Effect: "deny"}})
	defer c.Book.Close()
	r := NewReplay(c)
	const calls = 2*manyGroups + 5
	for i := range calls {
		err := r.Add(&reader.Call{
			Agent:    "x",
			Method:   wire.SendMessage,
			Caller:   reader.Caller{Principal: fmt.Sprint(i), Issuer: "https://i.example"},
			Decision: "allow",
			Rule:     "all",
		})
		if err == nil {
			err = r.Add(&reader.Call{Reason: fmt.Sprint(i)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r.Finish()
	if r.AllowToDeny != calls || len(r.Changes) != manyGroups || r.Left != calls-manyGroups || len(r.Why) > manyReasons+1 {
		t.Errorf("%d changes in %d groups, %d left, %d reasons", r.AllowToDeny, len(r.Changes), r.Left, len(r.Why))
	}
}

// judgeOf is one for agents of which nothing is known, x unless others are named.
func judgeOf(t interface{ Fatal(args ...any) }, rules []policy.Rule, ids ...string) *Judge {
	if ids == nil {
		ids = []string{"x"}
	}
	jd := &Judge{Policy: policy.Config{Rules: rules}, RuleAgents: ids}
	jd.Find = func(id string) (*Agent, error) { return NewAgent(&agents.Config{ID: id}, files.Config{}) }
	var err error
	if jd.Book, err = (ext.Registry)(nil).Compile(); err != nil {
		t.Fatal(err)
	}
	if jd.Rules, _, err = policy.Compile(jd.Policy, jd.RuleAgents); err != nil {
		t.Fatal(err)
	}
	return jd
}

// rulesOf draws rules, some of which ask for what records do not have.
func rulesOf(t *rapid.T, name string) *Judge {
	var rules []policy.Rule
	for i := range rapid.IntRange(1, 5).Draw(t, name) {
		r := policy.Rule{Name: fmt.Sprintf("r%d", i), Effect: rapid.SampledFrom([]string{"allow", "deny"}).Draw(t, "effect")}
		maybe := func(what string, set func()) {
			if rapid.IntRange(0, 3).Draw(t, what) == 0 {
				set()
			}
		}
		maybe("subjects", func() { r.Subjects = []string{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "subject")} })
		maybe("groups", func() { r.Groups = []string{"g"} })
		maybe("skills", func() { r.Skills = []string{rapid.SampledFrom([]string{"s", "t"}).Draw(t, "skill")} })
		maybe("claims", func() { r.Claims = map[string][]string{"level": {"7"}} })
		maybe("content", func() { r.Content = &policy.Content{Parts: []string{"text"}} })
		maybe("expr", func() {
			r.Expr = rapid.SampledFrom([]string{
				"message.parts.size() > 1", "principal.claims.level == 7", `"g" in principal.groups`, `skill == "s"`,
			}).Draw(t, "expression")
		})
		rules = append(rules, r)
	}
	return judgeOf(t, rules)
}

// drawCall draws a call. Its agent's skills are for the card to say.
func drawCall(t *rapid.T) replayed {
	table := wire.Methods()
	m := &table[rapid.SampledFrom([]int{0, len(table) - 1, 2}).Draw(t, "method")]
	p := &authn.Principal{Subject: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "caller"), Issuer: "https://i.example", Method: "oidc"}
	if rapid.Bool().Draw(t, "member") {
		p.Groups = []string{"g"}
	}
	if rapid.Bool().Draw(t, "claim") {
		p.Claims = map[string]any{"level": 7.0}
	}
	c := replayed{Request: policy.Request{
		Principal: p, Agent: "x", Method: m, Now: time.Unix(1, 0), Binding: wire.JSONRPC, Version: wire.V10,
	}}
	if m.Subject == wire.OfMessage {
		c.Message = &wire.Message{}
		for _, kind := range rapid.SliceOfN(rapid.SampledFrom([]string{"text", "data"}), 1, 2).Draw(t, "parts") {
			c.Message.Parts = append(c.Message.Parts, wire.Part{Kind: kind})
		}
	}
	c.skills = rapid.SampledFrom([][]string{nil, {"s"}, {"s", "t"}}).Draw(t, "agent's skills")
	if c.skills != nil && rapid.Bool().Draw(t, "named") {
		c.Skill = "s"
	}
	return c
}

// decided makes a call at a gateway with these rules, and its record.
func decided(c *Judge, call *replayed) (ruling, *reader.Call) {
	q, path := call.Request, call.Skill
	record := &reader.Call{
		Agent:    q.Agent,
		Method:   q.Method.Name,
		Caller:   reader.Caller{Principal: q.Principal.Subject, Issuer: q.Principal.Issuer, AuthMethod: "oidc", Groups: q.Principal.Groups},
		Start:    q.Now,
		Binding:  "JSONRPC",
		A2A:      "1.0",
		Skill:    path,
		Decision: "deny",
		Reason:   wire.UnknownAgent.Reason,
	}
	q.Skills = call.skills
	q.Skill, q.Agentwide, _ = c.Rules.Resolve(policy.SkillSource{Path: path, All: q.Skills, Method: q.Method, Principal: q.Principal, Agent: q.Agent})
	r := ask(c.Rules, &q)
	if !c.Rules.Sees(q.Principal, q.Agent) {
		return r, record
	}
	record.Skill, record.Rule, record.Reason = q.Skill, r.rule, wire.Denied.Reason
	if r.allow {
		record.Decision, record.Reason = "allow", ""
	}
	return r, record
}

// BenchmarkReplay is one call of a log put to a hundred rules.
func BenchmarkReplay(b *testing.B) {
	var rules []policy.Rule
	for i := range 100 {
		rules = append(rules, policy.Rule{Name: fmt.Sprintf("r%d", i), Effect: "allow", Groups: []string{fmt.Sprintf("g%d", i)}})
	}
	c := judgeOf(b, rules)
	defer c.Book.Close()
	r := NewReplay(c)
	call := &reader.Call{
		Agent:    "x",
		Method:   wire.SendMessage,
		Skill:    "s",
		Caller:   reader.Caller{Principal: "a", Issuer: "https://i.example", AuthMethod: "oidc", Groups: []string{"g7"}},
		Decision: "allow",
		Rule:     "r7",
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Add(call); err != nil {
			b.Fatal(err)
		}
	}
}
