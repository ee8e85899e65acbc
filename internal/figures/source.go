package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pkg is one package of the product, without its tests.
type pkg struct {
	path  string // below the module's root
	files []*file
}

// file is one file of a package.
type file struct {
	name          string // without .go
	syntax        *ast.File
	set           *token.FileSet
	code, comment int // lines
}

// outside are the trees that are no part of the product, by their first folder or, with a
// slash, by path.
var outside = []string{"bench", "interop", "e2e", "deploy", "docs", "bin", "internal/figures", "internal/gatewaytest", "internal/testenv"}

// isOutside reports whether a folder is none of the product's: packages that end in test,
// as net/http/httptest does, serve tests.
func isOutside(path string) bool {
	base := filepath.Base(path)
	return slices.Contains(outside, path) || path != "." && strings.HasPrefix(base, ".") ||
		base == "testdata" || base == "node_modules" || base != "test" && strings.HasSuffix(base, "test")
}

// readPackages parses the product's packages below a folder.
func readPackages(root string) ([]*pkg, error) {
	byPath := make(map[string]*pkg)
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error { //nolint:gosec // whoever runs it names the tree
		if err != nil {
			return err
		}
		path, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		if entry.IsDir() {
			if isOutside(path) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := readFile(name)
		if err != nil || ast.IsGenerated(f.syntax) {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if byPath[dir] == nil {
			byPath[dir] = &pkg{path: dir}
		}
		byPath[dir].files = append(byPath[dir].files, f)
		return nil
	})
	packages := make([]*pkg, 0, len(byPath))
	for _, p := range byPath {
		packages = append(packages, p)
	}
	slices.SortFunc(packages, func(a, b *pkg) int { return strings.Compare(a.path, b.path) })
	return packages, err
}

func readFile(name string) (*file, error) {
	text, err := os.ReadFile(name) //nolint:gosec // of the tree that is measured
	if err != nil {
		return nil, err
	}
	f := &file{name: strings.TrimSuffix(filepath.Base(name), ".go"), set: token.NewFileSet()}
	f.syntax, err = parser.ParseFile(f.set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f.code, f.comment = countLines(text)
	return f, nil
}

// countLines returns how many lines have a token on them, and how many a comment alone.
func countLines(text []byte) (code, comment int) {
	set := token.NewFileSet()
	source := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(source, text, nil, scanner.ScanComments)
	tokens, comments := make(map[int]bool), make(map[int]bool)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			break
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue // no token of the text
		}
		lines := tokens
		if kind == token.COMMENT {
			lines = comments
		}
		first := source.Line(pos)
		for i := range strings.Count(literal, "\n") + 1 {
			lines[first+i] = true
		}
	}
	for line := range comments {
		if !tokens[line] {
			comment++
		}
	}
	return len(tokens), comment
}
