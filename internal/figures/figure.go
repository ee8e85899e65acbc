package main

import (
	"cmp"
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// figure is one thing that is measured of all packages.
type figure struct {
	name  string
	value float64
	unit  string
	of    []string // what has it: the largest first
}

func (f figure) String() string {
	return strings.TrimRight(fmt.Sprintf("%-34s %8.4g%-2s %s", f.name, f.value, f.unit, strings.Join(f.of, ", ")), " ")
}

// shown is how many of those who have a figure are listed.
const shown = 5

// measure takes all figures.
func measure(packages []*pkg) []figure {
	var code, comment int
	var lengths []int
	lines := make(sizes)
	files, exported, methods, fields := make(sizes), make(sizes), make(sizes), make(sizes)
	var misnamed []string
	for _, p := range packages {
		for _, f := range p.files {
			code, comment = code+f.code, comment+f.comment
			lengths = append(lengths, f.lengths()...)
			lines[p.path+"/"+f.name+".go"] = f.line(f.syntax.End())
		}
		files[p.path] = len(p.files)
		exported[p.path] = p.exported()
		methods.of(p, p.methods())
		fields.of(p, p.fields())
		misnamed = append(misnamed, p.misnamed()...)
	}
	slices.Sort(lengths)
	return []figure{
		{name: "lines of code", value: float64(code)},
		{name: "packages", value: float64(len(packages))},
		{name: "comments", value: share(comment, code), unit: "%"},
		{name: "comments of internal/wire", value: commentsOf(packages, "internal/wire"), unit: "%"},
		files.rank("files of a package, p50", 0.5),
		files.rank("files of a package, p90", 0.9),
		files.rank("files of a package, largest", 1),
		exported.rank("exported names of a package, p50", 0.5),
		exported.rank("exported names of a package, most", 1),
		{name: "packages of more than 20 names", value: float64(exported.over(manyNames))},
		methods.rank("methods of a type, most", 1),
		fields.rank("fields of a struct, most", 1),
		{name: "lines of a function, p99", value: float64(rank(lengths, 0.99))},
		{name: "lines of a function, longest", value: float64(rank(lengths, 1))},
		lines.rank("lines of a file, p50", 0.5),
		lines.rank("lines of a file, most", 1),
		{name: "files named after another's name", value: float64(len(misnamed)), of: misnamed},
	}
}

// exported counts the names that importers of a package see, methods aside. A name that files
// of different build tags declare is one.
func (p *pkg) exported() int {
	names := make(map[string]bool)
	for _, d := range p.declarations() {
		if token.IsExported(d.name) {
			names[d.name] = true
		}
	}
	return len(names)
}

// manyNames is how many names a package exports without saying why.
const manyNames = 20

// manyReason is how a package doc begins the reason for more.
const manyReason = "exports more than twenty names"

// unexplained says what is wrong with a package that exports more than manyNames and gives no
// reason, or gives one and needs none; it is empty for others.
func (p *pkg) unexplained() string {
	n, reason := p.exported(), strings.Contains(p.doc(), manyReason)
	switch {
	case n > manyNames && !reason:
		return fmt.Sprintf("%s exports %d names, and its package doc has no reason: no %q", p.path, n, manyReason)
	case n <= manyNames && reason:
		return fmt.Sprintf("%s exports %d names, and its package doc says %q", p.path, n, manyReason)
	}
	return ""
}

// doc is a package's documentation on one line, so that a phrase is found however it is broken.
func (p *pkg) doc() string {
	var words []string
	for _, f := range p.files {
		words = append(words, strings.Fields(f.syntax.Doc.Text())...)
	}
	return strings.Join(words, " ")
}

func share(comment, code int) float64 {
	return 100 * float64(comment) / float64(max(comment+code, 1))
}

func commentsOf(packages []*pkg, path string) float64 {
	var code, comment int
	for _, p := range packages {
		if p.path == path {
			for _, f := range p.files {
				code, comment = code+f.code, comment+f.comment
			}
		}
	}
	return share(comment, code)
}

// sizes are numbers by what has them.
type sizes map[string]int

// of adds the numbers of a package's types.
func (s sizes) of(p *pkg, byName map[string]int) {
	for name, n := range byName {
		s[p.path+"."+name] = n
	}
}

func (s sizes) over(n int) int {
	count := 0
	for _, v := range s {
		if v > n {
			count++
		}
	}
	return count
}

// rank is the size below which a share of all lie; with 1 it is the largest, and the
// figure lists who has it and who comes next.
func (s sizes) rank(name string, part float64) figure {
	values := slices.Sorted(maps.Values(s))
	f := figure{name: name, value: float64(rank(values, part))}
	if part < 1 {
		return f
	}
	keys := slices.Sorted(maps.Keys(s))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(s[b], s[a]) })
	for _, key := range keys[:min(shown, len(keys))] {
		f.of = append(f.of, fmt.Sprintf("%s %d", key, s[key]))
	}
	return f
}

func rank(sorted []int, part float64) int {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(part*float64(len(sorted)-1)+0.5)]
}
