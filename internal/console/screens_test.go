package console

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// screenFile is a file of the product's that declares a screen.
type screenFile struct {
	path, pkg string
	functions []string // that return a screen
	text      string
}

// screenFiles are those of this package and of the packages below it.
func screenFiles(t *testing.T) []screenFile {
	t.Helper()
	here, err := filepath.Glob("*.go")
	below, failed := filepath.Glob("*/*.go")
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	var files []screenFile
	for _, path := range append(here, below...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		f := screenFile{path: filepath.ToSlash(path), pkg: file.Name.Name, text: string(text)}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && returnsScreen(fn) {
				f.functions = append(f.functions, fn.Name.Name)
			}
		}
		if len(f.functions) > 0 && !strings.HasSuffix(path, "_test.go") {
			files = append(files, f)
		}
	}
	return files
}

func returnsScreen(fn *ast.FuncDecl) bool {
	if fn.Type.Results == nil || len(fn.Type.Results.List) != 1 {
		return false
	}
	result, ok := fn.Type.Results.List[0].Type.(*ast.SelectorExpr)
	return ok && result.Sel.Name == "Screen"
}

// TestOneFileOneRow counts what a screen touches: one file, which has its title and all of its
// operations, and one row of the table. Nothing else in the gateway knows them.
func TestOneFileOneRow(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("screens.go")
	if err != nil {
		t.Fatal(err)
	}
	files, screens := screenFiles(t), new(Console).table()
	for _, f := range files {
		if len(f.functions) != 1 {
			t.Errorf("%s declares %d screens: %v", f.path, len(f.functions), f.functions)
		}
		call := f.functions[0] + "("
		if f.pkg != "console" {
			call = f.pkg + "." + call
		}
		if rows := strings.Count(string(table), "\t\t"+call); rows != 1 {
			t.Errorf("%s has %d rows of the table", f.path, rows)
		}
	}
	if len(files) != len(screens) {
		t.Errorf("%d files declare screens, and the table has %d", len(files), len(screens))
	}
	for i := range screens {
		says := []string{fmt.Sprintf("%q", screens[i].Title)}
		for _, op := range screens[i].Operations {
			if op.Tag != "profiles" { // whose names are the runtime's
				says = append(says, fmt.Sprintf("ID: %q", op.ID))
			}
		}
		var in []string
		for _, f := range files {
			if slices.ContainsFunc(says, func(text string) bool { return strings.Contains(f.text, text) }) {
				in = append(in, f.path)
			}
		}
		if len(in) != 1 {
			t.Errorf("%s is declared in %v", screens[i].Title, in)
		}
	}
}

// TestScreensOfPages: there is a route for each page of the table.
func TestScreensOfPages(t *testing.T) {
	t.Parallel()
	var routes []string
	for _, s := range new(Console).table() {
		if s.Page != "" {
			routes = append(routes, s.Page)
		}
	}
	if got := routesOfPages(t); !slices.Equal(got, slices.Sorted(slices.Values(routes))) {
		t.Errorf("ui/src/main.tsx has routes %q, the table %q", got, routes)
	}
}

func routesOfPages(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("ui/src/main.tsx")
	if err != nil {
		t.Fatal(err)
	}
	var routes []string
	for _, m := range regexp.MustCompile(`createRoute\(\{\s*getParentRoute: \(\) => root,\s*path: '([^']+)'`).FindAllStringSubmatch(string(text), -1) {
		routes = append(routes, m[1])
	}
	slices.Sort(routes)
	return routes
}

// TestUINavigation writes the links of the navigation from the table: in its order, each with
// the least role that any operation of its page takes, and whether all of them change
// something, so that nothing is left of it where admin.readOnly is set.
func TestUINavigation(t *testing.T) {
	t.Parallel()
	const file = "ui/src/screens/links.ts"
	var b strings.Builder
	b.WriteString("// Generated from the table of screens (internal/console/screens.go):\n" +
		"// go test ./internal/console -run TestUINavigation -update\n" +
		"export const links = [\n")
	for _, s := range new(Console).table() {
		if s.Link {
			writes := !slices.ContainsFunc(s.Operations, func(op api.Operation) bool { return !op.Writes })
			fmt.Fprintf(&b, "  { to: '%s', title: '%s', role: '%s', writes: %v },\n", s.Page, s.Title, s.Role(), writes)
		}
	}
	b.WriteString("] as const;\n")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil { //nolint:gosec // it is a source
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != b.String() {
		t.Errorf("%s has other links than the table (%v): go test ./internal/console -run TestUINavigation -update, and then make ui", file, err)
	}
}

// TestScreensOfDocuments: docs/admin.md says of each page what it shows, as the table does.
func TestScreensOfDocuments(t *testing.T) {
	t.Parallel()
	const page, head = "../../docs/admin.md", "| screen | what it shows and does |\n| --- | --- |\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), head)
	rows, after, more := strings.Cut(rest, "\n\n")
	if !ok || !more {
		t.Fatalf("%s has no table of screens", page)
	}
	var want []string
	for _, s := range new(Console).table() {
		if s.Shows != "" {
			want = append(want, fmt.Sprintf("| %s | %s |", s.Title, s.Shows))
		}
		if (s.Page == "") != (s.Shows == "") && s.Title != "sign-in" { // which is shown in the place of any page
			t.Errorf("%s has a page, or says what one shows", s.Title)
		}
	}
	if *update {
		rows = strings.Join(want, "\n")
		if err := os.WriteFile(page, []byte(before+head+rows+"\n\n"+after), 0o644); err != nil { //nolint:gosec // it is a source
			t.Fatal(err)
		}
	}
	if rows != strings.Join(want, "\n") {
		t.Errorf("%s has other screens than the table: go test ./internal/console -run TestScreensOfDocuments -update", page)
	}
}
