package house_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	// inlineCode is what a document sets as code in its prose.
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
	// sourcePath is a path of the tree from its root, to a directory or a file, maybe with a
	// name that is declared there: internal/wire/error.go, proxy/cursors.Sealer.
	sourcePath = regexp.MustCompile(`^[a-z0-9]+(/[\w.-]+)+/?$`)
	// goFile is the name of a file alone, where the text has said in which directory.
	goFile = regexp.MustCompile(`^\w+\.(?:go|tsx)$`)
	// goTest is a command that runs tests of packages; the name of one is after -run or -bench.
	goTest = regexp.MustCompile("go test (\\./[\\w./-]*)([^`\n]*)")
	goName = regexp.MustCompile(`-(?:run|bench)[ =]'?\^?([A-Z]\w+)`)
	// namesTest is the name of a test, or its beginning; declaredTest is where a file has one.
	namesTest    = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
	declaredTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z]\w*)\(`)
	// makeTarget is a command, and makeRule a line of the Makefile.
	makeTarget = regexp.MustCompile(`^make ([a-z][\w-]*)`)
	makeRule   = regexp.MustCompile(`(?m)^([a-z][\w-]*):`)
)

// elsewhere are what documents name that is in no checkout, and why.
var elsewhere = map[string]string{
	"interop/python/.venv-tck":            "made by make tck",
	"interop/python/.venv-v1/bin/python":  "made by make interop",
	"interop/java/v03/target/quarkus-app": "built by make interop",
}

// TestDocumentsNameWhatExists follows the names in the prose of every document that stand for
// something in the tree: paths, files, tests, commands that run tests, and targets of make. After
// packages have moved, a page that names the old place sends its reader into the void. The
// changelog is left out: it says where things were.
func TestDocumentsNameWhatExists(t *testing.T) {
	t.Parallel()
	tree := treeNames(t)
	checked := 0
	for _, doc := range documents(t) {
		if filepath.Base(doc) == "CHANGELOG.md" {
			continue
		}
		text := prose(t, doc)
		for _, m := range inlineCode.FindAllStringSubmatch(text, -1) {
			known, missing := tree.lacks(m[1])
			if known {
				checked++
			}
			if missing != "" {
				t.Errorf("%s names `%s`: %s", doc, m[1], missing)
			}
		}
		for _, m := range goTest.FindAllStringSubmatch(text, -1) {
			checked++
			if missing := tree.lacksTests(m[1], m[2]); missing != "" {
				t.Errorf("%s says go test %s%s: %s", doc, m[1], m[2], missing)
			}
		}
	}
	if checked < 500 {
		t.Fatalf("only %d names were checked: is the test looking in the right place?", checked)
	}
}

// tree is what there is for documents to name.
type tree struct {
	files   []string            // base names
	tests   map[string][]string // names, by directory
	targets []string            // of make
}

func treeNames(t *testing.T) *tree {
	t.Helper()
	names := &tree{tests: map[string][]string{}}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(path):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		names.files = append(names.files, d.Name())
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		for _, m := range declaredTest.FindAllStringSubmatch(string(source), -1) {
			names.tests[dir] = append(names.tests[dir], m[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range makeRule.FindAllStringSubmatch(string(rules), -1) {
		names.targets = append(names.targets, m[1])
	}
	return names
}

// lacks says what is missing of a piece of code in a document, and whether it is the name of
// something in the tree at all.
func (tr *tree) lacks(code string) (known bool, missing string) {
	switch {
	case strings.Contains(code, "::"): // pytest's, of the A2A project's test kit
		return false, ""
	case makeTarget.MatchString(code):
		if target := makeTarget.FindStringSubmatch(code)[1]; !slices.Contains(tr.targets, target) {
			return true, "the Makefile has no such target"
		}
		return true, ""
	case namesTest.MatchString(code):
		if !tr.hasTest(namesTest.FindString(code)) {
			return true, "there is no such test"
		}
		return true, ""
	case goFile.MatchString(code):
		if !slices.Contains(tr.files, code) {
			return true, "there is no such file"
		}
		return true, ""
	case sourcePath.MatchString(code):
		return lacksPath(strings.TrimSuffix(code, "/"))
	}
	return false, ""
}

// lacksPath is lacks for a path; one whose first part is no directory here is none of the tree's, nor
// is what make puts into bin.
func lacksPath(path string) (known bool, missing string) {
	root, _, _ := strings.Cut(path, "/")
	if top, err := os.Stat(root); err != nil || !top.IsDir() || root == "bin" || elsewhere[path] != "" {
		return false, ""
	}
	_, err := os.Stat(path)
	dir, base := filepath.Split(path)
	if pkg, name, ok := strings.Cut(base, "."); ok && err != nil && name != "" && unicode.IsUpper(rune(name[0])) {
		_, err = os.Stat(dir + pkg) // the name of something that the package declares
	}
	if err != nil {
		return true, "there is no such file or directory"
	}
	return true, ""
}

// lacksTests says what is missing of a command that runs tests.
func (tr *tree) lacksTests(pkg, flags string) string {
	dir, below := strings.CutSuffix(filepath.ToSlash(filepath.Clean(pkg)), "...")
	dir = filepath.Clean(dir) // "" is the root
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "there is no such package"
	}
	if m := goName.FindStringSubmatch(flags); m != nil && !below && !slices.ContainsFunc(tr.tests[dir], func(name string) bool {
		return strings.Contains(name, m[1])
	}) {
		return "the package has no such test"
	}
	return ""
}

// hasTest reports whether there is a test whose name begins so, in any package.
func (tr *tree) hasTest(prefix string) bool {
	for _, names := range tr.tests {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, prefix) }) {
			return true
		}
	}
	return false
}
