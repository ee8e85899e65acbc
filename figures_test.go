package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Budgets. The largest of each is a gate; the rest is for reading, by
// `make figures`.
const (
	longestFunction = 80
	longestFile     = 500
)

// TestFigures measures the code that is shipped.
func TestFigures(t *testing.T) {
	t.Parallel()
	set := token.NewFileSet()
	var functions, files []int
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(path) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || isTestOnly(filepath.ToSlash(filepath.Dir(path))) {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		length := set.Position(file.End()).Line
		files = append(files, length)
		if length > longestFile {
			t.Errorf("%s has %d lines, at most %d: is it still one noun?", path, length, longestFile)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
			functions = append(functions, lines)
			if lines > longestFunction {
				t.Errorf("%s: %s has %d lines, at most %d", path, f.Name.Name, lines, longestFunction)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(functions) < 100 {
		t.Fatalf("only %d functions were measured", len(functions))
	}
	t.Logf("%d functions, lines: median %d, 90 %% %d, 99 %% %d, longest %d", len(functions),
		at(functions, 50), at(functions, 90), at(functions, 99), at(functions, 100))
	t.Logf("%d files, lines: median %d, 90 %% %d, longest %d", len(files), at(files, 50), at(files, 90), at(files, 100))
}

// at is a percentile.
func at(v []int, percent int) int {
	slices.Sort(v)
	return v[min(len(v)*percent/100, len(v)-1)]
}
