package guard_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/detect"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
	"github.com/a2a-gateway/a2a-gateway/policy/guard/service"
)

var update = flag.Bool("update", false, "write the table of docs/guards.md")

// TestKindsDocument: docs/guards.md has every kind, and what has to be right for it.
func TestKindsDocument(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/guards.md", "<!-- made by TestKindsDocument -->\n", "<!-- end -->"
	var b strings.Builder
	b.WriteString("\n| kind | use | what | what has to be right |\n| --- | --- | --- | --- |\n")
	for _, k := range detect.Kinds("") {
		check := k.Check
		if check == "" {
			check = "its form"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", k.Name, k.Group, k.What, check)
	}
	b.WriteString("\n")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	table, behind, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table", path)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+b.String()+end+behind), 0o644); err != nil { //nolint:gosec // it is a document
			t.Fatal(err)
		}
		return
	}
	if table != b.String() {
		t.Errorf("%s has another table: go test ./policy/guard -run TestKindsDocument -update", path)
	}
}

// blocks are the blocks of YAML of docs/guards.md.
var blocks = regexp.MustCompile("(?s)```yaml\n(policy:.*?)```\n")

// TestGuidesConfigurations: what docs/guards.md shows can be used as it is, and it has a line and an example
// for each use that asks a service.
func TestGuidesConfigurations(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/guards.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, block := range blocks.FindAllStringSubmatch(string(page), -1) {
		var c struct {
			Policy struct {
				Guards guard.Config `yaml:"guards"`
			} `yaml:"policy"`
		}
		if err := yaml.Load([]byte(block[1]), &c, yaml.WithKnownFields()); err != nil {
			t.Errorf("%v:\n%s", err, block[1])
			continue
		}
		s, err := guard.New(c.Policy.Guards, guard.Options{Agents: []string{"billing"}})
		if err != nil {
			t.Errorf("%v:\n%s", err, block[1])
		}
		s.Close()
		for i := range c.Policy.Guards {
			shown[c.Policy.Guards[i].Use] = true
		}
	}
	for _, u := range service.Uses() {
		row := regexp.MustCompile("(?m)^\\| `" + u.Name + "` \\| .* \\| `service` \\| (.*) \\|$").FindSubmatch(page)
		if !shown[u.Name] || row == nil || (string(row[1]) == "no") != u.Whole {
			t.Errorf("%s: shown is %t, its row says %q", u.Name, shown[u.Name], row)
		}
	}
}
