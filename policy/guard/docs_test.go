package guard_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/detect"
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
