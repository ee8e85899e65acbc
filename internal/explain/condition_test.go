package explain

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
)

// unmet are rules for no call of alice's that sends a text to agent x, by the condition that
// does not hold.
var unmet = map[string]policy.Rule{
	"agents":         {Agents: []string{"y"}},
	"methods":        {Methods: []string{wire.GetTask}},
	"issuers":        {Issuers: []string{"https://other.example"}},
	"subjects":       {Subjects: []string{"bob"}},
	"groups":         {Groups: []string{"g"}},
	"clients":        {Clients: []string{"app"}},
	"actors":         {Actors: []string{"planner"}},
	"claims":         {Claims: map[string][]string{"level": {"7"}}},
	"scopes":         {Scopes: []string{"admin"}},
	"skills":         {Skills: []string{"s"}},
	"bindings":       {Bindings: []string{"GRPC"}},
	"sources":        {Sources: []string{"10.0.0.0/8"}},
	"times":          {Times: []policy.Window{{Before: "2001-01-01"}}},
	"content":        {Content: &policy.Content{Parts: []string{"data"}}},
	"authentication": {Authentication: &policy.Authentication{ACR: []string{"gold"}}},
	"consent":        {Consent: &policy.Consent{Scope: "agreed"}},
	"expr":           {Expr: `agent == "y"`},
}

// TestExplainsConditions: of each condition that rules can have, an explanation says that it
// does not hold.
func TestExplainsConditions(t *testing.T) {
	t.Parallel()
	var keys []string
	var rules []policy.Rule
	for field := range reflect.TypeFor[policy.Rule]().Fields() {
		key := field.Tag.Get("yaml")
		if slices.Contains([]string{"name", "effect", "mode", "extensions", "approvers", "advisers", "within", "remember"}, key) { // are no conditions
			continue
		}
		r := unmet[key]
		r.Name, r.Effect = key, "allow"
		keys, rules = append(keys, key), append(rules, r)
	}
	if cases := slices.Sorted(maps.Keys(unmet)); !slices.Equal(cases, slices.Sorted(slices.Values(keys))) {
		t.Fatalf("rules have the conditions %q, and there are cases of %q", keys, cases)
	}
	jd := judgeOf(t, append(rules, policy.Rule{Name: "all", Effect: "allow"}), "x", "y")
	defer jd.Book.Close()
	jd.Panel = &pdp.Panel{}
	agent, err := jd.Find("x")
	if err != nil {
		t.Fatal(err)
	}
	q := &Inquiry{
		Agent: agent, Caller: &authn.Principal{Subject: "alice", Issuer: "https://i.example", Method: "oidc"},
	}
	if q.Method, err = jd.FindMethod(wire.SendMessage); err != nil {
		t.Fatal(err)
	}
	if _, err = (&Manner{Source: "192.0.2.1", Now: time.Unix(1_800_000_000, 0)}).Settle(q); err != nil {
		t.Fatal(err)
	}
	if err = q.Bring([]byte(`{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}`)); err != nil {
		t.Fatal(err)
	}
	q.Card = &card.Card{Skills: []card.Skill{{ID: "another"}}}
	e := jd.Judge(context.Background(), q)
	if len(e.Rules) != len(rules)+1 || e.Rule != "all" {
		t.Fatalf("rule %q decides, and %d rules are told of, want %d", e.Rule, len(e.Rules), len(rules)+1)
	}
	for _, step := range e.Rules[:len(rules)] {
		if key, _, _ := strings.Cut(step.Failed, "."); step.Matches || key != step.Rule {
			t.Errorf("rule %s: %q does not hold", step.Rule, step.Failed)
		}
	}
}
