package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit/sink"
)

// sinksNamed are the files of the product that name a kind of audit sink outside of its own package
// and of its registration in audit/sink, and why. What holds for all sinks belongs into the
// registration (section of audit/sink/kind.go): a file that is not here may ask it, and name none.
var sinksNamed = map[string]string{
	"telemetry/metrics/audit.go": "values of a label, which the registration is too high up to give, and which are compared below",
	"telemetry/otlp.go":          "the exporter of the gateway's own telemetry, as OTEL_LOGS_EXPORTER and its like name it",
	"telemetry/exporters.go":     "likewise, as OTEL_TRACES_EXPORTER does",
}

// TestSinksHaveOneRegistration adds up where sinks are named: to add one is to touch its package
// and its registration.
func TestSinksHaveOneRegistration(t *testing.T) {
	t.Parallel()
	found := make(map[string][]string)
	forEachFile(t, func(path string, _ *ast.File) {
		path = filepath.ToSlash(path)
		pkg := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") || isTestOnly(pkg) || pkg == "audit/sink" {
			return
		}
		if names := sinksIn(t, path, pkg); len(names) > 0 {
			found[path] = names
		}
	})
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if sinksNamed[path] == "" {
			t.Errorf("%s names %s: is it something for the registration in audit/sink/kind.go?", path, strings.Join(found[path], ", "))
		}
	}
	for path := range sinksNamed {
		if found[path] == nil {
			t.Errorf("%s names no sink any more", path)
		}
	}
}

// sinksIn lists the sinks that a file names: by importing their packages, by their sections of the
// configuration, or in a string that is the name of a kind and nothing else.
func sinksIn(t *testing.T, path, pkg string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	kinds := sink.Kinds()
	named := make(map[string]bool)
	for _, spec := range file.Imports {
		if name, ok := strings.CutPrefix(unquote(t, spec.Path.Value), module+"/audit/"); ok && slices.Contains(kinds, name) {
			named[name] = true
		}
	}
	own := slices.Contains(kinds, strings.TrimPrefix(pkg, "audit/"))
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.SelectorExpr:
			if _, ok := n.X.(*ast.Ident); ok && !own && slices.Contains([]string{"Postgres", "Kafka", "OTLP"}, n.Sel.Name) {
				named[n.Sel.Name] = true
			}
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && slices.Contains(kinds, s) && !own {
				named[s] = true
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(named))
}

// TestMetricsKnowTheSinks compares the label sink, as docs/metrics.md has it, with the kinds that
// are registered: telemetry cannot ask the registration, which stands above it.
func TestMetricsKnowTheSinks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "| `sink` | " + strings.Join(sink.Kinds(), ", ") + ", "
	if !strings.Contains(string(text), want) {
		t.Errorf("docs/metrics.md does not have %q", want)
	}
}
