package policy

import (
	"os"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// The rules and match entries that docs/policy.md shows do what it says.
func TestDocumentedRules(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "## Expressions\n")
	_, block, _ = strings.Cut(block, "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	var config struct {
		Policy Config
		Agents []struct {
			ID    string
			Match []MatchRule
		}
	}
	if err := yaml.Load([]byte(block), &config); err != nil || len(config.Agents) != 1 {
		t.Fatal(err, block)
	}
	s, m := compile(t, config.Policy), matcher(t, config.Agents[0].Match...)

	night := time.Date(2026, 11, 18, 23, 0, 0, 0, time.UTC)
	order := parts(wire.Part{Kind: wire.PartData, Data: map[string]any{"amount": 5000.0}},
		wire.Part{Kind: wire.PartText, Text: "My Money back!"})
	theirs := &Task{ID: "t", Owner: "bob", Tenant: "other"}
	for _, tc := range []struct {
		now     time.Time
		message *wire.Message
		task    *Task
		rule    string
		skill   string
	}{
		{night, order, nil, "large amounts at night", "refunds"},
		{night.Add(10 * time.Hour), order, nil, "analysts", "refunds"},
		{night, parts(wire.Part{Kind: wire.PartText, Text: "hello"}), nil, "analysts", "invoices"},
		{night.Add(10 * time.Hour), order, theirs, "foreign tasks", "refunds"},
		{night, parts(wire.Part{Kind: wire.PartData, Data: "no amount"}), nil, "large amounts at night", "invoices"},
	} {
		q := Request{Principal: alice(), Agent: "billing", Method: method(t, wire.SendMessage), Now: tc.now, Message: tc.message, Task: tc.task}
		skill, _, err := s.Resolve(SkillSource{All: []string{"invoices", "refunds"}, Match: m, Call: &q})
		if err != nil || skill != tc.skill {
			t.Errorf("%+v: skill %q, %v", tc, skill, err)
		}
		q.Skill = skill
		if d, _ := s.Check(q); d.Rule != tc.rule {
			t.Errorf("%+v: decided by %q", tc, d.Rule)
		}
	}
}
