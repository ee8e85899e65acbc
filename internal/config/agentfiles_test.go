package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

func agentFile(ids ...string) string {
	text := "agents:\n"
	for _, id := range ids {
		text += "  - {id: " + id + ", card: \"http://127.0.0.1:9001/card\"}\n"
	}
	return text
}

const allowAll = "policy: {rules: [{name: all, effect: allow}]}\n"

func TestAgentFiles(t *testing.T) {
	t.Parallel()
	dir := ruled(t, map[string]string{
		"config.yaml": allowAll + "fleet: {files: [last.yaml, 'agents.d/*.yaml', 'none/*.yaml', agents.d/b.yaml]}\n",
		"last.yaml":   agentFile("last"), "agents.d/b.yaml": agentFile("b1", "b2"),
		"agents.d/a.yaml":       "agents: [{id: \"${ID_OF_TEST:-a}\", card: \"http://127.0.0.1:9001/card\", tls: {ca: ca.pem}}]\n",
		"agents.d/.hidden.yaml": "bad", "agents.d/c.yml": "bad",
	})
	c, err := Load(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"billing", "last", "a", "b1", "b2"}, c.AgentIDs()); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if got, want := c.Agents[2].TLS.CA, filepath.Join(dir, "agents.d/ca.pem"); got != want {
		t.Errorf("tls.ca is %s, want %s", got, want)
	}
}

// TestAgentFilesWrong: what is wrong is found in the file that it is in.
func TestAgentFilesWrong(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config string
		files  map[string]string
		want   []string
	}{
		"unknown key": {files: map[string]string{"a.yaml": "agents:\n  - {id: a, kard: x}\n"},
			want: []string{`agents.d/a.yaml:2:13: agents[0]: unknown key "kard", did you mean "card"?`}},
		"not valid": {files: map[string]string{"a.yaml": agentFile("a"), "b.yaml": "agents:\n  - id: b\n    card: nowhere\n"},
			want: []string{"agents.d/b.yaml:3:11: agents[0].card: url is not an absolute"}},
		"other key": {files: map[string]string{"a.yaml": "rules: []\n"},
			want: []string{`agents.d/a.yaml:1:1: unknown key "rules"`}},
		"no key": {files: map[string]string{"a.yaml": "{}\n"}, want: []string{"agents.d/a.yaml:1:1: want the key agents"}},
		"id in the main file": {files: map[string]string{"a.yaml": agentFile("a", "billing")},
			want: []string{`agents.d/a.yaml:3:10: agents[1].id: another agent has the same id "billing", at `, "config.yaml:4:10"}},
		"id in two files": {files: map[string]string{"a.yaml": agentFile("x", "y"), "b.yaml": agentFile("y")},
			want: []string{`agents.d/b.yaml:2:10: agents[0].id: another agent has the same id "y", at `, "agents.d/a.yaml:3:10"}},
		"id twice in a file": {files: map[string]string{"a.yaml": agentFile("a", "a")},
			want: []string{"agents.d/a.yaml:3:", `id "a" is used twice`}},
		"no such file": {config: "fleet: {files: [gone.yaml]}\n",
			want: []string{`config.yaml:6:17: fleet.files[0]: there is no file "gone.yaml"`}},
		"the main file": {config: "fleet: {files: [config.yaml]}\n", want: []string{"files with agents have one key, agents"}},
		"limit":         {config: "fleet: {limit: -1}\n", want: []string{"config.yaml:6:16: fleet.limit: want at least 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"config.yaml": allowAll + tt.config}
			if tt.config == "" {
				files["config.yaml"] += "fleet: {files: ['agents.d/*.yaml']}\n"
			}
			for name, text := range tt.files {
				files["agents.d/"+name] = text
			}
			_, err := Load(filepath.Join(ruled(t, files), "config.yaml"))
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nlacks %s", err, want)
				}
			}
		})
	}
}

// TestAgentFilesFollowed: what Load would read has another sum when a file with agents
// changes, comes or goes, and the sum is that of what was loaded.
func TestAgentFilesFollowed(t *testing.T) {
	t.Parallel()
	dir := ruled(t, map[string]string{
		"config.yaml":    "policy: {rules: [{name: all, effect: allow}], files: ['rules.d/*.yaml']}\nfleet: {files: ['agents.d/*.yaml']}\n",
		"rules.d/a.yaml": allow("one"), "agents.d/a.yaml": agentFile("a"),
	})
	path := filepath.Join(dir, "config.yaml")
	follow := NewSources(path)
	seen := map[[32]byte]string{}
	look := func(when string) {
		t.Helper()
		c, err := Load(path)
		sum, ok := follow.Sum()
		if err != nil || !ok || sum != c.Sum {
			t.Fatalf("%s: %v, sums %x and %x", when, err, sum, c.Sum)
		}
		if before, known := seen[sum]; known {
			t.Errorf("%s: the same as %s", when, before)
		}
		seen[sum] = when
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look("at first")
	write("agents.d/a.yaml", agentFile("b"))
	look("changed")
	write("agents.d/b.yaml", agentFile("c"))
	look("one more")
	write("rules.d/a.yaml", allow("two"))
	look("another rule")
	if err := os.Remove(filepath.Join(dir, "agents.d/a.yaml")); err != nil {
		t.Fatal(err)
	}
	look("one gone")
	if want := []string{dir, filepath.Join(dir, "rules.d"), filepath.Join(dir, "agents.d")}; !slices.Equal(follow.Dirs(), want) {
		t.Errorf("%v, want %v", follow.Dirs(), want)
	}
}

// TestEnlist: agents from elsewhere are held to what those in files are held to, one by one.
func TestEnlist(t *testing.T) {
	t.Parallel()
	c, err := Parse("test", []byte(`
server: {publicURL: "https://gw.example", plaintext: true, hosts: [also.example]}
authn: {anonymous: true}
fleet: {api: true, limit: 6}
policy: {rules: [{name: all, effect: allow, agents: [billing, later]}]}
agents: [{id: billing, card: "https://x.example/card", hosts: ["own.example:8443"]}]
`), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	agent := func(id string, hosts ...string) Enlisted {
		a := agents.Config{ID: id, Hosts: hosts}
		a.Card.URL = "https://y.example/card"
		return Enlisted{"somewhere", a}
	}
	none := agent("none")
	none.Agent.Card.URL = ""
	all, faults := c.Enlist([]Enlisted{
		agent("later"), agent("billing"), agent("host", "OWN.example"), agent("gateway", "gw.example"), none, agent("later"),
		agent("late"),
	})
	if diff := cmp.Diff([]string{"billing", "later"}, all.AgentIDs()); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if err := all.Validate(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"billing"}, c.AgentIDs()); diff != "" {
		t.Errorf("of before (-want +got):\n%s", diff)
	}
	for id, want := range map[string]string{
		"billing": `somewhere: id: "billing" is taken by the configuration's files`, "host": `hosts[0]: "OWN.example" is taken`,
		"gateway": `hosts[0]: "gw.example" is taken`, "none": "card: url is missing",
		"later": `"later" is taken by somewhere`, "late": "there are 6 agents beside those in files (fleet.limit)",
	} {
		if err := faults[id]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", id, err, want)
		}
	}
	if len(faults) != 6 {
		t.Errorf("%v", slices.Sorted(maps.Keys(faults)))
	}
}

// Without another source, rules name agents that are there.
func TestRulesNameAgentsThatCome(t *testing.T) {
	t.Parallel()
	const text = `
server: {publicURL: "https://gw.example", plaintext: true}
authn: {anonymous: true}
policy: {rules: [{name: all, effect: allow, agents: [later]}]}
agents: [{id: billing, card: "https://x.example/card"}]
`
	none := func(string) (string, bool) { return "", false }
	if _, err := Parse("test", []byte(text), none); err == nil || !strings.Contains(err.Error(), `agent "later" is not configured`) {
		t.Error(err)
	}
	if _, err := Parse("test", []byte(text+"fleet: {api: true}\n"), none); err != nil {
		t.Error(err)
	}
}
