package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Seeds of a fuzz target, and what all that are files may weigh.
const (
	leastSeeds  = 3
	mostCorpora = 200 << 10
)

// TestFuzzSeeds: every fuzz target begins with some seeds of its own, so that its plain run
// tests something and a short one does not begin from nothing; and corpora stay small.
func TestFuzzSeeds(t *testing.T) {
	t.Parallel()
	targets := 0
	forEachFile(t, func(path string, _ *ast.File) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0) // whole
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			target, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(target.Name.Name, "Fuzz") || target.Recv != nil {
				continue
			}
			targets++
			corpus, _ := os.ReadDir(filepath.Join(filepath.Dir(path), "testdata", "fuzz", target.Name.Name))
			if n := seeds(target.Body) + len(corpus); n < leastSeeds {
				t.Errorf("%s: %s has %d seeds, want %d", path, target.Name.Name, n, leastSeeds)
			}
		}
	})
	if targets < 100 {
		t.Errorf("only %d targets: is the test looking in the right place?", targets)
	}
	size := int64(0)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(filepath.ToSlash(path), "/testdata/fuzz/") {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil || size > mostCorpora {
		t.Errorf("corpora have %d bytes, at most %d: %v", size, mostCorpora, err)
	}
}

// seeds counts the calls of Add before Fuzz. Those in a loop, or in a function that has f,
// are taken to be enough.
func seeds(body *ast.BlockStmt) (n int) {
	for _, stmt := range body.List {
		switch s := stmt.(type) {
		case *ast.RangeStmt, *ast.ForStmt:
			n += leastSeeds
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if !ok {
				continue
			}
			if on, ok := call.Fun.(*ast.SelectorExpr); ok {
				if on.Sel.Name == "Add" {
					n++
				}
				continue
			}
			for _, arg := range call.Args {
				if name, ok := arg.(*ast.Ident); ok && name.Name == "f" {
					n += leastSeeds
				}
			}
		}
	}
	return n
}
