package audit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// TestSchemaIsDocumented holds docs/audit.md to the members that records really
// have, by type.
func TestSchemaIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[a-z_`, ]+`) \\| (all|(?:intent|call|event|checkpoint)(?:, call)?) \\|").FindAllStringSubmatch(string(page), -1) {
		types := strings.Split(row[2], ", ")
		if row[2] == "all" {
			types = []string{typeIntent, typeCall, typeEvent, typeCheckpoint}
		}
		for member := range strings.SplitSeq(row[1], ", ") {
			for _, kind := range types {
				documented[kind] = append(documented[kind], strings.Trim(member, "`"))
			}
		}
	}
	for kind := range documented {
		slices.Sort(documented[kind])
	}
	if diff := cmp.Diff(written(t), documented); diff != "" {
		t.Errorf("members written (-) and documented (+) differ:\n%s", diff)
	}
}

// written lists the members of one record of each type with everything in it.
func written(t *testing.T) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	l, _ := signedLog(t, Config{Dir: dir}, newFakeDisk())
	e := filled()
	for _, err := range []error{l.Event("first", nil), l.Intent(e), l.Call(e), l.Event("x", map[string]string{"a": "b"}), l.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(filepath.Join(dir, "audit-2026-11-21.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(content)) {
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &members); err != nil {
			t.Fatal(err)
		}
		kind, _ := members["type"].(string)
		all[kind] = slices.Sorted(maps.Keys(members))
	}
	return all
}

// filled is a call of which everything is known.
func filled() *telemetry.Exchange {
	e := new(telemetry.Exchange)
	fields := reflect.ValueOf(e).Elem()
	for _, of := range reflect.VisibleFields(fields.Type()) {
		switch f := fields.FieldByIndex(of.Index); {
		case !f.CanSet():
		case f.Kind() == reflect.String:
			f.SetString("x")
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		case f.CanInt():
			f.SetInt(1)
		case f.Type() == reflect.TypeFor[telemetry.Digest]():
			f.Set(reflect.ValueOf(telemetry.Digest{1}))
		case f.Type() == reflect.TypeFor[time.Time]():
			f.Set(reflect.ValueOf(time.Unix(1, 0)))
		case f.Type() == reflect.TypeFor[[]string]():
			f.Set(reflect.ValueOf([]string{"x"}))
		case f.Type() == reflect.TypeFor[*telemetry.Content]():
			f.Set(reflect.ValueOf(new(telemetry.Content)))
		case f.Type() == reflect.TypeFor[[]telemetry.GuardFinding]():
			f.Set(reflect.ValueOf([]telemetry.GuardFinding{{Count: 1}}))
		case f.Type() == reflect.TypeFor[[]telemetry.Violation]():
			f.Set(reflect.ValueOf([]telemetry.Violation{{}}))
		}
	}
	return e
}

// TestMemberIsWrittenOnce holds what docs/design.md says of adding a member: it is written
// in one place, which access log and record share, and in one more where the intent has it.
func TestMemberIsWrittenOnce(t *testing.T) {
	t.Parallel()
	calls, intents := map[string]int{}, map[string]int{}
	for _, name := range []string{"record.go", "../telemetry/access.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch fn, ok := d.(*ast.FuncDecl); {
			case !ok || fn.Name.Name == "access" || fn.Name.Name == "appendContent":
			case fn.Name.Name == "appendIntent":
				countMembers(fn, intents)
			default:
				countMembers(fn, calls)
			}
		}
	}
	if len(calls) < 50 || len(intents) < 20 {
		t.Errorf("only %d members of calls and %d of intents were found", len(calls), len(intents))
	}
	for _, counts := range []map[string]int{calls, intents} {
		for member, n := range counts {
			if n != 1 {
				t.Errorf("%s is written in %d places", member, n)
			}
		}
	}
}

// countMembers counts the members that a function appends to the line l.
func countMembers(fn *ast.FuncDecl, counts map[string]int) {
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		line, isName := method.X.(*ast.Ident)
		member, isText := call.Args[0].(*ast.BasicLit)
		if isName && isText && line.Name == "l" {
			counts[member.Value]++
		}
		return true
	})
}
