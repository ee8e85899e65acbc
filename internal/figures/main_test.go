package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// limits are what the figures may not exceed, or fall short of where a limit is negative.
// They hold what has been reached; whoever improves a figure moves its limit along.
var limits = map[string]float64{
	"comments":                          -18,
	"comments of internal/wire":         -25,
	"files of a package, p90":           20,
	"files of a package, largest":       35,
	"exported names of a package, p50":  6,
	"exported names of a package, most": 126,
	"packages of more than 20 names":    19,
	"methods of a type, most":           40,
	"fields of a struct, most":          25,
	"lines of a function, longest":      75,
	"lines of a file, most":             400,
	"files named after another's name":  0,
}

func TestFigures(t *testing.T) {
	t.Parallel()
	packages, err := readPackages("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 40 {
		t.Fatalf("only %d packages were measured", len(packages))
	}
	found := 0
	for _, f := range measure(packages) {
		t.Log(f)
		limit, ok := limits[f.name]
		if !ok {
			continue
		}
		found++
		if limit >= 0 && f.value > limit || limit < 0 && f.value < -limit {
			t.Errorf("%s: %g, and the limit is %g (%s)", f.name, f.value, max(limit, -limit), strings.Join(f.of, ", "))
		}
	}
	if found != len(limits) {
		t.Errorf("%d limits are of no figure", len(limits)-found)
	}
}

// TestManyNamesHaveReason: a package that exports more than the usual number of names says why in its
// package doc, and one that does not any more has stopped saying so.
func TestManyNamesHaveReason(t *testing.T) {
	t.Parallel()
	packages, err := readPackages("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		if wrong := p.unexplained(); wrong != "" {
			t.Error(wrong)
		}
	}
}

// TestUnexplained breaks the rule of TestManyNamesHaveReason both ways.
func TestUnexplained(t *testing.T) {
	t.Parallel()
	const reason = "// Package p is one. It exports more\n// than twenty names because tests do.\n"
	var names strings.Builder
	for i := range manyNames + 1 {
		fmt.Fprintf(&names, "const N%d = 0\n", i)
	}
	few, _ := strings.CutSuffix(names.String(), fmt.Sprintf("const N%d = 0\n", manyNames))
	for _, tt := range []struct{ name, source, want string }{
		{"few", "package p\n" + few, ""},
		{"many with a reason", reason + "package p\n" + names.String(), ""},
		{"many without", "// Package p is one.\npackage p\n" + names.String(), `p exports 21 names, and its package doc has no reason: no "exports more than twenty names"`},
		{"few with a reason", reason + "package p\n" + few, `p exports 20 names, and its package doc says "exports more than twenty names"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := token.NewFileSet()
			syntax, err := parser.ParseFile(set, "p.go", tt.source, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			p := &pkg{path: "p", files: []*file{{name: "p", syntax: syntax, set: set}}}
			if got := p.unexplained(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestReadPackages measures a package that is written for it.
func TestReadPackages(t *testing.T) {
	t.Parallel()
	packages, err := readPackages("testdata/example")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range measure(packages) {
		got = append(got, strings.Join(strings.Fields(f.String()), " "))
	}
	for _, want := range []string{
		"lines of code 14",
		"comments 22.22%",
		"exported names of a package, most 3 . 3",
		"methods of a type, most 2 ..Request 2",
		"fields of a struct, most 3 ..Request 3",
		"lines of a function, longest 4",
		"lines of a file, most 22 ./request.go 22, ./caller.go 3",
		"files named after another's name 1 ./caller.go: request.go declares caller",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
}
