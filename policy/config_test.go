package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

// The keys of the file, read as strictly as the gateway reads them.
func TestConfigKeys(t *testing.T) {
	t.Parallel()
	const file = `
default: deny
rules:
  - name: team
    effect: allow
    agents: [billing]
    skills: [invoices]
    methods: [SendMessage]
    subjects: ["*@acme.com"]
    groups: [staff]
    scopes: [billing.read]
    issuers: [https://issuer]
    mode: shadow
  - {name: all, effect: deny, agents: []}
skills: {undeclared: agent}
tasks: {scope: tenant}
`
	want := Config{
		Default: "deny",
		Rules: []Rule{{
			Name: "team", Effect: "allow", Agents: []string{"billing"}, Skills: []string{"invoices"},
			Methods: []string{"SendMessage"}, Subjects: []string{"*@acme.com"}, Groups: []string{"staff"},
			Scopes: []string{"billing.read"}, Issuers: []string{"https://issuer"}, Mode: "shadow",
		}, {
			Name: "all", Effect: "deny", Agents: []string{}, // not nil: Compile has to see it
		}},
		Skills: SkillsConfig{Undeclared: "agent"},
		Tasks:  TasksConfig{Scope: "tenant"},
	}
	var got Config
	if err := yaml.Load([]byte(file), &got, yaml.WithKnownFields()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
