package house_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/jws/jwstest"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/wiretest"
)

// TestVectors holds the tables of docs/threat-model.md to the vectors that tests run, rule by
// rule.
func TestVectors(t *testing.T) {
	t.Parallel()
	documents, err := wiretest.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	json := ruleTable{head: "| rule | refused | passes |\n| --- | --- | --- |\n"}
	for _, v := range documents {
		passes := 0
		if v.Want == "ok" {
			passes = 1
		}
		json.add(v.Rule, v.Name, 2, passes)
	}
	signatures, err := jwstest.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	jose := ruleTable{head: "| rule | vectors | tokens | proofs | cards |\n| --- | --- | --- | --- | --- |\n"}
	for _, v := range signatures {
		jose.add(v.Rule, v.Name, 1, 0)
		jose.count(v.Rule, v.Token, v.Proof, v.Card)
	}
	for name, table := range map[string]string{"json-vectors": json.String(), "jose-vectors": jose.String()} {
		inDocument(t, threatModel, name, table)
	}
}

// ruleTable is a table with a row for each rule, in their order.
type ruleTable struct {
	head   string
	rules  []string
	names  map[string][]string // by rule and column
	counts map[string][][2]int // by rule: refused, accepted
}

func (r *ruleTable) add(rule, name string, columns, column int) {
	if r.names == nil {
		r.names, r.counts = map[string][]string{}, map[string][][2]int{}
	}
	if _, known := r.names[rule]; !known {
		r.rules = append(r.rules, rule)
		r.names[rule] = make([]string, columns)
	}
	if into := &r.names[rule][column]; *into == "" {
		*into = cell(name)
	} else {
		*into += "; " + cell(name)
	}
}

// cell is text that is Markdown for itself.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, `\`, `\\`, "<", `\<`, "*", `\*`, "_", `\_`).Replace(s)
}

func (r *ruleTable) count(rule string, verdicts ...string) {
	if r.counts[rule] == nil {
		r.counts[rule] = make([][2]int, len(verdicts))
	}
	for i, v := range verdicts {
		switch v {
		case "":
		case "ok":
			r.counts[rule][i][1]++
		default:
			r.counts[rule][i][0]++
		}
	}
}

// String is the table in Markdown.
func (r *ruleTable) String() string {
	var b strings.Builder
	b.WriteString(r.head)
	for _, rule := range r.rules {
		b.WriteString("| " + rule)
		for _, names := range r.names[rule] {
			b.WriteString(" | " + names)
		}
		for _, n := range r.counts[rule] {
			switch {
			case n[0]+n[1] == 0:
				b.WriteString(" | –")
			case n[1] == 0:
				fmt.Fprintf(&b, " | %d refused", n[0])
			case n[0] == 0:
				fmt.Fprintf(&b, " | %d accepted", n[1])
			default:
				fmt.Fprintf(&b, " | %d refused, %d accepted", n[0], n[1])
			}
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// inDocument holds what stands between two marks in a document to a text.
func inDocument(t *testing.T, path, mark, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	is, after, also := strings.Cut(rest, end)
	switch {
	case !ok || !also:
		t.Errorf("%s has no place for %s", path, mark)
	case is == want:
	case !*update:
		t.Errorf("%s: %s is not as the vectors are; run go test ./internal/house -run TestVectors -update", path, mark)
	default:
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
