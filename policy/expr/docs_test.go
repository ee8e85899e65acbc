package expr

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"github.com/google/go-cmp/cmp"
)

// section is the part of docs/policy.md under a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("no %s", heading)
	}
	rest, _, _ = strings.Cut(rest, "\n#")
	return rest
}

// TestDocumentedVariables: the table has every variable and field, with its type.
func TestDocumentedVariables(t *testing.T) {
	t.Parallel()
	var got []string
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\|.*\\|$")
	for _, m := range row.FindAllStringSubmatch(section(t, "### Variables"), -1) {
		got = append(got, m[1]+" "+m[2])
	}
	var want []string
	env := environment(t).cel
	for _, v := range variables {
		want = append(want, fields(env, v.name, v.kind, "principal.workload")...)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// fields lists a value and what is in it, but for the fields of what is like something else.
func fields(env *cel.Env, path string, kind *types.Type, like string) []string {
	name := strings.NewReplacer("expr.", "", "wire.", "", "net.", "", "google.protobuf.", "", "map(string, dyn)", "map", "origin", "source").
		Replace(kind.String())
	list := []string{path + " " + strings.ToLower(name)}
	if path == like || kind.Kind() == types.TimestampKind {
		return list
	}
	if kind.Kind() == types.ListKind {
		kind, path = kind.Parameters()[0], path+"[]"
	}
	names, _ := env.CELTypeProvider().FindStructFieldNames(kind.TypeName())
	for _, field := range names {
		if found, ok := env.CELTypeProvider().FindStructFieldType(kind.TypeName(), field); ok {
			list = append(list, fields(env, path+"."+field, found.Type, like)...)
		}
	}
	return list
}

// TestDocumentedFunctions: the table has every function that has a name, but for those
// that are refused.
func TestDocumentedFunctions(t *testing.T) {
	t.Parallel()
	env := environment(t).cel
	var got, want []string
	for line := range strings.Lines(section(t, "### Functions")) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				got = append(got, m[1])
			}
		}
	}
	for name := range env.Functions() {
		if !strings.ContainsAny(name, "_@!") && !slices.Contains(refused[:], name) {
			want = append(want, name)
		}
	}
	for _, macro := range env.Macros() {
		want = append(want, macro.Function())
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Error(diff)
	}
}

// TestDocumentedExamples: each example can be compiled, and is true of the call that the
// tests are about.
func TestDocumentedExamples(t *testing.T) {
	t.Parallel()
	_, block, _ := strings.Cut(section(t, "### Functions"), "```cel\n")
	block, _, _ = strings.Cut(block, "```")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if len(lines) < 10 {
		t.Fatalf("%d examples", len(lines))
	}
	env := environment(t)
	for _, line := range lines {
		if got, err := program(t, env, line).Evaluate(call()); !got || err != nil {
			t.Errorf("%s: %v, %v", line, got, err)
		}
		if !strings.Contains(line, "authTime") {
			continue
		}
		for name, at := range map[string]time.Time{"long ago": noon.Add(-time.Hour), "not known": {}, "yet to come": noon.Add(time.Hour)} {
			vars := call()
			who := vars.Principal()
			who.AuthTime = at
			vars.Principal = func() *Principal { return who }
			if got, err := program(t, env, line).Evaluate(vars); got || err != nil {
				t.Errorf("%s, where that is %s: %v, %v", line, name, got, err)
			}
		}
	}
}
