package policy

import (
	"errors"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// TestErrorPaths: an error carries the path of what is wrong, also where its text names it by the
// rule.
func TestErrorPaths(t *testing.T) {
	t.Parallel()
	_, _, err := Compile(Config{
		Default: "maybe",
		Rules: []Rule{
			{Name: "a", Effect: "allow", Agents: []string{"billing", "biling"}},
			{Name: "b", Effect: "deny", Bindings: []string{"GRPC", "REST"}, Content: &Content{Parts: []string{"image"}}},
			{Effect: "allow", Times: []Window{{From: "8:00"}}, Expr: "principal."},
			{Name: "c", Effect: "allow", Claims: map[string][]string{"org.unit": {"x", ""}}},
		},
		Tasks: TasksConfig{Sharing: []Sharing{{Name: "s", Subjects: []string{"bob"}, Methods: []string{"GetTask", "GetTsk"}}}},
	}, []string{"billing"})
	var got []string
	for _, e := range keypath.Errors(err) {
		got = append(got, e.Path().String())
	}
	want := []string{
		"default", "rules[0].agents[1]", "rules[1].bindings[1]", "rules[1].content.parts[0]", "rules[2].name", "rules[2].times[0].from",
		`rules[3].claims["org.unit"][1]`, "rules[2].expr", "tasks.sharing[0].methods[1]",
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%q, want %q of\n%v", got, want, err)
		}
	}
	var unnamed *RuleError
	if e := keypath.Errors(err)[4]; !errors.As(e, &unnamed) || unnamed.Number != 3 || e.Error() != "rule 3: name is missing" {
		t.Errorf("a rule without a name: %v", e)
	}
}
